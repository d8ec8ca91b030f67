"""Zebra puzzles: a random solution, clues drawn from all that are true of it, and taken away again in random order as
long as the solution stays the only one.

A clue is drawn by its kind first, all seven equally likely, then from all true ones of that kind; a number of a house
is an operand like any attribute where it can be (the same house, or not). Clues are drawn until there is one solution.
Then none is left that could be spared. Puzzle number i of a seed is a matter of (seed, i) alone.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unmask.errors import UnmaskError
from unmask.tasks.compiled import kernel
from unmask.tasks.drawing import below, key, shuffle, start
from unmask.tasks.zebra.clues import (
    BETWEEN,
    DIFFERENT,
    DIRECTLY,
    END,
    HOUSE,
    KINDS,
    LEAST,
    MOST,
    NEXT,
    SAME,
    Array,
    Puzzles,
)
from unmask.tasks.zebra.rules import begin, holds, operands
from unmask.tasks.zebra.search import DEPTH, NODES, count_from

MOST_CLUES = 31
"""Clues of a puzzle; one that would need more (hardly ever) is drawn anew."""

_DRAWN = 400
"""Clues that are drawn for a puzzle before it is begun anew."""


def generate(
    seed: int, begin: int, end: int, *, houses: int | None = None, attributes: int | None = None
) -> tuple[Puzzles, Array]:
    """The puzzles `begin` to `end` of this seed, and their solutions [B, 6, 6]; sizes are drawn unless told."""
    if not 0 <= begin <= end:
        raise UnmaskError(f"generate: expected 0 <= begin <= end, got {begin} and {end}")
    for name, wanted in (("houses", houses), ("attributes", attributes)):
        if wanted is not None and not LEAST <= wanted <= MOST:
            raise UnmaskError(f"generate: a Zebra puzzle has {LEAST} to {MOST} {name}, not {wanted}")
    count = end - begin
    sizes = np.zeros((2, count), dtype=np.int8)
    clues = np.full((count, MOST_CLUES, 7), -1, dtype=np.int8)
    grids = np.full((count, MOST, MOST), -1, dtype=np.int8)
    _generate(key(seed), begin, houses or 0, attributes or 0, sizes[0], sizes[1], clues, grids)
    return Puzzles(sizes[0].copy(), sizes[1].copy(), clues), grids


# Kernels.


@kernel
@no_type_check
def _draw_clue(state, houses, attributes, grid, clue):
    """A true clue: its kind, then one of all that are true of this kind."""
    clue[:] = -1
    kind = below(state, len(KINDS))
    clue[0] = kind
    if kind in (SAME, DIFFERENT):
        one = below(state, attributes + 1)
        other = below(state, attributes)
        other += other >= one
        if one == attributes:  # numbers come second
            one, other = other, one
        first = below(state, houses)
        second = first
        if kind == DIFFERENT:
            second = below(state, houses - 1)
            second += second >= first
        clue[1], clue[2] = one, grid[one, first]
        if other == attributes:
            clue[3], clue[4] = HOUSE, second
        else:
            clue[3], clue[4] = other, grid[other, second]
        return
    count = operands(kind)
    at = np.empty(3, dtype=np.int64)
    if kind == END:
        at[0] = below(state, 2) * (houses - 1)
    elif kind in (DIRECTLY, NEXT):
        at[0] = below(state, houses - 1)
        at[1] = at[0] + 1
    else:
        order = np.arange(houses)
        shuffle(state, order)
        chosen = np.sort(order[:count])
        at[:count] = chosen
        if kind == BETWEEN:
            at[0], at[1] = chosen[1], chosen[0]
    if kind in (NEXT, BETWEEN) and below(state, 2):
        at[count - 1], at[count - 2] = at[count - 2], at[count - 1]
    for i in range(count):
        attribute = below(state, attributes)
        clue[1 + 2 * i], clue[2 + 2 * i] = attribute, grid[attribute, at[i]]


@kernel
@no_type_check
def _same_clue(one, other):
    """Whether two clues say the same: operands may be swapped where the kind does not tell them apart."""
    if one[0] != other[0]:
        return False
    equal = True
    for i in range(1, 7):
        equal &= one[i] == other[i]
    if equal:
        return True
    kind = one[0]
    if kind in (SAME, DIFFERENT, NEXT):
        return one[1] == other[3] and one[2] == other[4] and one[3] == other[1] and one[4] == other[2]
    if kind == BETWEEN:
        first = one[1] == other[1] and one[2] == other[2]
        return first and one[3] == other[5] and one[4] == other[6] and one[5] == other[3] and one[6] == other[4]
    return False


@kernel
@no_type_check
def _places_of(grid, houses, attributes, places):
    """The house of every value, from the value at every house."""
    for house in range(houses):
        for attribute in range(attributes):
            places[attribute, grid[attribute, house]] = house
        places[HOUSE, house] = house


@kernel
@no_type_check
def _draw_puzzle(state, houses, attributes, grid, drawn, stack, found, places):
    """Draw clues until there is one solution, then take away what can be spared; how many are left, 0 for too many."""
    count = 0
    other_known = False
    while True:
        if count == _DRAWN:
            return 0
        _draw_clue(state, houses, attributes, grid, drawn[count])
        new = True
        for earlier in range(count):
            new &= not _same_clue(drawn[earlier], drawn[count])
        if not new:
            continue
        count += 1
        if other_known and holds(drawn[count - 1], places):
            continue  # another solution is known, and this clue does not rule it out
        begin(houses, attributes, stack[0])
        if count_from(stack, drawn[:count], houses, attributes, 2, found, NODES) == 1:
            break
        other = 0 if (found[0, :attributes, :houses] != grid[:attributes, :houses]).any() else 1
        _places_of(found[other], houses, attributes, places)
        other_known = True
    order = np.arange(count)
    shuffle(state, order)
    for number in order:
        kind = drawn[number, 0]
        drawn[number, 0] = -1
        begin(houses, attributes, stack[0])
        if count_from(stack, drawn[:count], houses, attributes, 2, found, NODES) != 1:
            drawn[number, 0] = kind
    left = 0
    for number in range(count):
        if drawn[number, 0] >= 0:
            drawn[left] = drawn[number]
            left += 1
    return left


@kernel
@no_type_check
def _generate(key, first, wanted_houses, wanted_attributes, houses, attributes, clues, grids):
    stack = np.empty((DEPTH, MOST + 1, MOST), dtype=np.int64)
    drawn = np.empty((_DRAWN, 7), dtype=np.int8)
    found = np.full((2, MOST, MOST), -1, dtype=np.int8)
    places = np.zeros((MOST + 1, MOST), dtype=np.int64)
    for number in range(len(houses)):
        state = start(key, first + number)
        h = wanted_houses if wanted_houses else LEAST + below(state, MOST - LEAST + 1)
        a = wanted_attributes if wanted_attributes else LEAST + below(state, MOST - LEAST + 1)
        houses[number], attributes[number] = h, a
        while True:
            for attribute in range(a):
                order = np.arange(h)
                shuffle(state, order)
                grids[number, attribute, :h] = order
            left = _draw_puzzle(state, h, a, grids[number], drawn, stack, found, places)
            if 0 < left <= clues.shape[1]:
                clues[number, :left] = drawn[:left]
                break
