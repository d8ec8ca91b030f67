"""Zebra puzzles with any clues, for Hypothesis; and a puzzle as its symmetries show it."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as some

from unmask.tasks.zebra.clues import BETWEEN, DIRECTLY, HOUSE, LEFT, OPERANDS, Clue, Puzzle

Raw = tuple[int, int, list[tuple[int, list[tuple[int, int]]]]]


@some.composite
def raw(draw, most: int = 6) -> Raw:
    """Any clues, true of anything or of nothing. Plain numbers: Hypothesis wants values that are not checked yet."""
    n, m = draw(some.integers(3, most)), draw(some.integers(3, most))
    operand = some.tuples(some.sampled_from([*range(m), HOUSE]), some.integers(0, n - 1))
    clue = some.integers(0, 6).flatmap(
        lambda kind: some.tuples(
            some.just(kind), some.lists(operand, min_size=OPERANDS[kind], max_size=OPERANDS[kind], unique=True)
        )
    )
    return n, m, draw(some.lists(clue, max_size=8))


def made(numbers: Raw) -> Puzzle:
    return Puzzle(numbers[0], numbers[1], tuple(Clue(kind, tuple(operands)) for kind, operands in numbers[2]))


def renamed(puzzle: Puzzle, draw: np.random.Generator) -> Puzzle:
    """The same puzzle with values renamed, attributes permuted, houses mirrored perhaps, clues in another order."""
    n, m = puzzle.houses, puzzle.attributes
    attributes = draw.permutation(m).tolist()
    names = [draw.permutation(n).tolist() for _ in range(m)]
    mirrored = bool(draw.integers(2))

    def operand(one: tuple[int, int]) -> tuple[int, int]:
        attribute, value = one
        if attribute == HOUSE:
            return HOUSE, n - 1 - value if mirrored else value
        return attributes[attribute], names[attribute][value]

    clues = []
    for number in draw.permutation(len(puzzle.clues)):
        clue = puzzle.clues[number]
        operands = [operand(one) for one in clue.operands]
        if mirrored and clue.kind in (DIRECTLY, LEFT):
            operands.reverse()
        elif clue.kind == BETWEEN and draw.integers(2):
            operands[1:] = operands[:0:-1]
        elif clue.kind in (0, 1, 4) and draw.integers(2):
            operands.reverse()
        clues.append(Clue(clue.kind, tuple(operands)))
    return Puzzle(n, m, tuple(clues))
