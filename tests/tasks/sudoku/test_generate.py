"""The generator: a matter of seed and number alone, a wished number of clues, other sides. See also `test_many`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from unmask.errors import UnmaskError
from unmask.tasks.sudoku.generate import generate
from unmask.tasks.sudoku.search import search


@settings(deadline=None, max_examples=40)
@given(some.integers(-(2**63), 2**64), some.integers(0, 2**40), some.integers(0, 6), some.integers(0, 6))
def test_a_puzzle_is_a_matter_of_seed_and_number(seed: int, begin: int, first: int, more: int) -> None:
    whole, known = generate(9, seed, begin, begin + first + more)
    part, part_known = generate(9, seed, begin + first, begin + first + more)
    assert (whole[first:] == part).all()
    assert (known[first:] == part_known).all()


def test_other_seeds_are_other_puzzles() -> None:
    found = {generate(9, seed, 0, 1)[0].tobytes() for seed in [*range(50), -1, 2**63, 2**64 - 2]}
    assert len(found) == 53


def test_puzzles_never_change() -> None:
    solutions, known = generate(9, 0, 0, 1)
    drawn = "".join(str(v + 1) if k else "." for v, k in zip(solutions[0], known[0], strict=True))
    assert drawn == PINNED


PINNED = "73.46....1...2...7..58.....2.1..3.7.5.6........8...4.1...2....8.....563........14"


@pytest.mark.parametrize("clues", [81, 40, 30, 25, 23])
def test_a_wished_number_of_clues(clues: int) -> None:
    solutions, known = generate(9, 1, 0, 50, clues=clues)
    assert (known.sum(axis=1) == clues).all()
    puzzles = np.where(known, solutions, -1).astype(np.int8)
    found = search(puzzles, 9)
    assert (found.count == 1).all()
    assert (found.grids[:, 0] == solutions).all()


def test_grids_of_side_4_are_equally_likely() -> None:
    # Beliefs over the list of all grids are exact for what is sampled only if this is so.
    grids, _ = generate(4, 11, 0, 57_600)
    _, counts = np.unique(grids, axis=0, return_counts=True)
    assert len(counts) == 288
    assert float(((counts - 200) ** 2 / 200).sum()) < 364  # chi-square, 287 degrees, p = 0.001


def test_few_clues_are_found_if_tries_suffice_and_refused_by_name_if_not() -> None:
    assert generate(9, 1, 0, 2, clues=21)[1].sum(axis=1).tolist() == [21, 21]
    with pytest.raises(
        UnmaskError, match=r"no 9x9 puzzle with 12 clues was found in 10,000 tries \(seed 3, number 5\)"
    ):
        generate(9, 3, 5, 6, clues=12)
    for wrong in (-1, 82):
        with pytest.raises(UnmaskError, match=f"has 0 to 81 clues, not {wrong}"):
            generate(9, 0, 0, 1, clues=wrong)
    for begin, end in ((-1, 2), (3, 2)):
        with pytest.raises(UnmaskError, match="expected 0 <= begin <= end"):
            generate(9, 0, begin, end)


@pytest.mark.parametrize("side", [4, 16])
def test_other_sides(side: int) -> None:
    count = 200 if side == 4 else 3
    solutions, known = generate(side, 6, 0, count)
    puzzles = np.where(known, solutions, -1).astype(np.int8)
    found = search(puzzles, side, nodes=1_000_000)
    assert (found.count == 1).all()
    assert (found.grids[:, 0] == solutions).all()
    if side == 16:
        assert known.sum(axis=1).max() < 130


def test_none_is_fine() -> None:
    solutions, known = generate(9, 0, 7, 7)
    assert solutions.shape == known.shape == (0, 81)
