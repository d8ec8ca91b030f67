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
from numba import njit
from numpy.typing import NDArray

from unmask.tasks.sudoku.geometry import geometry
from unmask.tasks.sudoku.search import Grids

STRATEGIES = (
    "lone single",
    "hidden single",
    "naked pair",
    "naked triplet",
    "locked candidate",
    "XY-wing",
    "unique rectangle",
)
LONE, HIDDEN, PAIR, TRIPLET, LOCKED, WING, RECTANGLE = range(7)


@dataclass(frozen=True, eq=False)
class Deduction:
    """How far the strategies came with each of B puzzles.

    `grids` [B, cells]: values, -1 where none was found. `round` [B, cells]: the step at which the cell was written, -1
    where it was given or not reached. `rule` [B, cells]: the strategy that wrote it, an index of STRATEGIES, or -1.
    `uses` [B, 7]: steps that each strategy took. `contradiction` [B]: a cell or digit was left without a place.
    """

    grids: Grids
    round: NDArray[np.int16]
    rule: NDArray[np.int8]
    uses: NDArray[np.int16]
    contradiction: NDArray[np.bool_]

    @property
    def solved(self) -> NDArray[np.bool_]:
        """Whether every cell was written."""
        return (self.grids >= 0).all(1) & ~self.contradiction

    @property
    def hardest(self) -> NDArray[np.int8]:
        """The grade: the last strategy of the list that was used (with how many `uses`); -1 where none was."""
        used = self.uses > 0
        last = len(STRATEGIES) - 1 - used[:, ::-1].argmax(1)
        return np.where(used.any(1), last, -1).astype(np.int8)

    def order(self, number: int) -> NDArray[np.int64]:
        """The cells of one puzzle in the order in which they were written; within a round by position."""
        when = self.round[number]
        cells = np.flatnonzero(when >= 0)
        return cells[np.argsort(when[cells], kind="stable")]


@dataclass(frozen=True)
class Step:
    """One step: the strategy, what it wrote, and what it took from the candidates, as (cell, value) pairs."""

    strategy: str
    written: tuple[tuple[int, int], ...]
    removed: tuple[tuple[int, int], ...]


def deduce(puzzles: Grids, side: int, *, narrow: bool = False, rectangle: bool = True) -> Deduction:
    """Solve by the strategies alone. `rectangle=False` leaves out the unique rectangle."""
    count, cells = len(puzzles), side * side
    grids = np.array(puzzles, dtype=np.int8, order="C")
    found = Deduction(
        grids,
        np.full((count, cells), -1, dtype=np.int16),
        np.full((count, cells), -1, dtype=np.int8),
        np.zeros((count, len(STRATEGIES)), dtype=np.int16),
        np.zeros(count, dtype=np.bool_),
    )
    strategies = len(STRATEGIES) if rectangle else RECTANGLE
    tables = geometry(side)
    _deduce(
        tables.units, tables.peers, tables.coordinates, side, narrow, strategies,
        grids, found.round, found.rule, found.uses, found.contradiction,
    )  # fmt: skip
    return found


def steps(puzzle: NDArray[np.int8], side: int, *, narrow: bool = False, rectangle: bool = True) -> Iterator[Step]:
    """The steps for one puzzle, one at a time; they end where it is solved, stuck or contradicted."""
    tables = geometry(side)
    grid = np.array(puzzle, dtype=np.int8)
    candidates = np.zeros(side * side, dtype=np.int64)
    removed = np.zeros_like(candidates)
    if not _begin(grid, candidates, tables.peers, side):
        return
    strategies = len(STRATEGIES) if rectangle else RECTANGLE
    while True:
        before, had = grid.copy(), candidates.copy()
        strategy = _step(
            tables.units, tables.peers, tables.coordinates, side, narrow, strategies, grid, candidates, removed
        )
        if strategy < 0:
            return
        written = tuple((int(cell), int(grid[cell])) for cell in np.flatnonzero(grid != before))
        gone = had & ~candidates
        pairs = tuple((int(c), v) for c in np.flatnonzero(gone) if grid[c] < 0 for v in range(side) if gone[c] >> v & 1)
        yield Step(STRATEGIES[strategy], written, pairs)


