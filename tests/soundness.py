"""What it means that a strategy solver is sound, for the tests that hold it to that."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.tasks.sudoku.deduce import Deduction

RULES: tuple[dict[str, bool], ...] = (
    {},
    {"narrow": True},
    {"rectangle": False},
    {"narrow": True, "rectangle": False},
)


def assert_sound(found: Deduction, solutions: NDArray[np.int8]) -> None:
    """What is written is true, and what is left of the candidates has the truth among it: so at every step before."""
    written = found.grids >= 0
    assert not found.contradiction.any()
    assert (found.grids[written] == solutions[written]).all()
    possible = (found.candidates >> solutions.astype(np.int64)) & 1
    assert (possible[~written] == 1).all()
