"""`unmask evaluate`: how many puzzles a model solves, under one strategy or several."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from unmask.cli.console import Compute, Output
from unmask.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.evaluate import Evaluation
    from unmask.state import Rows
    from unmask.tasks import Task

STRATEGIES = ("margin, per_step(1), greedy", "random, per_step(1), greedy", "random, ancestral(50), sample")


def evaluate(
    model: str,
    /,
    *,
    strategy: Annotated[list[str] | None, Parameter(alias="-s", negative="")] = None,
    task: str | None = None,
    puzzles: Path | None = None,
    data: Path | None = None,
    split: str = "easy-test",
    sample: int | None = None,
    count: int | None = None,
    passes: int | None = None,
    batch: int = 256,
    compute: Compute | None = None,
    output: Output | None = None,
) -> None:
    """Count the puzzles that a model solves, with a 95 % interval, its calls and the time.

    Example: unmask evaluate sudoku --puzzles mine.txt --strategy "margin, per_step(1), greedy"

    Parameters
    ----------
    model
        A checkpoint, or the name of a model that comes with the package (sudoku), or exact.
    strategy
        A strategy as text or by name; may be given several times. Unless told: margin, random, and vanilla diffusion.
    task
        The task of the puzzles: unless told, that of the model.
    puzzles
        A file with a puzzle on each line; solutions are not needed. - is standard input.
    data
        A folder that unmask data wrote; with --split, such as easy-test or hard-test.
    split
        The split of the data set.
    sample
        Draw this many puzzles from the task instead; 200, unless anything is told.
    count
        Only the first so many puzzles.
    passes
        Passes of a net that runs its blocks several times: unless told, as its checkpoint says.
    batch
        Puzzles that are decoded at once.
    """
    compute, output = compute or Compute(), output or Output()
    if sum(source is not None for source in (puzzles, data, sample)) > 1:
        raise UnmaskError("puzzles come from one place: --puzzles, --data or --sample")
    for name, number in (("count", count), ("batch", batch)):
        if number is not None and number < 1:
            raise UnmaskError(f"--{name}: expected a number from 1, got {number}")
    from unmask.cli.models import EXACT, model_for, task_of
    from unmask.strategies import resolve
    from unmask.tasks import task as find_task

    strategies = [resolve(text) for text in strategy or STRATEGIES]
    problem = find_task(task or ("sudoku4" if model == EXACT else task_of(model)))
    device = compute.place()
    denoise = model_for(problem, model, device, passes)
    rows = _rows(problem, puzzles, data, split, sample, compute.seed)

    from unmask.evaluate import progress
    from unmask.recording import about as circumstances
    from unmask.recording import command_line

    if count is not None and count < len(rows):
        import torch

        rows = rows.select(torch.arange(count))

    rows = rows.to(device)
    found = []
    for one in strategies:
        result = _watched(progress(denoise, rows, problem, one, seed=compute.seed, batch=batch), len(rows), output)
        found.append(result)
        if output.json:
            source = str(puzzles or (f"{data.name}, {split}" if data else f"sample {len(rows)}"))
            used = getattr(denoise, "passes", None)
            told = {"model": model, "task": problem.name, "puzzles": source, "passes": used, **result.about}
            output.data({**circumstances(command_line(), seed=compute.seed, device=device), **told})
    if not output.json:
        _table(found, output)


def _rows(problem: Task, puzzles: Path | None, data: Path | None, split: str, sample: int | None, seed: int) -> Rows:
    from unmask.cli.puzzles import gather

    if data is None:
        return gather(problem, (), puzzles, None if puzzles else 200 if sample is None else sample, seed)
    import torch

    from unmask.data.dataset import Dataset
    from unmask.tasks import rows_of

    found = Dataset.open(data, split)
    if found.about["task"] != problem.name:
        raise UnmaskError(f"--data: {data} holds data of {found.about['task']}; expected {problem.name}")
    if not len(found):
        raise UnmaskError(f"--data: the split {split} of {data} is empty")
    return rows_of(problem.name)(found.batch(torch.arange(len(found))))


def _watched(results: Iterator[Evaluation], count: int, output: Output) -> Evaluation:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    side = output.side
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[told]}"))
    bars = Progress(*columns, TimeRemainingColumn(), console=side, transient=True, disable=not side.is_terminal)
    last = None
    with bars as progress:
        bar = progress.add_task("solving", total=count, told="")
        for last in results:
            share = float(last.solved.double().mean())
            progress.update(bar, completed=len(last.solved), told=f"{share:.1%}", description=last.strategy)
    assert last is not None
    return last


def _table(found: list[Evaluation], output: Output) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("strategy", overflow="fold")
    for name in ("solved", "95 % interval", "calls a puzzle", "puzzles/s"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in found:
        told = one.about
        low, high = told["interval"]
        table.add_row(
            Text(one.strategy),
            f"{told['percent']:.2f} %",
            f"{low:.2f} to {high:.2f}",
            f"{told['calls']:.1f}",
            f"{told['of'] / max(told['seconds'], 0.01):.1f}",
        )
    console = output.out
    console.soft_wrap = False
    if not output.quiet:
        console.print(f"{len(found[0].solved)} puzzles")
    console.print(table)