# Kernels. Candidates are bit masks, a word for each cell, 0 where a value stands.


@njit(cache=True, inline="always")
@no_type_check
def _size(word):
    count = 0
    while word:
        word &= word - 1
        count += 1
    return count


@njit(cache=True, inline="always")
@no_type_check
def _value(word):
    value = 0
    while word > 1:
        word >>= 1
        value += 1
    return value


@njit(cache=True)
@no_type_check
def _begin(grid, candidates, peers, side):
    """What the clues leave; False where two of them clash."""
    candidates[:] = (1 << side) - 1
    for cell in range(len(grid)):
        if grid[cell] >= 0:
            candidates[cell] = 0
            for peer in peers[cell]:
                if grid[peer] == grid[cell]:
                    return False
                candidates[peer] &= ~(1 << np.int64(grid[cell]))
    for cell in range(len(grid)):
        if grid[cell] >= 0:
            candidates[cell] = 0
    return True


@njit(cache=True)
@no_type_check
def _singles(units, side, candidates, found, hidden):
    """Mark in `found` the values of all lone singles, or of all hidden ones."""
    some = False
    if not hidden:
        for cell in range(len(candidates)):
            word = candidates[cell]
            if word and word & (word - 1) == 0:
                found[cell] |= word
                some = True
        return some
    for unit in units:
        once, twice = np.int64(0), np.int64(0)
        for cell in unit:
            twice |= once & candidates[cell]
            once |= candidates[cell]
        single = once & ~twice
        if single:
            some = True
            for cell in unit:
                found[cell] |= candidates[cell] & single
    return some


@njit(cache=True)
@no_type_check
def _naked(units, side, candidates, removed, size, narrow):
    """Mark in `removed` what naked pairs (size 2) or triplets (3) take from the other cells of their unit."""
    members = np.empty(side, dtype=np.int64)
    for unit in units:
        count = 0
        for cell in unit:
            if candidates[cell] and _size(candidates[cell]) <= size:
                members[count] = cell
                count += 1
        for i in range(count):
            for j in range(i + 1, count):
                a, b = candidates[members[i]], candidates[members[j]]
                pair = a | b
                if _size(pair) > size:
                    continue
                if size == 2:
                    _take(unit, candidates, removed, pair, members[i], members[j], -1)
                    continue
                for k in range(j + 1, count):
                    c = candidates[members[k]]
                    if _size(pair | c) == 3 and (not narrow or a == b or b == c or a == c):
                        _take(unit, candidates, removed, pair | c, members[i], members[j], members[k])


@njit(cache=True, inline="always")
@no_type_check
def _take(unit, candidates, removed, word, a, b, c):
    for cell in unit:
        if cell != a and cell != b and cell != c:
            removed[cell] |= candidates[cell] & word


@njit(cache=True)
@no_type_check
def _locked(units, coordinates, side, candidates, removed, narrow):
    """A digit whose places in one unit all lie in another unit as well: the other's further places go."""
    for unit in units:
        for digit in range(side):
            bit = np.int64(1) << digit
            count, first = 0, -1
            row, column, box = True, True, True
            for cell in unit:
                if candidates[cell] & bit:
                    if first < 0:
                        first = cell
                    row &= coordinates[cell, 0] == coordinates[first, 0]
                    column &= coordinates[cell, 1] == coordinates[first, 1]
                    box &= coordinates[cell, 2] == coordinates[first, 2]
                    count += 1
            if count < 2 or (narrow and count != 2):
                continue
            for kind in range(3):
                if (row, column, box)[kind]:
                    for cell in units[kind * side + coordinates[first, kind]]:
                        if candidates[cell] & bit:
                            inside = False
                            for mine in unit:
                                inside |= mine == cell
                            if not inside:
                                removed[cell] |= bit


