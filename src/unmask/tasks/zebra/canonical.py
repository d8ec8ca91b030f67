"""When are two Zebra puzzles the same but for symmetry? Small ones often are: there are not so many 3 by 3 puzzles.

Values may be renamed, attributes permuted, the row of houses mirrored (left then says right), clues put in any order,
and the values of a clue as well where its kind does not tell them apart. Renaming is undone by naming each value after
its house in the solution; what is left is looked through by `canonical`, and summed over by `invariants`.
"""

from __future__ import annotations

from itertools import permutations
from typing import no_type_check

import numpy as np
from numpy.typing import NDArray

from unmask.tasks.compiled import kernel
from unmask.tasks.drawing import mix
from unmask.tasks.zebra.clues import BETWEEN, DIFFERENT, DIRECTLY, HOUSE, LEFT, MOST, NEXT, SAME, Array, Puzzles
from unmask.tasks.zebra.rules import operands

_ROUNDS = 3


def invariants(puzzles: Puzzles, solutions: Array) -> NDArray[np.int64]:
    """A number for each puzzle, equal for puzzles that a symmetry takes into each other."""
    found = np.zeros(len(puzzles), dtype=np.int64)
    _invariants(puzzles.houses, puzzles.attributes, puzzles.clues, np.ascontiguousarray(solutions), found)
    return found


def canonical(puzzles: Puzzles, solutions: Array, number: int = 0) -> tuple[int, ...]:
    """One puzzle's least arrangement, over all orders of its attributes and both ways to look at the houses."""
    houses, attributes = int(puzzles.houses[number]), int(puzzles.attributes[number])
    clues = puzzles.clues[number][puzzles.clues[number, :, 0] >= 0].astype(np.int64)
    place = np.full((MOST + 1, MOST + 1), MOST)  # the house of each value; the last column stands for no value
    for attribute in range(attributes):
        place[attribute, solutions[number, attribute, :houses]] = np.arange(houses)
    place[HOUSE, :houses] = np.arange(houses)
    kind, attribute = clues[:, 0], clues[:, 1::2]
    house = place[attribute, clues[:, 2::2]]
    named = attribute >= 0
    best: tuple[int, ...] | None = None
    for mirrored in (False, True):
        at = np.where(named, houses - 1 - house, MOST) if mirrored else np.where(named, house, MOST)
        swap = mirrored & ((kind == DIRECTLY) | (kind == LEFT))
        for order in permutations(range(attributes)):
            names = np.array([*order, *range(attributes, MOST + 1), MOST + 1])  # -1 finds the last
            operand = names[attribute] * (MOST + 1) + at
            operand[swap] = operand[swap][:, [1, 0, 2]]
            for kinds, first, second in (((SAME, DIFFERENT, NEXT), 0, 1), ((BETWEEN,), 1, 2)):
                free = np.isin(kind, kinds)
                operand[free, first : second + 1] = np.sort(operand[free, first : second + 1], axis=1)
            told = np.sort(kind * 64**3 + operand @ np.array([64**2, 64, 1]))
            arrangement = (houses, attributes, *told.tolist())
            best = arrangement if best is None else min(best, arrangement)
    assert best is not None
    return best


# Kernels.


@kernel(inline="always")
@no_type_check
def _role(kind, part, mirrored):
    """What an operand is to its clue: equal for those that the kind does not tell apart."""
    if kind in (SAME, DIFFERENT, NEXT):
        return 0
    if kind == BETWEEN:
        return min(part, 1)
    if kind in (DIRECTLY, LEFT) and mirrored:
        return 1 - part
    return part


@kernel
@no_type_check
def _seen(houses, attributes, clues, place, mirrored, colour, fresh):
    """The sum over clues, seen one way; attributes are told apart by what clues say of them."""
    colour[:] = 1
    colour[HOUSE] = 2
    total = np.uint64(0)
    for _round in range(_ROUNDS):
        fresh[:] = 0
        total = np.uint64(0)
        for clue in clues:
            kind = clue[0]
            if kind < 0:
                continue
            word = np.uint64(0)
            for part in range(operands(kind)):
                house = place[clue[1 + 2 * part], clue[2 + 2 * part]]
                here = houses - 1 - house if mirrored else house
                word += mix(colour[clue[1 + 2 * part]] + np.uint64(16 * _role(kind, part, mirrored) + here))
            word = mix(word + np.uint64(kind) * np.uint64(0x9E3779B97F4A7C15))
            total += word
            for part in range(operands(kind)):
                house = place[clue[1 + 2 * part], clue[2 + 2 * part]]
                here = houses - 1 - house if mirrored else house
                fresh[clue[1 + 2 * part]] += mix(word + np.uint64(16 * _role(kind, part, mirrored) + here))
        for attribute in range(attributes):
            colour[attribute] = mix(colour[attribute] + fresh[attribute])
    return mix(total + np.uint64(8 * houses + attributes))


@kernel
@no_type_check
def _invariants(houses, attributes, clues, solutions, found):
    place = np.zeros((MOST + 1, MOST), dtype=np.int64)
    colour = np.empty(MOST + 1, dtype=np.uint64)
    fresh = np.empty(MOST + 1, dtype=np.uint64)
    for number in range(len(houses)):
        h, a = houses[number], attributes[number]
        for house in range(h):
            place[HOUSE, house] = house
            for attribute in range(a):
                place[attribute, solutions[number, attribute, house]] = house
        one = _seen(h, a, clues[number], place, False, colour, fresh)
        other = _seen(h, a, clues[number], place, True, colour, fresh)
        found[number] = np.int64(mix(mix(one) + mix(other)))
