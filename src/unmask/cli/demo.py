"""`unmask demo`: one model, several orders, live in the terminal.

The model knows everything: exact beliefs over all 288 grids of 4x4 Sudoku. It is asked to complete grids of which
little is known, so that many completions are right. One position at a time, any order succeeds; several at once,
they are drawn without knowing of each other, and it is the strategy that decides how much of that goes wrong.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from unmask.cli.console import Compute, Output
from unmask.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.decode import Step
    from unmask.state import State

CONTESTANTS = (
    ("vanilla, 4 steps", "random, ancestral(4), sample"),
    ("vanilla, 16 steps", "random, ancestral(16), sample"),
    ("margin, 4 a step", "margin, per_step(4), sample"),
    ("entropy bound", "entropy, entropy_bound(0.3), sample"),
    ("random, 1 a step", "random, per_step(1), sample"),
    ("margin, 1 a step", "margin, per_step(1), sample"),
)
LIVE = (0, 3, 5)
"""Which of them are drawn while they decode."""
_MOST = 1_000_000
"""Grids that fit into memory."""


def demo(
    *,
    count: int = 500,
    clues: int = 2,
    speed: float = 1.0,
    compute: Compute | None = None,
    output: Output | None = None,
) -> None:
    """Watch one model complete 4x4 Sudoku grids in several orders, and see what each gets right.

    Parameters
    ----------
    count
        Grids to complete with each strategy.
    clues
        Cells that are given, 0 to 16.
    speed
        Frames go by this many times faster.
    """
    compute, output = compute or Compute(), output or Output()
    if not 1 <= count <= _MOST or not 0 <= clues <= 16 or not speed > 0:
        raise UnmaskError(f"demo: expected --count from 1 to {_MOST}, --clues from 0 to 16, --speed above 0")
    from unmask.decode import decode
    from unmask.exact.enumeration import Enumeration
    from unmask.strategy import parse
    from unmask.tasks.sudoku import Sudoku

    problem = Sudoku(4)
    model = Enumeration(problem.support(), values=4, impossible="closest")
    start = _puzzles(count, clues, compute.seed).to(compute.place())
    if output.out.is_terminal and not (output.json or output.quiet):
        _live(model, start, speed, output)
    results = []
    for label, text in CONTESTANTS:
        began = time.perf_counter()
        run = decode(model, start, parse(text))
        calls = start.row * 0
        for step in run:
            calls[step.rows] += step.row_calls
        right = problem.measure(run.state.rows)["solved"]
        results.append(
            {
                "label": label,
                "strategy": text,
                "right": int(right.sum()),
                "of": count,
                "calls": round(float(calls.double().mean()), 2),
                "seconds": round(time.perf_counter() - began, 3),
            }
        )
    if output.json:
        for result in results:
            output.data(result)
        return
    _table(results, clues, output)


def _puzzles(count: int, clues: int, seed: int) -> State:
    """Random complete grids with a few random cells given."""
    import torch

    from unmask import noise
    from unmask.state import Rows
    from unmask.tasks.sudoku import Sudoku

    problem = Sudoku(4)
    support = problem.support()
    number = torch.arange(count)
    word = noise.key(seed, "demo", number, number * 0)
    which = (noise.at(word, number * 0 - 1) * len(support)).long()
    draws = noise.at(word[:, None].expand(count, 16), torch.arange(16).expand(count, 16))
    given = draws.argsort(1).argsort(1) < clues
    rows = Rows(support[which], given, torch.ones_like(given), problem.coordinates())
    return rows.start(seed)


def _live(model, start: State, speed: float, output: Output) -> None:
    """One grid under three strategies side by side, cell by cell; shades say when a cell was shown."""
    import torch
    from rich.columns import Columns
    from rich.live import Live
    from rich.panel import Panel
    from rich.text import Text

    from unmask.cli.draw import Cell, grid
    from unmask.decode import decode
    from unmask.strategy import parse
    from unmask.tasks.sudoku import Sudoku

    problem = Sudoku(4)
    runs = [decode(model, start.select(torch.tensor([0])), parse(CONTESTANTS[i][1])) for i in LIVE]
    orders = [torch.full((16,), -1) for _ in runs]

    def frame():
        panels = []
        for i, run, order in zip(LIVE, runs, orders, strict=True):
            state = run.state
            signs = problem.line(state.tokens[0].masked_fill(state.hidden[0], -1))
            given = state.given[0].tolist()
            cells = [Cell(s, None if t < 0 else t, g) for s, t, g in zip(signs, order.tolist(), given, strict=True)]
            done = not bool(state.hidden.any())
            right = done and bool(problem.measure(state.rows)["solved"][0])
            verdict = ("[green]right[/green]" if right else "[red]broken[/red]") if done else "..."
            picture = Text("\n").join([grid(cells, 4, 15), Text.from_markup(f"{run.calls} calls  {verdict}")])
            panels.append(Panel(picture, title=CONTESTANTS[i][0], width=24))
        return Columns(panels)

    with Live(frame(), console=output.out, auto_refresh=False) as live:
        going = True
        while going:
            going = False
            for run, order in zip(runs, orders, strict=True):
                step: Step | None = next(run, None)
                if step is not None:
                    going = True
                    order[step.shown[0].cpu()] = int(step.before.step[0])
            live.update(frame(), refresh=True)
            time.sleep(0.25 / speed)


def _table(results: list[dict], clues: int, output: Output) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("order", "strategy"):
        table.add_column(name)
    for name in ("right", "calls a grid"):
        table.add_column(name, justify="right")
    for result in results:
        share = result["right"] / result["of"]
        colour = "green" if share == 1 else "yellow" if share > 0.5 else "red"
        right = f"[{colour}]{share:.1%}[/{colour}]"
        table.add_row(result["label"], f"[dim]{escape(result['strategy'])}[/dim]", right, f"{result['calls']:.1f}")
    console = output.out
    if not output.quiet:
        given = f"{clues} cells given" if clues else "nothing given"
        console.print(
            f"\n{results[0]['of']} grids of 4x4 Sudoku, {given}; one model with exact beliefs, several orders\n"
        )
    console.print(table)
    if not output.quiet:
        console.print(
            "\nOne cell at a time, exact beliefs are right in any order. Cells drawn together do not know of each "
            "other:\nwhat goes wrong then is not the model but the order, and the entropy bound goes together only "
            "where\nthere is little left to know."
        )
