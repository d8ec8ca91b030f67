"""`unmask demo`: one model, several orders, live in the terminal.

`sudoku`: the model that comes with the package, on 9x9 puzzles that it has never seen. The same weights, one cell at a
time: in a random order they fail, where the model is surest they succeed. That is the paper's point.

`sudoku4`: a model that knows everything, exact beliefs over all 288 grids of 4x4 Sudoku, asked to complete grids of
which little is known. One position at a time, any order succeeds; of several at once, drawn without knowing of each
other, it is the strategy that decides how much goes wrong.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from unmask.cli.console import Compute, Output
from unmask.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.state import Rows
    from unmask.tasks import Task

_MOST = 1_000_000
"""Puzzles that fit into memory."""


@dataclass(frozen=True)
class Show:
    """What is shown of a task: orders with their labels, and which of them are drawn while they decode."""

    count: int
    contestants: tuple[tuple[str, str], ...]
    live: tuple[int, ...]
    speed: float
    title: str
    moral: str


SHOWS = {
    "sudoku": Show(
        40,
        (
            ("vanilla", "random, ancestral(50), sample"),
            ("random, 1 a step", "random, per_step(1), greedy"),
            ("margin, 1 a step", "margin, per_step(1), greedy"),
            ("margin, all that is sure", "margin, threshold(0.99), greedy"),
        ),
        (0, 2),
        4.0,
        "{count} minimal 9x9 Sudoku, new to the model ({weights:,} weights); the same weights, several orders",
        "The model was trained to fill in any cells. Which of them it fills in first is free: where it is surest,\n"
        "it is right; in a random order its first guesses are wrong, and all that follows rests on them.",
    ),
    "sudoku4": Show(
        500,
        (
            ("vanilla, 4 steps", "random, ancestral(4), sample"),
            ("vanilla, 16 steps", "random, ancestral(16), sample"),
            ("margin, 4 a step", "margin, per_step(4), sample"),
            ("entropy bound", "entropy, entropy_bound(0.3), sample"),
            ("random, 1 a step", "random, per_step(1), sample"),
            ("margin, 1 a step", "margin, per_step(1), sample"),
        ),
        (0, 3, 5),
        1.0,
        "{count} grids of 4x4 Sudoku, {clues}; one model with exact beliefs, several orders",
        "One cell at a time, exact beliefs are right in any order. Cells drawn together do not know of each "
        "other:\nwhat goes wrong then is not the model but the order, and the entropy bound goes together only "
        "where\nthere is little left to know.",
    ),
}


def demo(
    task: Literal["sudoku", "sudoku4"] = "sudoku",
    /,
    *,
    count: int | None = None,
    clues: int = 2,
    speed: float = 1.0,
    compute: Compute | None = None,
    output: Output | None = None,
) -> None:
    """Watch one model fill Sudoku grids in several orders, and see what each gets right.

    Parameters
    ----------
    task
        sudoku: the model that comes with the package, on 9x9 puzzles. sudoku4: exact beliefs, on 4x4 grids.
    count
        Grids to complete with each strategy: 40, or 500 small ones.
    clues
        Cells of small grids that are given, 0 to 16.
    speed
        Frames go by this many times faster.
    """
    compute, output = compute or Compute(), output or Output()
    show = SHOWS[task]
    count = show.count if count is None else count
    if not 1 <= count <= _MOST or not 0 <= clues <= 16 or not speed > 0:
        raise UnmaskError(f"demo: expected --count from 1 to {_MOST}, --clues from 0 to 16, --speed above 0")
    from unmask.cli.models import model_for
    from unmask.tasks import task as find_task

    problem = find_task(task)
    place = compute.place()
    model = model_for(problem, None, place)
    with output.side.status("making puzzles (the first time, the generator is compiled)"):
        rows = problem.sample(count, compute.seed) if task == "sudoku" else _grids(count, clues, compute.seed)
    if output.out.is_terminal and not (output.json or output.quiet):
        _live(problem, model, rows, show, speed, compute, output)
    results = []
    from unmask.evaluate import evaluate

    for label, text in show.contestants:
        began = time.perf_counter()
        with output.side.status(f"{label}: {count} grids"):
            found = evaluate(model, rows.to(place), problem, text, seed=compute.seed, batch=1000)
        results.append(
            {
                "label": label,
                "strategy": text,
                "right": int(found.solved.sum()),
                "of": count,
                "calls": round(float(found.calls.double().mean()), 2),
                "seconds": round(time.perf_counter() - began, 3),
            }
        )
        if output.json:
            output.data(results[-1])
    if not output.json:
        weights = getattr(model, "size", 0)
        given = f"{clues} cells given" if clues else "nothing given"
        _table(results, show.title.format(count=count, weights=weights, clues=given), show.moral, output)


def _grids(count: int, clues: int, seed: int) -> Rows:
    """Random complete 4x4 grids with a few random cells given."""
    import torch

    from unmask import noise
    from unmask.tasks.sudoku import Sudoku

    problem = Sudoku(4)
    support = problem.support()
    number = torch.arange(count)
    word = noise.key(seed, "demo", number, number * 0)
    which = (noise.at(word, number * 0 - 1) * len(support)).long()
    draws = noise.at(word[:, None].expand(count, 16), torch.arange(16).expand(count, 16))
    given = draws.argsort(1).argsort(1) < clues
    return problem.rows(support[which], given)


def _live(problem: Task, model, rows: Rows, show: Show, speed: float, compute: Compute, output: Output) -> None:
    """One grid under some of the strategies side by side; shades say when a cell was shown."""
    import torch

    from unmask.cli.watch import Watched, watch
    from unmask.decode import decode

    start = rows.select(torch.tensor([0])).start(compute.seed).to(compute.place())
    runs = [Watched.of(show.contestants[i][0], decode(model, start, show.contestants[i][1])) for i in show.live]
    watch(problem, runs, output, speed=speed * show.speed, shade="step")


def _table(results: list[dict], title: str, moral: str, output: Output) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("order", "strategy"):
        table.add_column(name)
    for name in ("right", "calls a grid"):
        table.add_column(name, justify="right")
    for result in results:
        share = result["right"] / result["of"]
        colour = "green" if share > 0.9 else "yellow" if share > 0.5 else "red"
        right = f"[{colour}]{share:.1%}[/{colour}]"
        table.add_row(result["label"], f"[dim]{escape(result['strategy'])}[/dim]", right, f"{result['calls']:.1f}")
    console = output.out
    if not output.quiet:
        console.print(f"\n{title}\n")
    console.print(table)
    if not output.quiet:
        console.print(f"\n{moral}")
