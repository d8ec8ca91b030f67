"""Sudoku data sets: minimal puzzles with their solution, the rounds in which the strategies write each cell, grades.

The paper's puzzles were sorted by whether seven strategies solve them (section 4: `easy` to train and test on, `hard`
to test whether it carries over). Here the kinds go by the full rules; the grade under the narrow ones stands beside
every row. Columns: `solution` [81] values; `given` [81]; `round` [81], -1 where given or not reached (so the solve
order, see `sequence.solve_turns`); `grade` and `narrow_grade`, an index of STRATEGIES (the hardest that was used),
UNSOLVED, or NOTHING_TO_DO; `uses`, how often that strategy was used; `number`, that of the example.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor

from unmask.data import Columns, count_labels
from unmask.errors import UnmaskError
from unmask.state import Rows
from unmask.tasks.solving import NOTHING_TO_DO, UNSOLVED
from unmask.tasks.sudoku.canonical import canonical, invariants
from unmask.tasks.sudoku.deduce import deduce
from unmask.tasks.sudoku.generate import generate
from unmask.tasks.sudoku.rules import STRATEGIES
from unmask.tasks.sudoku.sequence import solve_turns
from unmask.tasks.sudoku.task import Sudoku


@dataclass(frozen=True)
class SudokuRecipe:
    """Puzzle number i of a seed: minimal, or with a wished number of clues."""

    seed: int = 0
    side: int = 9
    clues: int | None = None

    def __post_init__(self) -> None:
        if self.side not in (4, 9):
            raise UnmaskError(f"sudoku data sets have side 4 or 9, not {self.side}: see `unmask data sudoku --help`")

    @property
    def task(self) -> str:
        return Sudoku(self.side).name

    @property
    def kinds(self) -> tuple[str, ...]:
        return ("easy", "hard")

    def make(self, begin: int, end: int) -> Columns:
        solutions, given = generate(self.side, self.seed, begin, end, clues=self.clues)
        puzzles = np.where(given, solutions, -1).astype(np.int8)
        full, narrow = deduce(puzzles, self.side), deduce(puzzles, self.side, narrow=True)
        return {
            "kind": (~full.solved).astype(np.uint8),
            "group": invariants(solutions, given, self.side),
            "solution": solutions.astype(np.uint8),
            "given": given,
            "round": full.round,
            "grade": full.grade,
            "uses": full.hardest_uses,
            "narrow_grade": narrow.grade,
        }

    def same(self, one: Columns, other: Columns) -> bool:
        first, second = (canonical(x["solution"][0].astype(np.int8), x["given"][0], self.side) for x in (one, other))
        return bool((first == second).all())

    def histograms(self, columns: Columns) -> dict[str, dict[str, int]]:
        names = dict(enumerate(STRATEGIES)) | {UNSOLVED: "not solved", NOTHING_TO_DO: "nothing to do"}
        rounds = columns["round"].max(axis=1) + 1
        return {
            "clues": count_labels(columns["given"].sum(axis=1)),
            "grade": count_labels(columns["grade"], names),
            "grade, narrow rules": count_labels(columns["narrow_grade"], names),
            "rounds": count_labels(rounds),
        }


def rows(columns: dict[str, Tensor]) -> Rows:
    """A batch of a data set as rows of the task: complete grids, with what is given marked, and the solver's turns."""
    side = int(columns["solution"].shape[1] ** 0.5)
    made = Sudoku(side).rows(columns["solution"].long(), columns["given"])
    return replace(made, turn=solve_turns(columns))
