"""Sudoku: fill a grid so that every row, column and box has every digit once.

`sudoku` is the 9x9 one; `sudoku4` is small enough for all its 288 grids to be listed, so that beliefs can be exact;
`sudoku16` can be generated, checked and drawn.
"""

from unmask.tasks.sudoku.dataset import SudokuRecipe, rows
from unmask.tasks.sudoku.explain import SOLVERS
from unmask.tasks.sudoku.symmetry import augment
from unmask.tasks.sudoku.task import Sudoku

VARIANTS = {"sudoku": lambda: Sudoku(9), "sudoku4": lambda: Sudoku(4), "sudoku16": lambda: Sudoku(16)}
RECIPE = SudokuRecipe
ROWS = rows
AUGMENT = augment

__all__ = ["AUGMENT", "RECIPE", "ROWS", "SOLVERS", "VARIANTS", "Sudoku", "SudokuRecipe"]
