"""The exact solver: how many solutions a Zebra puzzle has, up to a limit, and what they are.

Clues and the rule that values of an attribute are in different houses are applied to the possibility grid until
nothing changes; then a house is tried for a value, and taken away if nothing comes of it. That value has few houses
left for the number of clues that speak of it and of contradictions that it had a part in (the ratio of domain to
weighted degree; Boussemart et al. 2004): so a contradiction between two clues is found before all the values that
have nothing to do with it are gone through.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import no_type_check

import numpy as np

from unmask.tasks.compiled import kernel
from unmask.tasks.zebra.clues import MOST, Array, Puzzles
from unmask.tasks.zebra.rules import allowed, begin, is_one, operands

DEPTH = MOST * MOST + 1
"""Values that can be tried one upon the other."""

NODES = 100_000
"""Steps of the search for a solution; generated puzzles take a few dozen."""


@dataclass(frozen=True, eq=False)
class Solutions:
    """`count` [B]: how many there are, no more than the limit; -1 where `nodes` did not suffice to tell. `grids`
    [B, limit, 6, 6]: the first ones, the value of each attribute (a row) at each house (a column); -1 where none is."""

    count: np.ndarray
    grids: Array


def search(puzzles: Puzzles, limit: int = 2, *, known: Array | None = None, nodes: int = NODES) -> Solutions:
    """Count the solutions of each puzzle up to `limit`, and find them. A limit of 2 tells whether there is just one.

    `known` [B, 6, 6] are values that are given besides the clues, laid out like a solution; -1 where none is. Each
    puzzle may take `nodes` steps for each solution that is asked for.
    """
    count = np.zeros(len(puzzles), dtype=np.int64)
    grids = np.full((len(puzzles), limit, MOST, MOST), -1, dtype=np.int8)
    given = np.full((len(puzzles), MOST, MOST), -1, dtype=np.int8) if known is None else known
    given = np.ascontiguousarray(given, dtype=np.int8)
    most = nodes * limit
    _search(puzzles.houses, puzzles.attributes, puzzles.clues, given, limit, most, count, grids)
    return Solutions(count, grids)


# Kernels.


@kernel
@no_type_check
def propagate(clues, houses, attributes, possible, left, weight):
    """Apply every clue and rule until nothing changes. -1: contradiction, 1: all is known, 0: neither. `weight` grows
    for the values of the clue or the attribute that contradicted."""
    everything = (1 << houses) - 1
    while True:
        changed = False
        for number in range(len(clues)):
            clue = clues[number]
            kind = clue[0]
            if kind < 0:
                continue
            allowed(clue, possible, houses, left)
            for i in range(operands(kind)):
                a, v = clue[1 + 2 * i], clue[2 + 2 * i]
                if left[i] != possible[a, v]:
                    if left[i] == 0:
                        for j in range(operands(kind)):
                            weight[clue[1 + 2 * j], clue[2 + 2 * j]] += 1
                        return -1
                    possible[a, v] = left[i]
                    changed = True
        full = True
        for attribute in range(attributes):
            once, twice = np.int64(0), np.int64(0)
            for value in range(houses):
                word = possible[attribute, value]
                twice |= once & word
                once |= word
            if once != everything:
                weight[attribute] += 1
                return -1
            single = once & ~twice
            for value in range(houses):
                word = possible[attribute, value]
                if word & single and not is_one(word):  # a house where no other value can be
                    word &= single
                    if not is_one(word):  # two such houses for one value
                        weight[attribute] += 1
                        return -1
                    possible[attribute, value] = word
                    changed = True
                if is_one(word):
                    for other in range(houses):
                        if other != value and possible[attribute, other] & word:
                            possible[attribute, other] &= ~word
                            changed = True
                else:
                    full = False
                    if word == 0:
                        weight[attribute] += 1
                        return -1
        if not changed:
            return 1 if full else 0


@kernel
@no_type_check
def give(possible, known, houses, attributes):
    """Take up values whose house is known from the start."""
    for attribute in range(attributes):
        for house in range(houses):
            if known[attribute, house] >= 0:
                possible[attribute, known[attribute, house]] &= 1 << house


@kernel
@no_type_check
def read_off(possible, houses, attributes, grid):
    """Write the values that have one house left into the grid."""
    for attribute in range(attributes):
        for value in range(houses):
            word = possible[attribute, value]
            for house in range(houses):
                if word == 1 << house:
                    grid[attribute, house] = value


@kernel
@no_type_check
def count_from(stack, clues, houses, attributes, limit, grids, nodes):
    """Solutions of the grid of possibilities at the bottom of the stack, up to `limit`; -1 if that takes more than
    `nodes`."""
    left = np.empty(3, dtype=np.int64)
    weight = np.ones((MOST + 1, MOST), dtype=np.int64)
    for clue in clues:
        if clue[0] >= 0:
            for i in range(operands(clue[0])):
                weight[clue[1 + 2 * i], clue[2 + 2 * i]] += 1
    count, depth = 0, 0
    while depth >= 0:
        nodes -= 1
        if nodes < 0:
            return -1
        possible = stack[depth]
        status = propagate(clues, houses, attributes, possible, left, weight)
        if status == 1:
            read_off(possible, houses, attributes, grids[count])
            count += 1
            if count == limit:
                return count
        if status != 0:
            depth -= 1
            continue
        least, heaviest, a, v = 1, 0, 0, 0
        for attribute in range(attributes):
            for value in range(houses):
                word = possible[attribute, value]
                size = 0
                while word:
                    word &= word - 1
                    size += 1
                # size / weight is less than that of the best so far
                if size > 1 and size * heaviest < least * weight[attribute, value]:
                    least, heaviest, a, v = size, weight[attribute, value], attribute, value
        first = possible[a, v] & -possible[a, v]
        stack[depth + 1] = possible
        stack[depth + 1, a, v] = first
        possible[a, v] &= ~first  # when we come back, it was not this one
        depth += 1
    return count


@kernel
@no_type_check
def _search(houses, attributes, clues, known, limit, nodes, counts, grids):
    stack = np.empty((DEPTH, MOST + 1, MOST), dtype=np.int64)
    for number in range(len(houses)):
        begin(houses[number], attributes[number], stack[0])
        give(stack[0], known[number], houses[number], attributes[number])
        counts[number] = count_from(
            stack, clues[number], houses[number], attributes[number], limit, grids[number], nodes
        )
