"""Zebra puzzles as data: houses in a row, attributes of which every house has a value of its own, clues of seven kinds.

There are 3 to 6 houses and 3 to 6 attributes, and each attribute has as many values as there are houses. A clue speaks
of one, two or three *operands* (attribute, value), each of which stands for the house that has that value; attribute
HOUSE is the house's own number, so that "house 2" is an operand like any other. The kinds are those of the paper's data
(section 4; Shah et al. 2024), listed from what says most to what says least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError

KINDS = ("same house", "not the same house", "at an end", "directly left of", "next to", "left of", "between")
SAME, DIFFERENT, END, DIRECTLY, NEXT, LEFT, BETWEEN = range(7)
OPERANDS = (2, 2, 1, 2, 2, 2, 3)
"""How many operands a clue of each kind has. BETWEEN: the first is somewhere between the others, either way round."""

LEAST, MOST = 3, 6
"""Houses, and attributes."""
HOUSE = MOST
"""The attribute that is a house's number, from 0."""

Array = NDArray[np.int8]


@dataclass(frozen=True)
class Clue:
    """A kind and its operands."""

    kind: int
    operands: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Puzzle:
    """One puzzle. Refuses clues that speak of what is not there, or that nothing could be true of."""

    houses: int
    attributes: int
    clues: tuple[Clue, ...]

    def __post_init__(self) -> None:
        for name, number in (("houses", self.houses), ("attributes", self.attributes)):
            if not LEAST <= number <= MOST:
                raise UnmaskError(f"a Zebra puzzle has {LEAST} to {MOST} {name}, not {number}")
        for number, clue in enumerate(self.clues, start=1):
            if not 0 <= clue.kind < len(KINDS) or len(clue.operands) != OPERANDS[clue.kind]:
                raise UnmaskError(f"clue {number}: kind {clue.kind} with {len(clue.operands)} operands is no clue")
            for attribute, value in clue.operands:
                known = attribute == HOUSE or 0 <= attribute < self.attributes
                if not known or not 0 <= value < self.houses:
                    raise UnmaskError(
                        f"clue {number} speaks of value {value} of attribute {attribute}; the puzzle has "
                        f"{self.houses} values of each of {self.attributes} attributes"
                    )
            if len(set(clue.operands)) < len(clue.operands):
                raise UnmaskError(f"clue {number} speaks twice of the same value")


@dataclass(frozen=True, eq=False)
class Puzzles:
    """B puzzles as arrays. `clues` [B, C, 7]: kind, then attribute and value of each operand; -1 where none is."""

    houses: Array
    attributes: Array
    clues: Array

    def __len__(self) -> int:
        return len(self.houses)

    def __getitem__(self, number: int) -> Puzzle:
        clues = tuple(
            Clue(row[0], tuple((row[1 + 2 * i], row[2 + 2 * i]) for i in range(OPERANDS[row[0]])))
            for row in self.clues[number].tolist()
            if row[0] >= 0
        )
        return Puzzle(int(self.houses[number]), int(self.attributes[number]), clues)

    @staticmethod
    def of(puzzles: Sequence[Puzzle]) -> Puzzles:
        """Puzzles under each other."""
        most = max((len(puzzle.clues) for puzzle in puzzles), default=0)
        clues = np.full((len(puzzles), most, 7), -1, dtype=np.int8)
        for puzzle, rows in zip(puzzles, clues, strict=True):
            for clue, row in zip(puzzle.clues, rows, strict=False):
                numbers = [clue.kind, *(number for operand in clue.operands for number in operand)]
                row[: len(numbers)] = numbers
        sizes = np.array([(puzzle.houses, puzzle.attributes) for puzzle in puzzles], dtype=np.int8).reshape(-1, 2)
        return Puzzles(sizes[:, 0].copy(), sizes[:, 1].copy(), clues)
