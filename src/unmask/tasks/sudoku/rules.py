"""The seven strategies as kernels: each marks, on a grid of candidates, what it finds; `step` takes the first that
changes anything. Candidates are bit masks, a word for each cell, 0 where a value stands.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unmask.tasks.compiled import kernel

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


@kernel(inline="always")
@no_type_check
def _size(word):
    count = 0
    while word:
        word &= word - 1
        count += 1
    return count


@kernel(inline="always")
@no_type_check
def _value(word):
    value = 0
    while word > 1:
        word >>= 1
        value += 1
    return value


@kernel
@no_type_check
def begin(grid, candidates, peers, side):
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


@kernel
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


@kernel
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
                    if _size(pair | c) == 3 and (not narrow or a in (b, c) or b == c):
                        _take(unit, candidates, removed, pair | c, members[i], members[j], members[k])


@kernel(inline="always")
@no_type_check
def _take(unit, candidates, removed, word, a, b, c):
    for cell in unit:
        if cell != a and cell != b and cell != c:
            removed[cell] |= candidates[cell] & word


@kernel
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


@kernel(inline="always")
@no_type_check
def _sees(coordinates, a, b):
    return (
        coordinates[a, 0] == coordinates[b, 0]
        or coordinates[a, 1] == coordinates[b, 1]
        or coordinates[a, 2] == coordinates[b, 2]
    )


@kernel
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


@kernel
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


@kernel
@no_type_check
def step(units, peers, coordinates, side, narrow, strategies, grid, candidates, removed):
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
