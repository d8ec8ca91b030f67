"""`unmask data`: make data sets of puzzles, and see what is in one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from unmask.cli.console import Output
from unmask.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.data import Histograms, Recipe

data = App(name="data", help="Make data sets, and see what is in them.", help_format="plaintext")


@Parameter(name="*")
@dataclass(frozen=True)
class Making:
    """What all data sets are told."""

    count: int
    """Examples to make."""
    out: Annotated[Path, Parameter(alias="-o")]
    """The folder to write to. Run again, a command that was interrupted goes on there."""
    seed: int = 0
    """Example number i is a matter of the seed and i alone."""
    processes: int | None = None
    """Processes to make them with: one for each core, unless told. The data are the same, byte for byte."""


@data.command
def sudoku(*, making: Making, side: int = 9, clues: int | None = None, output: Output | None = None) -> None:
    """Make minimal Sudoku puzzles with their solutions, the order in which strategies solve them, and grades.

    Example: unmask data sudoku --count 1000000 --out puzzles

    Parameters
    ----------
    side
        9 for 9x9 Sudoku, 4 for the small one.
    clues
        Make puzzles with so many clues instead of minimal ones.
    """
    from unmask.tasks.sudoku import SudokuRecipe

    make(SudokuRecipe(making.seed, side, clues), making.count, making.out, output or Output(), making.processes)


@data.command
def zebra(
    *, making: Making, houses: int | None = None, attributes: int | None = None, output: Output | None = None
) -> None:
    """Make Zebra puzzles: clues that leave one way to assign attributes to houses, the order of deduction, and grades.

    Example: unmask data zebra --count 100000 --out riddles

    Parameters
    ----------
    houses
        Houses of every puzzle, 3 to 6; all numbers, unless told.
    attributes
        Attributes of every puzzle, 3 to 6; all numbers, unless told.
    """
    from unmask.tasks.zebra import ZebraRecipe

    make(ZebraRecipe(making.seed, houses, attributes), making.count, making.out, output or Output(), making.processes)


@data.command
def stats(
    directory: Path, /, *, split: str | None = None, figure: Path | None = None, output: Output | None = None
) -> None:
    """Show what is in a data set: its splits, and histograms of clues and grades.

    Parameters
    ----------
    directory
        A folder that unmask data wrote.
    split
        Count this split only, such as easy-train.
    figure
        Draw the histograms to this file as well: .png, .svg or .pdf.
    """
    output = output or Output()
    from unmask.data.dataset import manifest
    from unmask.data.histograms import draw, histograms

    about = manifest(directory)
    found = histograms(directory, split)
    title = f"{about['task']}: {_rows(about, split):,} examples" + (f" of {split}" if split else "")
    if figure is not None:
        if not found:
            raise UnmaskError(f"there is nothing to draw: {title}")
        draw(found, title, figure)
    if output.json:
        splits = {name: entry["rows"] for name, entry in about["splits"].items()}
        output.data({"task": about["task"], "recipe": about["recipe"], "splits": splits, "histograms": found})
        return
    if not output.quiet:
        _splits(about, output)
    _bars(found, output)


def make(recipe: Recipe, count: int, out: Path, output: Output, processes: int | None = None) -> None:
    """Make a data set, or go on with one, and tell of it."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from unmask.data.build import build
    from unmask.data.dataset import MANIFEST

    processes = _cores() if processes is None else processes
    there = (out / MANIFEST).is_file()
    side = output.side
    columns = (TextColumn("making"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    bars = Progress(*columns, TimeRemainingColumn(), console=side, transient=True, disable=not side.is_terminal)
    made = 0
    try:
        with bars as progress:
            bar = progress.add_task("", total=count, rate="")

            def watch(done: int) -> None:
                nonlocal made
                made = done
                speed = progress.tasks[0].speed
                progress.update(bar, completed=done, rate=f"{speed:,.0f} a second" if speed else "")

            about = build(recipe, count, out, processes=processes, watch=watch)
    except KeyboardInterrupt:
        side.print(f"{made} of {count} examples are kept in {out}; run the same command again to go on")
        raise
    if output.json:
        output.data({"task": about["task"], "out": str(out), "splits": _counts(about)})
    elif not output.quiet:
        output.out.print(f"{out} {'was there already' if there else 'is made'}", markup=False)
        _splits(about, output)


def _cores() -> int:
    """The cores that this process may use, where the system tells; else all of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _counts(about: dict[str, Any]) -> dict[str, int]:
    return {name: entry["rows"] for name, entry in about["splits"].items()}


def _rows(about: dict[str, Any], split: str | None) -> int:
    return sum(rows for name, rows in _counts(about).items() if split in (None, name))


def _splits(about: dict[str, Any], output: Output) -> None:
    from rich.table import Table

    counts = _counts(about)
    repeated = about["count"] - sum(counts.values())
    options = ", ".join(f"{name} {value}" for name, value in about["recipe"].items() if value is not None)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("split")
    table.add_column("examples", justify="right")
    for name, rows in counts.items():
        table.add_row(name, f"{rows:,}")
    console = output.out
    console.print(f"{about['task']}, {options}", markup=False)
    console.print(table)
    if repeated:
        console.print(f"{repeated:,} left out of validation and test: there already, but for symmetry")


def _binned(counts: dict[str, int]) -> dict[str, int]:
    """Many numbers, taken together so that they go on a screen."""
    if len(counts) <= _LINES or not all(label.isdigit() for label in counts):
        return counts
    numbers = {int(label): count for label, count in counts.items()}
    low, width = min(numbers), -(-(max(numbers) - min(numbers) + 1) // _LINES)
    binned: dict[str, int] = {}
    for number, count in numbers.items():
        begin = low + (number - low) // width * width
        label = f"{begin}-{begin + width - 1}"
        binned[label] = binned.get(label, 0) + count
    return binned


_LINES = 24
"""Lines of a histogram in the terminal."""


def _bars(found: Histograms, output: Output) -> None:
    from rich.bar import Bar
    from rich.table import Table

    console = output.out
    console.soft_wrap = False
    for title, single in found.items():
        counts = _binned(single)
        total, most = sum(counts.values()), max(counts.values())
        table = Table(box=None, pad_edge=False, header_style="bold", show_header=True)
        table.add_column(title, no_wrap=True)
        table.add_column("count", justify="right", no_wrap=True)
        table.add_column("share", justify="right", no_wrap=True)
        table.add_column("", width=30)
        for label, number in counts.items():
            table.add_row(label, f"{number:,}", f"{number / total:.1%}", Bar(most, 0, number, color="cyan"))
        console.print()
        console.print(table)
