"""The search solver: how many solutions a Sudoku has, up to a limit, and what they are.

Candidates are bit masks: a word for every digit and band of rows (27 of 27 bits for 9x9; 64 of 64 for 16x16), so that
placing a digit takes a few dozen `and`s, and cells with one candidate are found 27 at a time by adding bits without
carry. Cells with one candidate and digits with one place in a unit are filled in; then a candidate of a cell with
fewest is tried, and taken away if nothing comes of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import no_type_check

import numpy as np
from numpy.typing import NDArray

from unmask.tasks.compiled import kernel
from unmask.tasks.sudoku.geometry import geometry

Grids = NDArray[np.int8]
"""[B, cells]: values from 0, -1 where empty."""


@dataclass(frozen=True, eq=False)
class Solutions:
    """`count` [B]: how many solutions there are, no more than the limit; -1 where `nodes` did not suffice to tell.
    `grids` [B, limit, cells]: the first ones."""

    count: NDArray[np.int64]
    grids: Grids


def search(puzzles: Grids, side: int, limit: int = 2, *, nodes: int | None = None) -> Solutions:
    """Count the solutions of each puzzle up to `limit`, and find them. A limit of 2 tells whether there is just one.

    Each puzzle may take `nodes` steps, or as many as it needs: at most thousands for 9x9, without end for some 16x16.
    """
    tables = geometry(side)
    count = np.zeros(len(puzzles), dtype=np.int64)
    grids = np.full((len(puzzles), limit, side * side), -1, dtype=np.int8)
    most = np.int64((1 << 62) if nodes is None else nodes)
    _solve_all(np.ascontiguousarray(puzzles, dtype=np.int8), tables.sees, side, tables.box, limit, most, count, grids)
    return Solutions(count, grids)


# Kernels. Words are int64: with 64 bits in use the sign is one of them, and shifted words are masked.

_FIRST_BIT = np.zeros(64, dtype=np.int64)
_DE_BRUIJN = 0x03F79D71B4CB0A89
for _place in range(64):
    _FIRST_BIT[((_DE_BRUIJN << _place) & (2**64 - 1)) >> 58] = _place


@kernel(inline="always")
@no_type_check
def bit_index(bit):
    """Which bit is set, in a word with one."""
    return _FIRST_BIT[((bit * _DE_BRUIJN) >> 58) & 63]


@kernel
@no_type_check
def place(words, solved, sees, side, box, digit, cell):
    """Write a digit into a cell: no other digit there, the digit nowhere that it sees."""
    band = cell // (box * side)
    bit = np.int64(1) << (cell - band * box * side)
    for other in range(side):
        words[other * box + band] &= ~bit
    for b in range(box):
        words[digit * box + b] &= ~sees[cell, b]
    words[digit * box + band] |= bit
    solved[band] |= bit


@kernel
@no_type_check
def propagate(words, solved, sees, side, box):
    """Fill in singles until there are none. -1: contradiction, 1: all cells are filled, 0: neither."""
    size = box * side
    everything = np.int64(-1) if size == 64 else (np.int64(1) << size) - 1
    line = (np.int64(1) << side) - 1
    while True:
        changed = False
        full = True
        for band in range(box):  # cells with one candidate
            once, twice = np.int64(0), np.int64(0)
            for digit in range(side):
                word = words[digit * box + band]
                twice |= once & word
                once |= word
            if once != everything:
                return -1
            single = once & ~twice & ~solved[band]
            while single:
                bit = single & -single
                single ^= bit
                for digit in range(side):
                    if words[digit * box + band] & bit:
                        place(words, solved, sees, side, box, digit, band * size + bit_index(bit))
                        break
                else:
                    return -1
                changed = True
            if solved[band] != everything:
                full = False
        if full and not changed:
            return 1
        if changed:
            continue
        for digit in range(side):  # digits with one place in a row, box or column
            once, twice = np.int64(0), np.int64(0)
            for band in range(box):
                word = words[digit * box + band]
                done = solved[band]
                for r in range(box):
                    row = (word >> (r * side)) & line
                    twice |= once & row
                    once |= row
                    if row & (row - 1) == 0:
                        if row == 0:
                            return -1
                        if (done >> (r * side)) & row == 0:
                            place(words, solved, sees, side, box, digit, (band * box + r) * side + bit_index(row))
                            changed = True
                            word = words[digit * box + band]
                            done = solved[band]
                mask = np.int64(0)
                for r in range(box):
                    mask |= ((np.int64(1) << box) - 1) << (r * side)
                for j in range(box):
                    inside = word & (mask << (j * box))
                    if inside & (inside - 1) == 0:
                        if inside == 0:
                            return -1
                        if done & inside == 0:
                            place(words, solved, sees, side, box, digit, band * size + bit_index(inside))
                            changed = True
                            word = words[digit * box + band]
                            done = solved[band]
            if once != line:
                return -1
            single = once & ~twice
            while single:
                column = bit_index(single & -single)
                single &= single - 1
                for band in range(box):
                    word = words[digit * box + band]
                    found = np.int64(0)
                    for r in range(box):
                        found |= word & (np.int64(1) << (r * side + column))
                    if found:
                        if found & (found - 1) == 0 and found & solved[band] == 0:
                            place(words, solved, sees, side, box, digit, band * size + bit_index(found))
                            changed = True
                        break
        if not changed:
            return 0


@kernel
@no_type_check
def fewest(words, solved, side, box):
    """The first unsolved cell with the fewest candidates."""
    size = box * side
    everything = np.int64(-1) if size == 64 else (np.int64(1) << size) - 1
    for band in range(box):  # cells with two candidates are nearly always there, and found at once
        once, twice, thrice = np.int64(0), np.int64(0), np.int64(0)
        for digit in range(side):
            word = words[digit * box + band]
            thrice |= twice & word
            twice |= once & word
            once |= word
        pair = twice & ~thrice & ~solved[band]
        if pair:
            return band * size + bit_index(pair & -pair)
    best, least = -1, side + 1
    for band in range(box):
        left = everything & ~solved[band]
        while left:
            bit = left & -left
            left ^= bit
            count = 0
            for digit in range(side):
                if words[digit * box + band] & bit:
                    count += 1
            if count < least:
                best, least = band * size + bit_index(bit), count
    return best


@kernel
@no_type_check
def read_off(words, side, box, grid):
    """The digits of a full grid."""
    for cell in range(side * side):
        band = cell // (box * side)
        for digit in range(side):
            if (words[digit * box + band] >> (cell - band * box * side)) & 1:
                grid[cell] = digit


@kernel
@no_type_check
def count_from(stack, done, sees, side, box, limit, grids, nodes):
    """Solutions of the position at the bottom of the stack, up to `limit`; -1 if that takes more than `nodes`."""
    count, depth = 0, 0
    while depth >= 0:
        nodes -= 1
        if nodes < 0:
            return -1
        status = propagate(stack[depth], done[depth], sees, side, box)
        if status == 1:
            read_off(stack[depth], side, box, grids[count])
            count += 1
            if count == limit:
                return count
        if status != 0:
            depth -= 1
            continue
        cell = fewest(stack[depth], done[depth], side, box)
        band = cell // (box * side)
        bit = np.int64(1) << (cell - band * box * side)
        for digit in range(side):
            if stack[depth, digit * box + band] & bit:
                stack[depth + 1] = stack[depth]
                done[depth + 1] = done[depth]
                stack[depth, digit * box + band] &= ~bit  # when we come back, it was not this one
                place(stack[depth + 1], done[depth + 1], sees, side, box, digit, cell)
                break
        depth += 1
    return count


@kernel
@no_type_check
def begin(puzzle, words, solved, sees, side, box):
    """The candidates that the clues leave. False: two clues clash."""
    size = box * side
    everything = np.int64(-1) if size == 64 else (np.int64(1) << size) - 1
    words[:] = everything
    solved[:] = 0
    for cell in range(side * side):
        if puzzle[cell] >= 0:
            band = cell // size
            if not (words[puzzle[cell] * box + band] >> (cell - band * size)) & 1:
                return False
            place(words, solved, sees, side, box, puzzle[cell], cell)
    return True


@kernel
@no_type_check
def _solve_all(puzzles, sees, side, box, limit, nodes, count, grids):
    stack = np.empty((side * side + 1, side * box), dtype=np.int64)
    done = np.empty((side * side + 1, box), dtype=np.int64)
    for number in range(len(puzzles)):
        if begin(puzzles[number], stack[0], done[0], sees, side, box):
            count[number] = count_from(stack, done, sees, side, box, limit, grids[number], nodes)
