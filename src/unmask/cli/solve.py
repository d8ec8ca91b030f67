"""`unmask solve`: solve puzzles with a model or without one, and see how."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from unmask.cli.console import Compute, Output
from unmask.errors import UnmaskError, nearest

if TYPE_CHECKING:
    from unmask.tasks.solving import Solving


def solve(
    *puzzles: str,
    by: Annotated[str | None, Parameter(name="--with")] = None,
    strategy: Annotated[str | None, Parameter(alias="-s")] = None,
    compare: str | None = None,
    speed: float = 4.0,
    plain: Annotated[bool, Parameter(negative="")] = False,
    file: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
    task: str | None = None,
    compute: Compute | None = None,
    output: Output | None = None,
) -> int:
    """Solve Sudoku or Zebra puzzles, and show the steps.

    Example: unmask solve --with strategies "1... ..2. .3.. ...4"

    Example: unmask solve --compare random,top_probability,margin --file mine.txt

    Parameters
    ----------
    puzzles
        Sudoku: digits, with . or 0 for empty cells. Zebra: the text of a puzzle. Without any: standard input.
    by
        model (the one that comes with the package for that task, if any, and then it is what is taken unless told), a
        checkpoint of your own, strategies (step by step, as a person), or search (which makes sure that there is one
        solution only).
    strategy
        The order in which a model fills cells, as text or by name; margin, one cell at a time, unless told.
    compare
        Orders to see side by side, with commas between them: names of oracles or of strategies.
    speed
        Pictures go by this many times faster than four a second.
    plain
        Print the answers only, a line each.
    file
        A file with a Sudoku on each line, or with Zebra puzzles one after the other; - is standard input.
    task
        sudoku or zebra; unless told, what begins with "There are" is zebra.
    """
    output = output or Output()
    from unmask.cli.puzzles import at, texts
    from unmask.tasks import solvers_of
    from unmask.tasks import task as find_task

    heading = None if task is not None and task != "zebra" else find_task("zebra").begins
    named = list(texts(puzzles, file, "lines on standard input", heading, always=task == "zebra"))
    chosen = task or ("zebra" if heading and any(heading.match(text) for _, text in named) else "sudoku")
    solvers = solvers_of(chosen)
    from unmask.cli.models import MODEL, comes_with

    by = by or (MODEL if comes_with(chosen) else "strategies")
    if by not in solvers:
        from unmask.cli.solve_model import Wish, solve_with

        if by != MODEL and not ("/" in by or "." in by):
            raise UnmaskError(f"--with: there is no solver {by!r}; {nearest(by, [MODEL, *solvers])}, or a checkpoint")
        wish = Wish(None if by == MODEL else by, strategy, compare, speed, plain)
        return solve_with(chosen, named, wish, compute or Compute(), output)
    if strategy is not None or compare is not None:
        raise UnmaskError(f"--strategy and --compare are orders for a model; --with {by} has an order of its own")
    solved = wrong = 0
    for name, text in named:
        try:
            with output.side.status("solving (the first time, solvers are compiled)"):
                found = solvers[by](text, task)
        except UnmaskError as error:
            wrong += 1
            if len(named) == 1:
                raise UnmaskError(at(name, error)) from None
            output.problem(at(name, error))
            continue
        solved += found.solved
        if output.json:
            steps = [{"rule": rule, "did": did} for rule, did in found.steps]
            told = {"puzzle": name, "answer": found.line, "solved": found.solved, "grade": found.grade, "steps": steps}
            output.data(told)
        elif plain or len(named) > 8:
            output.out.print(found.line + ("" if plain else f"  {found.grade}"), markup=False)
        else:
            _show(found, output)
    if len(named) > 1 and not output.quiet:
        bad = f", {wrong} could not be read or have no single solution" if wrong else ""
        output.side.print(f"{solved} of {len(named)} solved{bad}", markup=False)
    return 2 if wrong else 0


def _show(found: Solving, output: Output) -> None:
    from rich.table import Table
    from rich.text import Text

    console = output.out
    console.soft_wrap = False
    if not output.quiet:
        console.print(Text(found.before + "\n"))
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        table.add_column("step", justify="right", style="dim")
        table.add_column("rule", no_wrap=True, style="cyan")
        table.add_column("what it did", overflow="fold")
        for number, (rule, did) in enumerate(found.steps, start=1):
            table.add_row(str(number), rule, Text(did))
        console.print(table)
        console.print()
    console.print(Text(found.after))
    if not output.quiet:
        console.print(Text(f"\n{found.grade}", "bold" if found.solved else "yellow"))
