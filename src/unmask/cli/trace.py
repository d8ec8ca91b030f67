"""`unmask trace show`: a trace in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import App

from unmask.cli.console import Output
from unmask.errors import UnmaskError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from unmask.tasks import Task
    from unmask.trace import Trace

trace = App(name="trace", help="Look at recorded traces.", help_format="plaintext")


@trace.command
def show(
    file: Path, /, *, row: int | None = None, most: int = 4, task: str | None = None, output: Output | None = None
) -> None:
    """Draw the order of a trace: values shaded by when they were shown, and the steps beside them.

    Parameters
    ----------
    file
        A trace, as unmask decode --out writes it.
    row
        Draw this row only (from 0).
    most
        Draw at most this many rows.
    task
        Draw rows as this task does; unless told, as the task that the trace names.
    """
    output = output or Output()
    from unmask.trace import Trace

    if most < 0:
        raise UnmaskError(f"--most: expected a number from 0, got {most}")
    loaded = Trace.load(file)
    if task is not None:
        loaded = _of_task(loaded, task)
    if row is not None and not 0 <= row < len(loaded):
        raise UnmaskError(f"--row {row}: the trace has rows 0 to {len(loaded) - 1}")
    if output.json:
        import torch

        for line in (loaded if row is None else loaded.select(torch.tensor([row]))).json_lines():
            sys.stdout.write(line + "\n")
        return
    console = output.out
    if not output.quiet:
        about = "".join(f", {name} {value}" for name, value in loaded.about.items())
        console.print(
            f"{loaded.strategy}\n{len(loaded)} row{'s' * (len(loaded) != 1)}, seed {loaded.seed}, "
            f"{loaded.denoiser_calls} denoiser calls{about}",
            markup=False,
        )
    numbers = range(len(loaded))[:most] if row is None else [row]
    for number in numbers:
        console.print()
        console.print(picture(loaded, number, console.width))
    if not output.quiet and row is None and len(loaded) > most:
        output.side.print(f"{len(loaded) - most} more rows: --most {len(loaded)} draws all, --row N one")


def picture(trace: Trace, number: int, width: int) -> RenderableType:
    """One row of a trace: its values, and the steps at which they were shown; under each other where the terminal is
    not wide enough for both."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from unmask.cli.draw import Cell, grid, legend

    known = _task(trace)
    shown = trace.tokens[number].masked_fill(trace.hidden[number], -1)
    signs = known.signs(shown) if known else ["." if v < 0 else str(v) for v in shown.tolist()]
    given, steps = trace.given[number].tolist(), trace.step[number].tolist()
    cells = [Cell(s, None if t < 0 else t, g) for s, t, g in zip(signs, steps, given, strict=True)]
    here = trace.present[number].tolist()
    # What a task's picture shows stays in its lines, with gaps where nothing is; else what is present, in a row.
    drawn = [c if there else Cell("", given=True) for c, there in zip(cells, here, strict=True)]
    cells = [drawn[at] for at in known.board] if known else [c for c, there in zip(cells, here, strict=True) if there]
    last = max([0, *steps])
    sign = max([len(str(last)), *(len(cell.sign) for cell in cells)]) + 2
    columns = known.columns if known else max(1, min(16, width // sign))
    values, when = grid(cells, columns, last), grid(cells, columns, last, steps=True)
    wide = [max((len(line) for line in text.plain.splitlines()), default=0) for text in (values, when)]
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), show_header=True, header_style="dim")
    table.add_column("value", no_wrap=True, overflow="ignore")
    if sum(wide) + 3 <= width:
        table.add_column("step", no_wrap=True, overflow="ignore")
        table.add_row(values, when)
    else:
        table.add_row(values)
        table.add_row(Text("step", "dim"))
        table.add_row(when)
    parts = [table, legend(last)]
    if max(wide) > width:
        parts.append(Text(f"the picture is {max(wide)} wide and the terminal {width}: some of it is cut off", "yellow"))
    mine = trace.events[:, 0] == number
    if bool(mine.any()):
        kinds = trace.events[mine, 3]
        parts.append(Text(f"{int((kinds == 2).sum())} taken back, {int((kinds == 1).sum())} rewritten", "dim"))
    return Group(*parts)


def _of_task(trace: Trace, name: str) -> Trace:
    """The trace as one of that task; refused if it does not fit."""
    from dataclasses import replace

    from unmask.tasks import task

    problem = task(name)
    named = replace(trace, about={**trace.about, "task": name})
    if _task(named) is None:
        raise UnmaskError(
            f"--task {name}: the trace has rows of {trace.tokens.shape[1]} positions and values up to "
            f"{int(trace.tokens.max())}; {name} has {problem.length} positions and values up to {problem.values - 1}"
        )
    return named


def _task(trace: Trace) -> Task | None:
    """The task that the trace says it is of, where that is known here and fits; without, values are plain numbers."""
    from unmask.tasks import task

    name = trace.about.get("task")
    try:
        known = task(name) if isinstance(name, str) else None
    except UnmaskError:
        return None
    if known is None or trace.tokens.shape[1] != known.length or not len(trace):
        return None
    return known if int(trace.tokens.min()) >= 0 and int(trace.tokens.max()) < known.values else None
