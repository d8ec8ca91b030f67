"""Both Sudoku solvers as a person would want to see them: which rule, what it wrote, what it ruled out."""

from __future__ import annotations

import numpy as np
import torch

from unmask.errors import UnmaskError
from unmask.tasks.solving import Solver, Solving
from unmask.tasks.sudoku.deduce import Step, deduce, steps
from unmask.tasks.sudoku.geometry import SIDES
from unmask.tasks.sudoku.rules import STRATEGIES
from unmask.tasks.sudoku.search import Grids, search
from unmask.tasks.sudoku.task import DIGITS, Sudoku

_NODES = 1_000_000
"""Steps of the search before a 16x16 puzzle is given up."""


def by_search(text: str, name: str | None = None) -> Solving:
    """Find the solution by search, and say that it is the only one."""
    task, puzzle, solution = _unique(text, name)
    return Solving(
        before=_picture(task, puzzle),
        after=_picture(task, solution),
        line=_line(task, solution),
        solved=True,
        steps=(("search", f"{int((puzzle < 0).sum())} cells filled in; there is no other solution"),),
        grade="one solution",
    )


def by_strategies(text: str, name: str | None = None) -> Solving:
    """Solve as a person does, as far as the seven strategies go."""
    task, puzzle, _ = _unique(text, name)
    found = deduce(puzzle[None], task.side)
    taken = tuple((step.strategy, _tell(step, task.side)) for step in steps(puzzle, task.side))
    solved = bool(found.solved[0])
    hardest = int(found.hardest[0])
    used = (
        f"{STRATEGIES[hardest]}, in {int(found.uses[0, hardest])} of {len(taken)} steps"
        if hardest >= 0
        else "nothing to do"
    )
    open_cells = int((found.grids[0] < 0).sum())
    stuck = f"not solved by the seven strategies: {open_cells} cells are left (--with search finds them)"
    return Solving(
        before=_picture(task, puzzle),
        after=_picture(task, found.grids[0]),
        line=_line(task, found.grids[0]),
        solved=solved,
        steps=taken,
        grade=f"solved; hardest strategy: {used}" if solved else stuck,
    )


SOLVERS: dict[str, Solver] = {"search": by_search, "strategies": by_strategies}


def _unique(text: str, name: str | None) -> tuple[Sudoku, np.ndarray, np.ndarray]:
    """The task, the puzzle and its only solution; refuses a puzzle that has none, or more than one."""
    task = _named(name) or _task_of(text)
    puzzle: Grids = np.array(task.cells(text), dtype=np.int8)
    found = search(puzzle[None], task.side, limit=2, nodes=_NODES)
    count = int(found.count[0])
    if count == 0:
        raise UnmaskError("the puzzle has no solution: no grid has these clues")
    if count < 0:
        raise UnmaskError(f"the search gave up after {_NODES} steps; give more clues")
    if count > 1:
        one, other = (_line(task, grid) for grid in found.grids[0])
        raise UnmaskError(f"the puzzle has more than one solution, among them {one} and {other}; give more clues")
    return task, puzzle, found.grids[0, 0]


def _named(name: str | None) -> Sudoku | None:
    """The task of that name; `sudoku` may be of any side."""
    return next((Sudoku(side) for side in SIDES if Sudoku(side).name == name != "sudoku"), None)


def _task_of(text: str) -> Sudoku:
    """The side that the number of cells tells; 9 where it tells none, so that the error speaks of 81."""
    cells = sum(character.isalnum() or character in "._" for character in text)
    return Sudoku({16: 4, 81: 9, 256: 16}.get(cells, 9))


def _tell(step: Step, side: int) -> str:
    if step.written:
        return " ".join(f"{_cell(cell, side)}={DIGITS[value]}" for cell, value in step.written)
    return " ".join(f"{_cell(cell, side)}≠{DIGITS[value]}" for cell, value in step.removed)


def _cell(cell: int, side: int) -> str:
    return f"r{cell // side + 1}c{cell % side + 1}"


def _picture(task: Sudoku, grid: Grids) -> str:
    return task.render(torch.from_numpy(grid.astype(np.int64)))


def _line(task: Sudoku, grid: Grids) -> str:
    return task.line(torch.from_numpy(grid.astype(np.int64)))
