"""Zebra puzzles: clues about people in a row of houses, and the question of who has what.

A puzzle has 3 to 6 houses and 3 to 6 attributes; clues are of seven kinds. It is read from plain English, and written.
"""

from unmask.tasks.zebra.dataset import ZebraRecipe, rows
from unmask.tasks.zebra.explain import SOLVERS
from unmask.tasks.zebra.task import Zebra

VARIANTS = {"zebra": Zebra}
RECIPE = ZebraRecipe
ROWS = rows

__all__ = ["RECIPE", "ROWS", "SOLVERS", "VARIANTS", "Zebra", "ZebraRecipe"]
