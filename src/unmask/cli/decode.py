"""`unmask decode`: fill puzzles under any strategy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from unmask.cli.console import Compute, Output
from unmask.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.decode import Step
    from unmask.tasks import Task
    from unmask.trace import Trace


def decode(
    task: str,
    /,
    *puzzles: str,
    model: Annotated[str | None, Parameter(alias="-m")] = None,
    passes: int | None = None,
    strategy: Annotated[str, Parameter(alias="-s")] = "margin, per_step(1), greedy",
    file: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
    sample: int | None = None,
    out: Annotated[Path | None, Parameter(alias="-o")] = None,
    candidates: int = 0,
    compute: Compute | None = None,
    output: Output | None = None,
) -> int:
    """Fill puzzles of a task, in the order that a strategy takes.

    Example: unmask decode sudoku4 "1... ..2. .3.. ...4" --strategy "entropy, entropy_bound(0.1), sample"

    Parameters
    ----------
    task
        The task: sudoku, sudoku4 ...
    puzzles
        Puzzles, digits and . or 0 for empty cells. Without any: lines of standard input.
    model
        A checkpoint, the name of a model that comes with the package (sudoku), or exact. Unless told: exact beliefs
        where there are some (sudoku4), or the model of that task.
    passes
        Passes of a net that runs its blocks several times: unless told, as its checkpoint says.
    strategy
        A strategy as text, or the name of one (see unmask strategies); ./mine.py:Mine(k=2) is a part of your own.
    file
        A file with a puzzle on each line; - is standard input.
    sample
        Draw this many puzzles from the task instead.
    out
        Write the trace of all puzzles to this file.
    candidates
        Keep this many top values of every asked position at every step in the trace.
    """
    compute, output = compute or Compute(), output or Output()
    if candidates < 0:
        raise UnmaskError(f"--candidates: expected a number from 0, got {candidates}")
    from unmask.cli.models import model_for
    from unmask.cli.puzzles import gather
    from unmask.strategies import resolve
    from unmask.tasks import task as find_task

    problem = find_task(task)
    place = compute.place()
    denoise = model_for(problem, model, place, passes)
    chosen = resolve(strategy)
    rows = gather(problem, puzzles, file, sample, compute.seed)

    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from unmask.decode import decode as run
    from unmask.trace import record

    candidates = min(candidates, problem.values)  # there are no more to keep
    steps = run(denoise, rows.start(compute.seed).to(place), chosen)
    side = output.side
    columns = (TextColumn("decoding"), BarColumn(), TextColumn("{task.percentage:.0f} %"), TimeElapsedColumn())
    with Progress(*columns, console=side, transient=True, disable=not side.is_terminal or output.quiet) as progress:
        bar = progress.add_task("", total=max(1, int(steps.state.hidden.sum())))

        def watch(step: Step) -> None:
            progress.advance(bar, int(step.before.hidden.sum() - step.after.hidden.sum()))

        trace = record(steps, candidates, about={"task": problem.name}, watch=watch)
    if out is not None:
        trace.save(out)
    return _report(problem, trace, output)


def _report(problem: Task, trace: Trace, output: Output) -> int:
    from unmask.cli.trace import picture
    from unmask.state import Rows

    measures = problem.measure(Rows(trace.tokens, trace.given, trace.present))
    solved = measures["solved"]
    if output.json:
        for number in range(len(trace)):
            shown = trace.tokens[number].masked_fill(~trace.given[number], -1)
            output.data(
                {
                    "puzzle": problem.line(shown),
                    "answer": problem.line(trace.tokens[number]),
                    "solved": bool(solved[number]),
                    "calls": int(trace.calls[number]),
                    "step": trace.step[number].tolist(),
                }
            )
    else:
        console = output.out
        for number in range(len(trace)):
            console.print(
                problem.line(trace.tokens[number]) if len(trace) > 8 else picture(trace, number, console.width)
            )
    if not output.quiet:
        output.side.print(
            f"{int(solved.sum())} of {len(trace)} solved, {trace.calls.double().mean():.1f} denoiser calls a puzzle "
            f"({trace.denoiser_calls} for the batch), strategy: {trace.strategy}",
            markup=False,
        )
    return 0
