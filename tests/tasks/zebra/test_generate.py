"""2,000 puzzles of all sizes: one solution each, by somebody else's solver, and no clue that could be spared."""

from __future__ import annotations

import numpy as np
import plain_zebra as plain
import pytest

from unmask.errors import UnmaskError
from unmask.tasks.zebra.clues import KINDS, Puzzle, Puzzles
from unmask.tasks.zebra.generate import generate
from unmask.tasks.zebra.search import search

SIZES = [(houses, attributes) for houses in range(3, 7) for attributes in range(3, 7)]
EACH = 125


@pytest.mark.parametrize(("houses", "attributes"), SIZES)
def test_puzzles_have_one_solution_and_need_every_clue(houses: int, attributes: int) -> None:
    puzzles, solutions = generate(5, 0, EACH, houses=houses, attributes=attributes)
    found = search(puzzles, limit=2)
    assert (found.count == 1).all()
    assert (found.grids[:, 0] == solutions).all()
    fewer: list[Puzzle] = []
    for number in range(EACH):
        puzzle = puzzles[number]
        assert (puzzle.houses, puzzle.attributes) == (houses, attributes)
        house_of = plain.houses_of(solutions[number], puzzle)
        assert all(plain.holds(clue, houses, house_of) for clue in puzzle.clues)
        assert plain.count(puzzle) == 1
        fewer += [
            Puzzle(houses, attributes, puzzle.clues[:i] + puzzle.clues[i + 1 :]) for i in range(len(puzzle.clues))
        ]
    assert (search(Puzzles.of(fewer), limit=2).count == 2).all()
    assert all(plain.count(puzzle) == 2 for puzzle in fewer[:: max(1, len(fewer) // 20)])


def test_what_is_made_is_a_matter_of_seed_and_number() -> None:
    puzzles, solutions = generate(3, 0, 40)
    again, same = generate(3, 25, 40)
    assert (puzzles.clues[25:] == again.clues).all()
    assert (solutions[25:] == same).all()
    other, _ = generate(4, 0, 40)
    assert (puzzles.clues != other.clues).any()


def test_all_sizes_and_all_kinds_of_clue_are_met() -> None:
    puzzles, solutions = generate(1, 0, 4000)
    sizes, counts = np.unique(np.stack([puzzles.houses, puzzles.attributes]), axis=1, return_counts=True)
    assert sizes.T.tolist() == [list(size) for size in SIZES]
    assert float(((counts - 250) ** 2 / 250).sum()) < 37.7  # chi-square, 15 degrees, p = 0.001
    kinds = puzzles.clues[:, :, 0]
    assert np.unique(kinds[kinds >= 0]).tolist() == list(range(len(KINDS)))
    # Solutions are even: each value equally often in the first house of the largest puzzles.
    largest = solutions[(puzzles.houses == 6) & (puzzles.attributes == 6)]
    first = np.bincount(largest[:, :, 0].ravel(), minlength=6)
    assert float(((first - first.mean()) ** 2 / first.mean()).sum()) < 20.5  # 5 degrees


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"begin": 5, "end": 3}, "expected 0 <= begin <= end, got 5 and 3"),
        ({"begin": 0, "end": 1, "houses": 2}, "3 to 6 houses, not 2"),
        ({"begin": 0, "end": 1, "attributes": 7}, "3 to 6 attributes, not 7"),
    ],
)
def test_what_cannot_be_made(options: dict[str, int], message: str) -> None:
    with pytest.raises(UnmaskError, match=message):
        generate(0, **options)
