"""What clues leave possible: one kernel for each clue, and the rule that an attribute's values are in different houses.

The possibility grid `possible` [7, 6] holds for each value the houses where it may still be, as bits; the seventh
attribute is the house's number, whose houses are known. `allowed` is as sharp as one clue can be: a house stays
possible for an operand if and only if the clue can be true with it, given what is possible for the other operands.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unmask.tasks.compiled import kernel
from unmask.tasks.zebra.clues import BETWEEN, DIFFERENT, DIRECTLY, END, HOUSE, LEFT, MOST, NEXT, SAME


@kernel
@no_type_check
def begin(houses, attributes, possible):
    """Everything is possible."""
    possible[:] = 0
    for value in range(houses):
        for attribute in range(attributes):
            possible[attribute, value] = (1 << houses) - 1
        possible[HOUSE, value] = 1 << value


@kernel(inline="always")
@no_type_check
def is_one(word):
    """Whether just one bit is set."""
    return word != 0 and word & (word - 1) == 0


@kernel(inline="always")
@no_type_check
def _below_highest(word):
    """All bits below the highest one that is set."""
    below = np.int64(0)
    for shift in range(1, MOST):
        below |= word >> shift
    return below


@kernel(inline="always")
@no_type_check
def _above_lowest(word):
    """All bits above the lowest one that is set."""
    above = np.int64(0)
    for shift in range(1, MOST):
        above |= word << shift
    return above


@kernel(inline="always")
@no_type_check
def _outer(outer, middle, other):
    """Where one end of a BETWEEN can be: with something of `middle` on the way to something of `other`."""
    return outer & (_below_highest(middle & _below_highest(other)) | _above_lowest(middle & _above_lowest(other)))


@kernel
@no_type_check
def allowed(clue, possible, houses, left):
    """What a clue leaves of the houses of its operands, in `left` [3]."""
    kind = clue[0]
    x = possible[clue[1], clue[2]]
    if kind == END:
        left[0] = x & (1 | 1 << (houses - 1))
        return
    y = possible[clue[3], clue[4]]
    if kind == SAME:
        left[0] = left[1] = x & y
    elif kind == DIFFERENT:
        left[0] = x & ~y if is_one(y) else x
        left[1] = y & ~x if is_one(x) else y
    elif kind == DIRECTLY:
        left[0], left[1] = x & (y >> 1), y & (x << 1)
    elif kind == NEXT:
        left[0], left[1] = x & (y << 1 | y >> 1), y & (x << 1 | x >> 1)
    elif kind == LEFT:
        left[0], left[1] = x & _below_highest(y), y & _above_lowest(x)
    elif kind == BETWEEN:
        z = possible[clue[5], clue[6]]
        left[0] = x & ((_above_lowest(y) & _below_highest(z)) | (_above_lowest(z) & _below_highest(y)))
        left[1], left[2] = _outer(y, x, z), _outer(z, x, y)


@kernel(inline="always")
@no_type_check
def operands(kind):
    """How many operands a clue of that kind has: `clues.OPERANDS`, for kernels."""
    return 1 if kind == END else 3 if kind == BETWEEN else 2


@kernel
@no_type_check
def holds(clue, places):
    """Whether a clue is true where `places` [7, 6] has the house of every value."""
    kind = clue[0]
    x = places[clue[1], clue[2]]
    if kind == END:
        return x == 0 or x == places[HOUSE].max()
    y = places[clue[3], clue[4]]
    if kind == SAME:
        return x == y
    if kind == DIFFERENT:
        return x != y
    if kind == DIRECTLY:
        return x + 1 == y
    if kind == NEXT:
        return abs(x - y) == 1
    if kind == LEFT:
        return x < y
    z = places[clue[5], clue[6]]
    return min(y, z) < x < max(y, z)


@kernel
@no_type_check
def check(houses, attributes, clues, grids):
    """For each puzzle the number of clues that are not true in its grid, and of values that are not there; a clue
    about a value that is not there is not true."""
    found = np.zeros(len(houses), dtype=np.int64)
    places = np.empty((MOST + 1, MOST), dtype=np.int64)
    for number in range(len(houses)):
        places[:] = -1
        for house in range(houses[number]):
            places[HOUSE, house] = house
            for attribute in range(attributes[number]):
                if grids[number, attribute, house] >= 0:
                    places[attribute, grids[number, attribute, house]] = house
        for attribute in range(attributes[number]):
            for value in range(houses[number]):
                found[number] += places[attribute, value] < 0
        for clue in clues[number]:
            if clue[0] < 0:
                continue
            there = True
            for i in range(operands(clue[0])):
                there &= places[clue[1 + 2 * i], clue[2 + 2 * i]] >= 0
            found[number] += not (there and holds(clue, places))
    return found