@njit(cache=True, inline="always")
@no_type_check
def _sees(coordinates, a, b):
    return (
        coordinates[a, 0] == coordinates[b, 0]
        or coordinates[a, 1] == coordinates[b, 1]
        or coordinates[a, 2] == coordinates[b, 2]
    )


@njit(cache=True)
@no_type_check
def _wings(peers, coordinates, candidates, removed):
    """A pivot xy with wings xz and yz that it sees: one of the wings is z, so what sees both is not."""
    for pivot in range(len(candidates)):
        word = candidates[pivot]
        if word == 0 or _size(word) != 2:
            continue
        for one in peers[pivot]:
            if _size(candidates[one]) != 2 or _size(candidates[one] & word) != 1:
                continue
            third = candidates[one] & ~word
            needed = (word & ~candidates[one]) | third
            for other in peers[pivot]:
                if candidates[other] == needed:
                    for cell in peers[one]:
                        if candidates[cell] & third and cell != other and _sees(coordinates, cell, other):
                            removed[cell] |= third


@njit(cache=True)
@no_type_check
def _rectangles(coordinates, side, candidates, removed):
    """Two rows, two columns, two boxes, three corners with the same two candidates: the fourth has another value.

    Otherwise the two values could be swapped, and the solution were not the only one.
    """
    for corner in range(len(candidates)):
        word = candidates[corner]
        if _size(word) != 2:
            continue
        row, column = coordinates[corner, 0], coordinates[corner, 1]
        for c in range(side):
            along = row * side + c
            if c == column or candidates[along] != word:
                continue
            for r in range(side):
                down = r * side + column
                if r == row or candidates[down] != word:
                    continue
                boxes = (coordinates[along, 2] == coordinates[corner, 2]) != (
                    coordinates[down, 2] == coordinates[corner, 2]
                )
                opposite = r * side + c
                if boxes and candidates[opposite] & word == word and candidates[opposite] != word:
                    removed[opposite] |= word


@njit(cache=True)
@no_type_check
def _step(units, peers, coordinates, side, narrow, strategies, grid, candidates, removed):
    """Take one step in place: the strategy taken, -1 if there is none, -2 for a contradiction."""
    for strategy in range(strategies):
        removed[:] = 0
        if strategy <= HIDDEN:
            if not _singles(units, side, candidates, removed, strategy == HIDDEN):
                continue
            for cell in range(len(grid)):
                word = removed[cell]
                if word:
                    if word & (word - 1):
                        return -2
                    grid[cell] = _value(word)
            for cell in range(len(grid)):
                word = removed[cell]
                if word:
                    candidates[cell] = 0
                    for peer in peers[cell]:
                        if grid[peer] == grid[cell]:
                            return -2
                        candidates[peer] &= ~word
            return strategy
        if strategy == PAIR:
            _naked(units, side, candidates, removed, 2, False)
        elif strategy == TRIPLET:
            _naked(units, side, candidates, removed, 3, narrow)
        elif strategy == LOCKED:
            _locked(units, coordinates, side, candidates, removed, narrow)
        elif strategy == WING:
            _wings(peers, coordinates, candidates, removed)
        else:
            _rectangles(coordinates, side, candidates, removed)
        changed = False
        for cell in range(len(grid)):
            if removed[cell]:
                changed = True
                candidates[cell] &= ~removed[cell]
        if changed:
            return strategy
    return -1


@njit(cache=True)
@no_type_check
def _deduce(
    units, peers, coordinates, side, narrow, strategies, grids, rounds, rules, uses, contradictions
):  # fmt: skip
    candidates = np.empty(side * side, dtype=np.int64)
    removed = np.empty(side * side, dtype=np.int64)
    before = np.empty(side * side, dtype=np.int8)
    for number in range(len(grids)):
        grid = grids[number]
        if not _begin(grid, candidates, peers, side):
            contradictions[number] = True
            continue
        step = 0
        while True:
            before[:] = grid
            strategy = _step(units, peers, coordinates, side, narrow, strategies, grid, candidates, removed)
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
                    rounds[number, cell] = step
                    rules[number, cell] = strategy
            step += 1
