"""The deduction solver: a Zebra puzzle as a person solves it, rule by rule, and how hard it was.

What is known is a grid of possibilities: for each value the houses where it may still be. A step takes the first rule
of the list that rules anything out, and applies *every* instance of it that is there at the time, so that nothing
depends on the order of the clues. A cell (attribute, house) is written when its value has no other house left: the
number of that step is its *round*, and the order of rounds is the solve order that order-aware models are trained on.

The rules but for the last are propagation. Where they do not finish, the last supposes for each value in each house
where it may be that it is there; if propagation then ends in a contradiction, it is not. That is one trial deep, and
not all puzzles fall to it; what does needs no knowledge that there is just one solution.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import no_type_check

import numpy as np
from numpy.typing import NDArray

from unmask.tasks.compiled import kernel
from unmask.tasks.solving import Deduced
from unmask.tasks.zebra.clues import KINDS, MOST, Array, Puzzle, Puzzles
from unmask.tasks.zebra.rules import allowed, begin, is_one, operands
from unmask.tasks.zebra.search import give, propagate, read_off

RULES = ("the house is taken", "nothing else fits", *(f"clue: {kind}" for kind in KINDS), "supposition")
TAKEN, FITS, CLUES = 0, 1, 2
SUPPOSE = len(RULES) - 1


@dataclass(frozen=True, eq=False)
class Deduction(Deduced):
    """How far deduction came: grids [B, 6, 6] have the value of each attribute (a row) at each house (a column); rules
    are indices of RULES. `possible` [B, 7, 6]: the houses where each value may still be, as bits."""

    possible: NDArray[np.int64]


@dataclass(frozen=True)
class Step:
    """One step: the rule, the numbers of the clues that ruled something out (from 1), the cells that are written now
    (attribute, house, value), and the values that are ruled out for a house (attribute, house, value)."""

    rule: str
    clues: tuple[int, ...]
    written: tuple[tuple[int, int, int], ...]
    removed: tuple[tuple[int, int, int], ...]


def deduce(puzzles: Puzzles, *, suppose: bool = True, known: Array | None = None) -> Deduction:
    """Solve by deduction alone. `suppose=False` is propagation and nothing else. `known` as in `search`."""
    count = len(puzzles)
    found = Deduction(
        grids=np.full((count, MOST, MOST), -1, dtype=np.int8),
        round=np.full((count, MOST, MOST), -1, dtype=np.int16),
        rule=np.full((count, MOST, MOST), -1, dtype=np.int8),
        uses=np.zeros((count, len(RULES)), dtype=np.int16),
        contradiction=np.zeros(count, dtype=np.bool_),
        solved=np.zeros(count, dtype=np.bool_),
        possible=np.zeros((count, MOST + 1, MOST), dtype=np.int64),
    )
    given = found.grids.copy() if known is None else np.ascontiguousarray(known, dtype=np.int8)
    _deduce(
        puzzles.houses, puzzles.attributes, puzzles.clues, given, len(RULES) if suppose else SUPPOSE,
        found.grids, found.round, found.rule, found.uses, found.contradiction, found.possible,
    )  # fmt: skip
    cells = puzzles.houses.astype(np.int64) * puzzles.attributes
    found.solved[:] = ((found.grids >= 0).sum((1, 2)) == cells) & ~found.contradiction
    return found


def steps(puzzle: Puzzle, *, suppose: bool = True, known: Array | None = None) -> Iterator[Step]:
    """The steps for one puzzle, one at a time; they end where it is solved, stuck or contradicted."""
    houses, attributes = puzzle.houses, puzzle.attributes
    clues = Puzzles.of([puzzle]).clues[0]
    possible = np.zeros((MOST + 1, MOST), dtype=np.int64)
    begin(houses, attributes, possible)
    if known is not None:
        give(possible, np.ascontiguousarray(known, dtype=np.int8), houses, attributes)
    before, trial = possible.copy(), possible.copy()
    rules = len(RULES) if suppose else SUPPOSE
    while (rule := step(clues, houses, attributes, rules, possible, before, trial)) >= 0:
        gone = before & ~possible
        cells = [(a, v) for a in range(attributes) for v in range(houses) if gone[a, v]]
        written = [(a, _house(possible[a, v]), v) for a, v in cells if _single(possible[a, v])]
        removed = [(a, house, v) for a, v in cells for house in range(houses) if gone[a, v] >> house & 1]
        yield Step(RULES[rule], _acting(clues, rule, houses, before), tuple(written), tuple(removed))
        if not possible[:attributes, :houses].all():
            return


def _acting(clues: NDArray[np.int8], rule: int, houses: int, before: NDArray[np.int64]) -> tuple[int, ...]:
    """The clues that rule something out, numbered from 1."""
    left = np.zeros(3, dtype=np.int64)
    found = []
    for number, clue in enumerate(clues, start=1):
        if clue[0] != rule - CLUES:
            continue
        allowed(clue, before, houses, left)
        if any(left[i] != before[clue[1 + 2 * i], clue[2 + 2 * i]] for i in range(operands(clue[0]))):
            found.append(number)
    return tuple(found)


def _single(word: np.int64) -> bool:
    return bool(is_one(word))


def _house(word: np.int64) -> int:
    return int(word).bit_length() - 1


# Kernels.


@kernel
@no_type_check
def _apply(clues, houses, attributes, rule, before, possible, trial):
    """Everything that one rule rules out, seen from `before`, taken from `possible`."""
    left = np.empty(3, dtype=np.int64)
    weight = np.zeros((MOST + 1, MOST), dtype=np.int64)  # for the search; of no use here
    if rule == TAKEN:
        for attribute in range(attributes):
            for value in range(houses):
                word = before[attribute, value]
                if is_one(word):
                    for other in range(houses):
                        if other != value:
                            possible[attribute, other] &= ~word
    elif rule == FITS:
        for attribute in range(attributes):
            once, twice = np.int64(0), np.int64(0)
            for value in range(houses):
                twice |= once & before[attribute, value]
                once |= before[attribute, value]
            single = once & ~twice
            for value in range(houses):
                word = before[attribute, value] & single
                if word:  # two such houses for one value: it is left without any
                    possible[attribute, value] = word if is_one(word) else 0
    elif rule < SUPPOSE:
        for number in range(len(clues)):
            clue = clues[number]
            if clue[0] == rule - CLUES:
                allowed(clue, before, houses, left)
                for i in range(operands(clue[0])):
                    possible[clue[1 + 2 * i], clue[2 + 2 * i]] &= left[i]
    else:
        for attribute in range(attributes):
            for value in range(houses):
                word = before[attribute, value]
                if is_one(word):
                    continue
                for house in range(houses):
                    if word >> house & 1:
                        trial[:] = before
                        trial[attribute, value] = 1 << house
                        if propagate(clues, houses, attributes, trial, left, weight) == -1:
                            possible[attribute, value] &= ~(1 << house)


@kernel
@no_type_check
def step(clues, houses, attributes, rules, possible, before, trial):
    """Take one step in place: the rule taken, -1 if there is none; `before` is what was possible before it."""
    before[:] = possible
    for rule in range(rules):
        _apply(clues, houses, attributes, rule, before, possible, trial)
        if (possible != before).any():
            return rule
    return -1


@kernel
@no_type_check
def _deduce(houses, attributes, clues, known, rules, grids, rounds, ruled, uses, contradictions, possibles):
    before = np.empty((MOST + 1, MOST), dtype=np.int64)
    trial = np.empty((MOST + 1, MOST), dtype=np.int64)
    for number in range(len(houses)):
        h, a, possible = houses[number], attributes[number], possibles[number]
        begin(h, a, possible)
        give(possible, known[number], h, a)
        turn = 0
        while True:
            for attribute in range(a + 1):
                at = attribute if attribute < a else MOST  # a clue may take away a house from its own number
                for value in range(h):
                    if possible[at, value] == 0:
                        contradictions[number] = True
            if contradictions[number]:
                break
            rule = step(clues[number], h, a, rules, possible, before, trial)
            if rule < 0:
                break
            uses[number, rule] += 1
            for attribute in range(a):
                for value in range(h):
                    word = possible[attribute, value]
                    if is_one(word) and not is_one(before[attribute, value]):
                        for house in range(h):
                            if word >> house & 1:
                                rounds[number, attribute, house] = turn
                                ruled[number, attribute, house] = rule
            turn += 1
        read_off(possible, h, a, grids[number])
