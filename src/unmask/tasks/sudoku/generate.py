"""Sudoku puzzles: random grids, and clues taken away in random order as long as the solution stays unique.

Puzzle number i of a seed is a matter of (seed, i) alone, whatever else is made with it or by how many processes.
A grid of side 4 is one of all 288, equally likely. Larger ones are completed by the search solver with digits in random
order; then rows, columns, digits are shuffled within what Sudoku allows, so that grids of one shape are equally likely
(but not quite those of different shapes, of which a 9x9 grid has billions).
"""

from __future__ import annotations

from functools import cache
from typing import no_type_check

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.tasks.compiled import kernel
from unmask.tasks.drawing import below, key, shuffle, start
from unmask.tasks.sudoku.geometry import geometry
from unmask.tasks.sudoku.search import Grids, begin, count_from, fewest, place, propagate, read_off, search

_TRIES = 10_000
"""Grids to try before a wished number of clues is given up."""

_NODES = 20_000
"""Steps of the search after which a 16x16 clue is kept unproven, and a grid begun anew."""


def generate(
    side: int, seed: int, begin: int, end: int, *, clues: int | None = None
) -> tuple[Grids, NDArray[np.bool_]]:
    """Solutions and clue masks of the puzzles `begin` to `end` of this seed: minimal ones, or with `clues` clues.

    Minimal: no clue can be spared. (For 16x16 a clue whose removal could not be judged in time is kept.)
    """
    if not 0 <= begin <= end:
        raise UnmaskError(f"generate: expected 0 <= begin <= end, got {begin} and {end}")
    if clues is not None and not 0 <= clues <= side * side:
        raise UnmaskError(f"generate: {side}x{side} Sudoku has 0 to {side * side} clues, not {clues}")
    tables, support = geometry(side), grids_of(side) if side == 4 else np.zeros((0, side * side), dtype=np.int8)
    grids = np.full((end - begin, side * side), -1, dtype=np.int8)
    given = np.zeros((end - begin, side * side), dtype=np.bool_)
    wanted = -1 if clues is None else clues
    failed = _generate(tables.sees, side, tables.box, key(seed), begin, wanted, _TRIES, _NODES, support, grids, given)
    if failed >= 0:
        raise UnmaskError(
            f"no {side}x{side} puzzle with {clues} clues was found in {_TRIES:,} tries (seed {seed}, number "
            f"{begin + failed}); minimal 9x9 puzzles have 20 to 28 clues as a rule: ask for more"
        )
    return grids, given


@cache
def grids_of(side: int) -> Grids:
    """Every complete grid, in lexicographic order; only for side 4, where there are 288."""
    found = search(np.full((1, side * side), -1, dtype=np.int8), side, limit=300)
    return np.unique(found.grids[0, : found.count[0]], axis=0)


# Kernels.


@kernel
@no_type_check
def _complete(state, stack, done, sees, side, box, nodes, grid):
    """Fill an empty grid, trying the candidates of a cell in random order. False: it took too long."""
    depth = 0
    stack[0] = np.int64(-1) if side * box == 64 else (np.int64(1) << (side * box)) - 1
    done[0] = 0
    while depth >= 0:
        nodes -= 1
        if nodes < 0:
            return False
        status = propagate(stack[depth], done[depth], sees, side, box)
        if status == 1:
            read_off(stack[depth], side, box, grid)
            return True
        if status == -1:
            depth -= 1
            continue
        cell = fewest(stack[depth], done[depth], side, box)
        band = cell // (box * side)
        bit = np.int64(1) << (cell - band * box * side)
        count = 0
        for digit in range(side):
            count += (stack[depth, digit * box + band] & bit) != 0
        pick = below(state, count)
        for digit in range(side):
            if stack[depth, digit * box + band] & bit:
                if pick == 0:
                    stack[depth + 1] = stack[depth]
                    done[depth + 1] = done[depth]
                    stack[depth, digit * box + band] &= ~bit
                    place(stack[depth + 1], done[depth + 1], sees, side, box, digit, cell)
                    break
                pick -= 1
        depth += 1
    return False


@kernel
@no_type_check
def _scramble(state, side, box, grid, scratch):
    """A random symmetry: digits relabelled, lines permuted within bands and bands among each other, transposed."""
    digits = np.arange(side)
    shuffle(state, digits)
    lines = np.empty((2, side), dtype=np.int64)
    for way in range(2):
        bands, inner = np.arange(box), np.arange(box)
        shuffle(state, bands)
        for band in range(box):
            shuffle(state, inner)
            for place_ in range(box):
                lines[way, band * box + place_] = bands[band] * box + inner[place_]
    turned = below(state, 2)
    scratch[:] = grid
    for row in range(side):
        for column in range(side):
            r, c = lines[0, row], lines[1, column]
            grid[row * side + column] = digits[scratch[c * side + r if turned else r * side + c]]


@kernel
@no_type_check
def _spared(puzzle, cell, digit, stack, done, sees, side, box, nodes, found):
    """Whether the clues of `puzzle` leave nothing but `digit` for `cell`: then the clue there can be spared."""
    begin(puzzle, stack[0], done[0], sees, side, box)
    band = cell // (box * side)
    stack[0, digit * box + band] &= ~(np.int64(1) << (cell - band * box * side))
    return count_from(stack, done, sees, side, box, 1, found, nodes) == 0


@kernel
@no_type_check
def _generate(sees, side, box, key, first, wanted, tries, nodes, support, grids, given):
    cells = side * side
    stack = np.empty((cells + 1, side * box), dtype=np.int64)
    done = np.empty((cells + 1, box), dtype=np.int64)
    found = np.empty((1, cells), dtype=np.int8)
    puzzle, scratch = np.empty(cells, dtype=np.int8), np.empty(cells, dtype=np.int8)
    rows, columns, boxes = np.empty(side, np.int64), np.empty(side, np.int64), np.empty(side, np.int64)
    limit = np.int64(1) << 62 if side < 16 else np.int64(nodes)
    for number in range(len(grids)):
        state = start(key, first + number)
        for _attempt in range(tries):
            grid = grids[number]
            if len(support):
                grid[:] = support[below(state, len(support))]
            else:
                while not _complete(state, stack, done, sees, side, box, np.int64(nodes), grid):
                    pass
                _scramble(state, side, box, grid, scratch)
            puzzle[:] = grid
            rows[:], columns[:], boxes[:] = (1 << side) - 1, (1 << side) - 1, (1 << side) - 1  # digits among the clues
            left = cells
            order = np.arange(cells)
            shuffle(state, order)
            for cell in order:
                if left == wanted:
                    break
                row, column = cell // side, cell % side
                inside = row // box * box + column // box
                digit = np.int64(grid[cell])
                bit = np.int64(1) << digit
                # The cheap case: with its own clue away, every other digit still stands in a unit of the cell.
                rows[row] ^= bit
                columns[column] ^= bit
                boxes[inside] ^= bit
                puzzle[cell] = -1
                sure = rows[row] | columns[column] | boxes[inside] | bit == (1 << side) - 1
                if sure or _spared(puzzle, cell, digit, stack, done, sees, side, box, limit, found):
                    left -= 1
                else:
                    puzzle[cell] = digit
                    rows[row] ^= bit
                    columns[column] ^= bit
                    boxes[inside] ^= bit
            if wanted < 0 or left == wanted:
                for cell in range(cells):
                    given[number, cell] = puzzle[cell] >= 0
                break
        else:
            return number
    return -1
