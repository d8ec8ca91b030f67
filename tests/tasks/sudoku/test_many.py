"""100,000 generated puzzles: what must hold of all of them, and the shares and means that are known from elsewhere."""

from __future__ import annotations

import numpy as np
import plain_sudoku as plain
import pytest
from numpy.typing import NDArray
from soundness import RULES, assert_sound

from unmask.tasks.sudoku.deduce import deduce
from unmask.tasks.sudoku.generate import generate
from unmask.tasks.sudoku.search import search

MANY = 100_000
Grids = NDArray[np.int8]


def test_one_hundred_thousand_puzzles() -> None:
    """One test, since to make them takes half a minute."""
    solutions, given = generate(9, 20_000, 0, MANY)
    puzzles = np.where(given, solutions, -1).astype(np.int8)
    all_have_one_solution(puzzles, solutions)
    no_clue_can_be_spared(puzzles[:2000])
    the_mean_number_of_clues_is_known(puzzles)
    no_two_are_the_same(puzzles)
    cells_and_digits_are_clues_equally_often(puzzles)
    strategies_are_sound_and_solve_the_share_that_an_independent_program_found(puzzles, solutions)


def all_have_one_solution(puzzles: Grids, solutions: Grids) -> None:
    found = search(puzzles, 9, limit=2)
    assert (found.count == 1).all()
    assert (found.grids[:, 0] == solutions).all()
    places = np.stack([solutions[:, sorted(unit)] for unit in plain.UNITS], axis=1)
    assert (np.sort(places, axis=2) == np.arange(9)).all()


def no_clue_can_be_spared(puzzles: Grids) -> None:
    number, cell = np.nonzero(puzzles >= 0)
    spared = puzzles[number]
    spared[np.arange(len(number)), cell] = -1
    assert (search(spared, 9, limit=2).count == 2).all()


def the_mean_number_of_clues_is_known(puzzles: Grids) -> None:
    clues = (puzzles >= 0).sum(axis=1)
    assert 24.2 < clues.mean() < 24.6
    assert 19 <= clues.min() < clues.max() <= 32


def no_two_are_the_same(puzzles: Grids) -> None:
    assert len({puzzle.tobytes() for puzzle in puzzles}) == MANY


def cells_and_digits_are_clues_equally_often(puzzles: Grids) -> None:
    share = (puzzles >= 0).mean(axis=0)
    assert abs(share - share.mean()).max() < 5 * (share.mean() * (1 - share.mean()) / MANY) ** 0.5
    digits = np.bincount(puzzles[puzzles >= 0], minlength=9) / (puzzles >= 0).sum()
    assert digits == pytest.approx(np.full(9, 1 / 9), abs=0.001)


def strategies_are_sound_and_solve_the_share_that_an_independent_program_found(
    puzzles: Grids, solutions: Grids
) -> None:
    share = []
    for rules in RULES:
        found = deduce(puzzles, 9, **rules)
        assert_sound(found, solutions)
        share.append(float(found.solved.mean()))
    full, narrow, full_without, narrow_without = share
    assert full_without == pytest.approx(0.636, abs=0.005)
    assert full > full_without > narrow_without
    assert full > narrow > narrow_without
