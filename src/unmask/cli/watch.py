"""Decodes side by side in the terminal, cell by cell: what each shows, in its order."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.columns import Columns
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from unmask.cli.draw import Cell, grid, legend, legend_of_certainty

if TYPE_CHECKING:
    from unmask.cli.console import Output
    from unmask.decode import Decoding
    from unmask.tasks import Task

FRAME = 0.25
"""Seconds that a picture stands, at speed 1."""


@dataclass(eq=False)
class Watched:
    """One decode of one puzzle that is watched: its first row is drawn."""

    title: str
    run: Decoding
    order: list[int | None]

    @staticmethod
    def of(title: str, run: Decoding) -> Watched:
        """Nothing shown yet."""
        return Watched(title, run, [None] * run.state.tokens.shape[1])

    def step(self) -> bool:
        """Take a step; False where there is none left."""
        step = next(self.run, None)
        if step is None:
            return False
        for place in step.shown[0].nonzero().flatten().tolist():
            self.order[place] = int(step.before.step[0])
        for place in step.back[0].nonzero().flatten().tolist():
            self.order[place] = None
        return True


def watch(
    problem: Task,
    watched: Sequence[Watched],
    output: Output,
    *,
    speed: float,
    shade: Literal["step", "certainty"],
) -> None:
    """Draw until all are done; shades say when a cell was shown, or how sure the model was of it."""
    console = output.out
    console.soft_wrap = False
    with Live(_frame(problem, watched, shade), console=console, auto_refresh=False) as live:
        while sum(one.step() for one in watched):  # not any(): each takes its step
            live.update(_frame(problem, watched, shade), refresh=True)
            time.sleep(FRAME / speed)
    last = max((step for one in watched for step in one.order if step is not None), default=0)
    console.print(legend_of_certainty() if shade == "certainty" else legend(last))


def _frame(problem: Task, watched: Sequence[Watched], shade: Literal["step", "certainty"]) -> Columns:
    panels = []
    for one in watched:
        picture = Text("\n").join([_picture(problem, one, shade), Text.from_markup(_verdict(problem, one))])
        panels.append(Panel(picture, title=one.title, width=_width(problem)))
    return Columns(panels)


def _picture(problem: Task, one: Watched, shade: Literal["step", "certainty"]) -> Text:
    state = one.run.state
    signs = problem.signs(state.tokens[0].masked_fill(state.hidden[0], -1))
    given, sure = state.given[0].tolist(), state.shown_probability[0].tolist()
    last = int(state.present[0].sum() - state.given[0].sum()) - 1
    cells = []
    for place in problem.board:
        share = sure[place] if shade == "certainty" and one.order[place] is not None else None
        cells.append(Cell(signs[place], one.order[place], given[place], share))
    return grid(cells, problem.columns, last)


def _verdict(problem: Task, one: Watched) -> str:
    state = one.run.state
    if bool(state.hidden.any()):
        return f"{one.run.calls} calls  ..."
    right = bool(problem.measure(state.rows)["solved"][0])
    return f"{one.run.calls} calls  " + ("[green]solved[/green]" if right else "[red]wrong[/red]")


def _width(problem: Task) -> int:
    """Three signs a cell, what sets boxes apart, and the frame."""
    return max(24, 3 * problem.columns + 3 + 4)
