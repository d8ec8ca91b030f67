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
def show(file: Path, /, *, row: int | None = None, most: int = 4, output: Output | None = None) -> None:
    """Draw the order of a trace: values shaded by when they were shown, and the steps beside them.

    Parameters
    ----------
    file
        A trace, as unmask decode --out writes it.
    row
        Draw this row only (from 0).
    most
        Draw at most this many rows.
    """
    output = output or Output()
    from unmask.trace import Trace

    if most < 0:
        raise UnmaskError(f"--most: expected a number from 0, got {most}")
    loaded = Trace.load(file)
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
            f"{loaded.strategy}\n{len(loaded)} rows, seed {loaded.seed}, {loaded.denoiser_calls} denoiser calls{about}",
            markup=False,
        )
    numbers = range(len(loaded))[:most] if row is None else [row]
    for number in numbers:
        console.print()
        console.print(picture(loaded, number))
    if not output.quiet and row is None and len(loaded) > most:
        output.side.print(f"{len(loaded) - most} more rows: --most {len(loaded)} draws all, --row N one")


def picture(trace: Trace, number: int) -> RenderableType:
    """One row of a trace: its values, and the steps at which they were shown."""
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
    columns = known.columns if known else 16
    last = max([0, *steps])
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), show_header=True, header_style="dim")
    table.add_column("value", no_wrap=True, overflow="ignore")
    table.add_column("step", no_wrap=True, overflow="ignore")
    table.add_row(grid(cells, columns, last), grid(cells, columns, last, steps=True))
    parts = [table, legend(last)]
    mine = trace.events[:, 0] == number
    if bool(mine.any()):
        kinds = trace.events[mine, 3]
        parts.append(Text(f"{int((kinds == 2).sum())} taken back, {int((kinds == 1).sum())} rewritten", "dim"))
    return Group(*parts)


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
