"""Solving shown: what a solver that is no model does with one puzzle, step by step, for the command line.

A task that has such solvers names them in its package: `SOLVERS = {"search": ..., "strategies": ...}`, each a function
from the text of a puzzle to a `Solving`. They raise UnmaskError where there is nothing to solve: text that is no
puzzle, no solution, or more than one (and then they show two).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


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


Solver = Callable[[str], Solving]
