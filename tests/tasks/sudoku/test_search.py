"""The search solver: counts and solutions that others know, and what brute force finds."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import plain_sudoku as plain
import pytest
from numpy.typing import NDArray

from unmask.tasks.sudoku.generate import generate
from unmask.tasks.sudoku.search import search

Grids = NDArray[np.int8]


def puzzle(text: str) -> Grids:
    return np.array([plain.read(text)], dtype=np.int8)


def test_counts_of_others(data: Path) -> None:
    lines = (data / "sudoku" / "test_puzzles").read_text().splitlines()
    known = [line.split(":") for line in lines if line.strip() and not line.startswith("#")]
    assert len(known) == 43
    for text, count, *solution in known:
        found = search(puzzle(text), 9, limit=1000)
        assert found.count[0] == int(count)
        solved = {tuple(grid) for grid in found.grids[0, : found.count[0]].tolist()}
        assert len(solved) == int(count)
        for grid in solved:
            assert all(sorted(grid[cell] for cell in unit) == list(range(9)) for unit in plain.UNITS)
            assert all(value in (-1, grid[cell]) for cell, value in enumerate(plain.read(text)))
        if solution and solution[0].strip():
            assert tuple(plain.read(solution[0].strip())) in solved


def test_ten_thousand_of_others_have_one_solution_each_and_take_little_time(data: Path) -> None:
    lines = (data / "sudoku" / "sudoku10k.txt").read_text().split()
    puzzles = np.array([plain.read(line) for line in lines], dtype=np.int8)
    search(puzzles[:1], 9)  # compiled
    begun = time.process_time()
    found = search(puzzles, 9, limit=2)
    assert time.process_time() - begun < 30
    assert len(puzzles) == 10_000
    assert (found.count == 1).all()
    first = found.grids[:, 0]
    assert (first[puzzles >= 0] == puzzles[puzzles >= 0]).all()
    places = np.stack([first[:, sorted(unit)] for unit in plain.UNITS], axis=1)
    assert (np.sort(places, axis=2) == np.arange(9)).all()


def test_it_finds_what_plain_search_finds() -> None:
    solutions, given = generate(9, 3, 0, 25)
    draw = np.random.default_rng(0)
    for solution, known in zip(solutions, given, strict=True):
        clues = np.where(known, solution, -1).astype(np.int8)
        spare = draw.choice(np.flatnonzero(known), 2, replace=False)
        clues[spare] = -1  # now there are several solutions, as a rule
        expected = [tuple(grid) for grid, _ in zip(plain.solutions(clues.tolist()), range(40), strict=False)]
        found = search(clues[None], 9, limit=40)
        assert found.count[0] == len(expected)
        if len(expected) < 40:
            assert {tuple(grid) for grid in found.grids[0, : found.count[0]].tolist()} == set(expected)


@pytest.mark.parametrize(
    ("clues", "count"),
    [
        ({}, 7),
        ({0: 0, 1: 0}, 0),
        ({0: 0, 10: 0}, 0),
        ({0: 0, 72: 0}, 0),
        ({0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 17: 8}, 0),
    ],
)
def test_clashes_and_limits(clues: dict[int, int], count: int) -> None:
    grid = np.full((1, 81), -1, dtype=np.int8)
    for cell, value in clues.items():
        grid[0, cell] = value
    found = search(grid, 9, limit=7)
    assert found.count.tolist() == [count]
    assert (found.grids[0, count:] == -1).all()


def test_the_puzzles_are_left_alone_and_none_is_fine() -> None:
    puzzles = np.full((2, 81), -1, dtype=np.int8)
    search(puzzles, 9, limit=1)
    assert (puzzles == -1).all()
    assert search(puzzles[:0], 9).grids.shape == (0, 2, 81)


def test_it_gives_up_where_it_was_told_to() -> None:
    empty = np.full((1, 81), -1, dtype=np.int8)
    assert search(empty, 9, nodes=10).count.tolist() == [-1]
    assert search(empty, 9).count.tolist() == [2]


def test_sixteen_by_sixteen() -> None:
    solutions, given = generate(16, 2, 0, 2)
    puzzles = np.where(given, solutions, -1).astype(np.int8)
    found = search(puzzles, 16, limit=2, nodes=1_000_000)
    assert found.count.tolist() == [1, 1]
    assert (found.grids[:, 0] == solutions).all()
    square = solutions.reshape(2, 16, 16)
    boxes = square.reshape(2, 4, 4, 4, 4).transpose(0, 1, 3, 2, 4).reshape(2, 16, 16)
    for lines in (square, square.transpose(0, 2, 1), boxes):
        assert (np.sort(lines, axis=2) == np.arange(16)).all()
