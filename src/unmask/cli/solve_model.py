"""`unmask solve` with a model: one puzzle live in the terminal, in one order or several; many as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmask.cli.console import Compute, Output
from unmask.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.belief import Denoiser
    from unmask.decode import Decoding
    from unmask.state import Rows
    from unmask.strategy import Strategy
    from unmask.tasks import Task

STRATEGY = "margin, per_step(1), greedy"
LIVE = 4
"""Puzzles that are watched, at most; more become lines."""
_BATCH = 256


@dataclass(frozen=True)
class Wish:
    """What was asked for: a checkpoint, an order or several, and how to show it."""

    model: str | None
    strategy: str | None
    compare: str | None
    speed: float
    plain: bool

    def strategies(self) -> list[tuple[str, Strategy]]:
        """The orders to decode in, each with its title."""
        from unmask.oracles import Oracle
        from unmask.strategies import LITERATURE, resolve
        from unmask.strategy import find, names

        if self.compare is None:
            return [(self.strategy or STRATEGY, resolve(self.strategy or STRATEGY))]
        if self.strategy is not None:
            raise UnmaskError("--strategy is one order, --compare several: give one of them")
        found = []
        for name in (part.strip() for part in self.compare.split(",")):
            is_oracle = name not in LITERATURE and name in names() and issubclass(find(name), Oracle)
            found.append((name, resolve(f"{name}, per_step(1), greedy" if is_oracle else name)))
        return found


def solve_with(task: str, named: Sequence[tuple[str, str]], wish: Wish, compute: Compute, output: Output) -> int:
    """Solve puzzles with a model; 2 where one of them could not be read."""
    if not wish.speed > 0:
        raise UnmaskError(f"--speed: expected a number above 0, got {wish.speed}")
    from unmask.cli.models import model_for
    from unmask.cli.puzzles import at
    from unmask.tasks import task as find_task

    problem = find_task(task)
    orders = wish.strategies()
    found: dict[str, Rows] = {}
    wrong = 0
    for name, text in named:
        try:
            found[name] = problem.parse(text, check=False)
        except UnmaskError as error:
            if len(named) == 1:
                raise UnmaskError(at(name, error)) from None
            wrong += 1
            output.problem(at(name, error))
    device = compute.place()
    model = model_for(problem, wish.model, device)
    watched = output.out.is_terminal and not (output.json or output.quiet or wish.plain) and len(found) <= LIVE
    if watched:
        for rows in found.values():
            _watch(problem, model, rows, orders, wish.speed, compute, output)
    elif found:
        _lines(problem, model, found, orders, wish.plain, compute, output)
    return 2 if wrong else 0


def _watch(
    problem: Task,
    model: Denoiser,
    rows: Rows,
    orders: list[tuple[str, Strategy]],
    speed: float,
    compute: Compute,
    output: Output,
) -> None:
    from unmask.cli.watch import Watched, watch
    from unmask.decode import decode

    start = rows.start(compute.seed).to(compute.place())
    runs = [Watched.of(title, decode(model, start, strategy)) for title, strategy in orders]
    watch(problem, runs, output, speed=speed, shade="certainty")
    missed = [one.title for one in runs if not _solved(problem, one.run)]
    if missed:
        output.side.print(_why_not(problem, rows, missed), markup=False)


def _lines(
    problem: Task,
    model: Denoiser,
    found: Mapping[str, Rows],
    orders: list[tuple[str, Strategy]],
    plain: bool,
    compute: Compute,
    output: Output,
) -> None:
    """An answer on each line, in the order of the puzzles."""
    from unmask.cli.puzzles import stacked
    from unmask.decode import decode

    names = list(found)
    for title, strategy in orders:
        solved = 0
        for begin in range(0, len(found), _BATCH):
            rows = stacked(list(found.values())[begin : begin + _BATCH])
            run = decode(model, rows.start(compute.seed).to(compute.place()), strategy)
            with output.side.status(f"solving, {begin:,} of {len(found):,} done"):
                final = run.finish()
            right = problem.measure(final.rows)["solved"].tolist()
            solved += sum(right)
            for number, is_right in enumerate(right):
                answer = problem.line(final.tokens[number])
                if output.json:
                    told = {"puzzle": names[begin + number], "clues": problem.line(rows.puzzle[number])}
                    output.data({**told, "answer": answer, "solved": is_right, "strategy": str(strategy)})
                else:
                    told = "" if plain else "  solved" if is_right else "  wrong"
                    output.out.print(answer + told, markup=False)
        if not output.quiet:
            output.side.print(f"{solved} of {len(found)} solved ({title})", markup=False)


def _solved(problem: Task, run: Decoding) -> bool:
    return bool(problem.measure(run.state.rows)["solved"][0])


def _why_not(problem: Task, rows: Rows, missed: Sequence[str]) -> str:
    """Whether it was the puzzle or the model."""
    try:
        problem.parse(problem.line(rows.puzzle[0]))
    except UnmaskError as error:
        return str(error)
    return f"there is a solution, and it was missed by {'; '.join(missed)}: unmask solve --with search finds it"
