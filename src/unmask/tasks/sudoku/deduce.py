"""The strategy solver: a Sudoku as a person solves it, step by step, and how hard it was.

A step takes the first strategy of the list that changes anything, and applies *every* instance of it that is there at
the time, so that nothing depends on the order in which cells are looked through. Only the singles write a value: the
step at which a cell was written is its *round*, and the order of rounds is the solve order that order-aware models
are trained on. The list is that of the paper's data (section 4; Shah et al. 2024 with the dokusan package).

The rules are the full ones; `narrow` takes those of dokusan 0.1.0: a naked triplet must have two cells with equal
candidates, and a locked candidate exactly two places. (Its XY-wing, which at times removes the true value, is not
followed in that.) Every rule keeps every solution, but for the unique rectangle, which takes for granted that there
is just one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import no_type_check

import numpy as np
from numpy.typing import NDArray

from unmask.tasks.compiled import kernel
from unmask.tasks.solving import Deduced
from unmask.tasks.sudoku.geometry import geometry
from unmask.tasks.sudoku.rules import RECTANGLE, STRATEGIES, begin, step
from unmask.tasks.sudoku.search import Grids


@dataclass(frozen=True, eq=False)
class Deduction(Deduced):
    """How far the strategies came: rules are indices of STRATEGIES. `candidates` [B, cells]: what open cells may still
    be, a bit for each value; 0 where a value stands."""

    candidates: NDArray[np.int64]


@dataclass(frozen=True)
class Step:
    """One step: the strategy, what it wrote, and what it took from the candidates, as (cell, value) pairs."""

    strategy: str
    written: tuple[tuple[int, int], ...]
    removed: tuple[tuple[int, int], ...]


def deduce(puzzles: Grids, side: int, *, narrow: bool = False, rectangle: bool = True) -> Deduction:
    """Solve by the strategies alone. `rectangle=False` leaves out the unique rectangle."""
    count, cells = len(puzzles), side * side
    found = Deduction(
        grids=np.array(puzzles, dtype=np.int8, order="C"),
        round=np.full((count, cells), -1, dtype=np.int16),
        rule=np.full((count, cells), -1, dtype=np.int8),
        uses=np.zeros((count, len(STRATEGIES)), dtype=np.int16),
        contradiction=np.zeros(count, dtype=np.bool_),
        solved=np.zeros(count, dtype=np.bool_),
        candidates=np.zeros((count, cells), dtype=np.int64),
    )
    strategies = len(STRATEGIES) if rectangle else RECTANGLE
    tables = geometry(side)
    _deduce(
        tables.units, tables.peers, tables.coordinates, side, narrow, strategies,
        found.grids, found.round, found.rule, found.uses, found.contradiction, found.candidates,
    )  # fmt: skip
    found.solved[:] = (found.grids >= 0).all(1) & ~found.contradiction
    return found


def steps(puzzle: NDArray[np.int8], side: int, *, narrow: bool = False, rectangle: bool = True) -> Iterator[Step]:
    """The steps for one puzzle, one at a time; they end where it is solved, stuck or contradicted."""
    tables = geometry(side)
    grid = np.array(puzzle, dtype=np.int8)
    candidates = np.zeros(side * side, dtype=np.int64)
    removed = np.zeros_like(candidates)
    if not begin(grid, candidates, tables.peers, side):
        return
    strategies = len(STRATEGIES) if rectangle else RECTANGLE
    while True:
        before, had = grid.copy(), candidates.copy()
        strategy = step(
            tables.units, tables.peers, tables.coordinates, side, narrow, strategies, grid, candidates, removed
        )
        if strategy < 0:
            return
        written = tuple((int(cell), int(grid[cell])) for cell in np.flatnonzero(grid != before))
        gone = had & ~candidates
        pairs = tuple((int(c), v) for c in np.flatnonzero(gone) if grid[c] < 0 for v in range(side) if gone[c] >> v & 1)
        yield Step(STRATEGIES[strategy], written, pairs)


# Kernel.


@kernel
@no_type_check
def _deduce(
    units, peers, coordinates, side, narrow, strategies, grids, rounds, rules, uses, contradictions, left
):  # fmt: skip
    removed = np.empty(side * side, dtype=np.int64)
    before = np.empty(side * side, dtype=np.int8)
    for number in range(len(grids)):
        grid, candidates = grids[number], left[number]
        if not begin(grid, candidates, peers, side):
            contradictions[number] = True
            continue
        turn = 0
        while True:
            before[:] = grid
            strategy = step(units, peers, coordinates, side, narrow, strategies, grid, candidates, removed)
            for cell in range(len(grid)):
                if grid[cell] < 0 and candidates[cell] == 0:
                    strategy = -2
            if strategy == -2:
                contradictions[number] = True
            if strategy < 0:
                break
            uses[number, strategy] += 1
            for cell in range(len(grid)):
                if before[cell] < 0 and grid[cell] >= 0:
                    rounds[number, cell] = turn
                    rules[number, cell] = strategy
            turn += 1
