"""Sudoku: fill a grid so that every row, column and box has every digit once. 4x4 so far: all its 288 grids are
listed, so that beliefs can be exact."""

from unmask.tasks.sudoku.task import Sudoku

VARIANTS = {"sudoku4": lambda: Sudoku(4)}

__all__ = ["VARIANTS", "Sudoku"]
