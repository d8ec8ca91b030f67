"""Solving shown: what a solver that is no model does with one puzzle, step by step, for the command line.

A task that has such solvers names them in its package: `SOLVERS = {"search": ..., "strategies": ...}`, each a function
from the text of a puzzle, and the name of its task where that was told, to a `Solving`. They raise UnmaskError where
there is nothing to solve: text that is no puzzle, no solution, or more than one (and then they show two).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNSOLVED, NOTHING_TO_DO = 255, 254
"""The grades of what deduction does not solve, and of what is whole already."""


@dataclass(frozen=True, eq=False)
class Deduced:
    """How far deduction came with each of B puzzles, one rule a step, every instance of it at once.

    `grids` [B, ...]: values, -1 where none was found. `round`, of the same shape: the step at which the cell was
    written, -1 where it was given or not reached. `rule`, likewise: the number of the rule that wrote it, or -1.
    `uses` [B, R]: steps that each rule took. `contradiction` [B]: something was left without a place. `solved` [B].
    """

    grids: NDArray[np.int8]
    round: NDArray[np.int16]
    rule: NDArray[np.int8]
    uses: NDArray[np.int16]
    contradiction: NDArray[np.bool_]
    solved: NDArray[np.bool_]

    @property
    def hardest(self) -> NDArray[np.int8]:
        """The last rule of the list that was used (with how many `uses`); -1 where none was."""
        used = self.uses > 0
        last = used.shape[1] - 1 - used[:, ::-1].argmax(1)
        return np.where(used.any(1), last, -1).astype(np.int8)

    @property
    def grade(self) -> NDArray[np.uint8]:
        """The hardest rule where the puzzle was solved, or NOTHING_TO_DO; else UNSOLVED."""
        hardest = np.where(self.hardest < 0, NOTHING_TO_DO, self.hardest.astype(np.int64))
        return np.where(self.solved, hardest, UNSOLVED).astype(np.uint8)

    @property
    def hardest_uses(self) -> NDArray[np.uint8]:
        """How often the hardest rule was used (255: as often, or more)."""
        uses = np.take_along_axis(self.uses, self.hardest.clip(0)[:, None].astype(np.int64), axis=1)[:, 0]
        return uses.clip(0, 255).astype(np.uint8)

    def order(self, number: int) -> NDArray[np.int64]:
        """The cells of one puzzle in the order in which they were written; within a round by position."""
        when = self.round[number].ravel()
        cells = np.flatnonzero(when >= 0)
        return cells[np.argsort(when[cells], kind="stable")]


@dataclass(frozen=True)
class Solving:
    """`before` and `after`: pictures of the puzzle as given and as far as the solver came. `line`: the latter on one
    line. `steps`: pairs of the rule and what it did, in order. `grade`: how hard it was, or why it stopped."""

    before: str
    after: str
    line: str
    solved: bool
    steps: tuple[tuple[str, str], ...]
    grade: str


Solver = Callable[[str, str | None], Solving]
