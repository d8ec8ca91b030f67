"""The strategy solver: sound, the share it solves, every step as a plain reading of the rules has it, symmetry."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import plain_sudoku as plain
import pytest
import torch
from numpy.typing import NDArray
from soundness import RULES, assert_sound

from unmask.tasks.solving import NOTHING_TO_DO, UNSOLVED
from unmask.tasks.sudoku.deduce import deduce, steps
from unmask.tasks.sudoku.generate import generate
from unmask.tasks.sudoku.rules import STRATEGIES
from unmask.tasks.sudoku.search import search
from unmask.tasks.sudoku.symmetry import Symmetry

Grids = NDArray[np.int8]


@cache
def generated() -> tuple[Grids, Grids]:
    """Puzzles and their solutions; `test_many` has more of them."""
    solutions, given = generate(9, 7, 0, 3000)
    return np.where(given, solutions, -1).astype(np.int8), solutions


def lines(path: Path) -> Grids:
    """A puzzle on each line."""
    return np.array([plain.read(line) for line in path.read_text().split()], dtype=np.int8)


# Soundness


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_it_is_sound_on_puzzles_of_others(data: Path, rules: dict[str, bool]) -> None:
    puzzles = lines(data / "sudoku" / "sudoku10k.txt")
    assert len(puzzles) == 10_000
    assert_sound(deduce(puzzles, 9, **rules), search(puzzles, 9, limit=1).grids[:, 0])


def test_it_solves_all_easy_ones_of_others_but_one(data: Path) -> None:
    # The one that is left falls to dokusan only by its XY-wing that mistakes a wing for the pivot: no rule of the list
    # applies to it, as the plain program finds too.
    puzzles = lines(data / "sudoku" / "sudoku-easy50.txt")
    assert len(puzzles) == 50
    found = deduce(puzzles, 9)
    assert np.flatnonzero(~found.solved).tolist() == [6]
    assert not found.contradiction.any()
    assert int((found.hardest <= 1).sum()) == 40


def test_grades_tell_what_is_whole_from_what_is_not_solved() -> None:
    puzzles, solutions = generated()
    found = deduce(np.concatenate([puzzles[:200], solutions[:1]]), 9)
    assert found.grade[-1] == NOTHING_TO_DO
    assert (found.grade[:200][~found.solved[:200]] == UNSOLVED).all()
    for number in np.flatnonzero(found.solved[:200]):
        assert found.grade[number] == found.hardest[number]
        assert found.hardest_uses[number] == found.uses[number, found.hardest[number]] > 0


# Every step, by a plain reading of the rules


def assert_same_steps(puzzle: Grids, rules: dict[str, bool]) -> set[str]:
    """Each step is the strategy, and has all the instances, that the plain program finds at that state. The state is
    the plain program's own, so a value that was not forced by its strategy there would be found out."""
    expected_grid, expected = plain.deduce([int(value) for value in puzzle], **rules)
    taken = list(steps(puzzle, 9, **rules))
    for mine, (strategy, written, removed) in zip(taken, expected, strict=True):
        assert mine.strategy == strategy
        assert set(mine.written) == written
        if removed:
            assert set(mine.removed) == removed
    found = deduce(puzzle[None], 9, **rules)
    assert found.grids[0].tolist() == expected_grid
    assert found.uses[0].tolist() == [sum(name == one for name, _, _ in expected) for one in STRATEGIES]
    turns = {cell: (turn, name) for turn, (name, written, _) in enumerate(expected) for cell, _ in written}
    for cell in range(81):
        turn, name = turns.get(cell, (-1, None))
        assert found.round[0, cell] == turn
        assert found.rule[0, cell] == (-1 if name is None else STRATEGIES.index(name))
    order = found.order(0).tolist()
    assert order == sorted(turns, key=lambda cell: (turns[cell][0], cell))
    return {name for name, _, _ in expected}


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_every_step_is_what_the_rules_say(rules: dict[str, bool], replayed: int) -> None:
    puzzles, _ = generated()
    met = set().union(*(assert_same_steps(puzzle, rules) for puzzle in puzzles[:replayed]))
    assert met == set(STRATEGIES) - ({"unique rectangle"} if not rules.get("rectangle", True) else set())


def test_every_step_on_puzzles_of_others(data: Path) -> None:
    puzzles = lines(data / "sudoku" / "sudoku10k.txt")
    for puzzle in [*lines(data / "sudoku" / "sudoku-easy50.txt"), *puzzles[::500]]:
        assert_same_steps(puzzle, {})


# Symmetry


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_symmetries_leave_the_grade_alone_and_move_the_rounds(rules: dict[str, bool]) -> None:
    puzzles = torch.from_numpy(generated()[0].astype(np.int64))
    row = torch.arange(len(puzzles))
    symmetry = Symmetry.draw(9, 5, row, row * 0)
    before = deduce(puzzles.numpy().astype(np.int8), 9, **rules)
    after = deduce(symmetry.values(puzzles).numpy().astype(np.int8), 9, **rules)
    assert (before.uses == after.uses).all()
    assert (before.hardest == after.hardest).all()
    assert (before.solved == after.solved).all()
    for one, other in ((before.round, after.round), (before.rule, after.rule), (before.grids, after.grids)):
        moved = symmetry.places(torch.from_numpy(one.astype(np.int64)))
        if one is before.grids:
            moved = symmetry.values(torch.from_numpy(one.astype(np.int64)))
        assert torch.equal(moved, torch.from_numpy(other.astype(np.int64)))


# Corners


def test_a_full_grid_needs_nothing() -> None:
    solution = generated()[1][:1]
    found = deduce(solution, 9)
    assert bool(found.solved[0])
    assert found.hardest.tolist() == [-1]
    assert found.order(0).tolist() == []
    assert list(steps(solution[0], 9)) == []


def test_an_empty_grid_is_stuck_at_once() -> None:
    found = deduce(np.full((1, 81), -1, dtype=np.int8), 9)
    assert not found.solved[0]
    assert not found.contradiction[0]
    assert found.uses.sum() == 0
    assert (found.candidates == 2**9 - 1).all()


@pytest.mark.parametrize(
    "clues",
    [
        {0: 0, 1: 0},  # two clues clash
        {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 17: 8},  # the last cell of a row has no candidate
        {1: 1, 2: 2, 9: 3, 10: 4, 11: 5, 18: 6, 19: 7, 20: 8, 27: 0},  # the first cell of a box has none
        {0: 0, 10: 1, 30: 0, 57: 0, 20: 2, 4: 3, 5: 4},
    ],
    ids=["clash", "row", "box", "fine"],
)
def test_contradictions_are_told(clues: dict[int, int]) -> None:
    puzzle = np.full((1, 81), -1, dtype=np.int8)
    for cell, value in clues.items():
        puzzle[0, cell] = value
    possible = search(puzzle, 9, limit=1).count[0] == 1
    found = deduce(puzzle, 9, rectangle=False)
    assert found.contradiction[0] == (not possible)
    assert not found.solved[0]


@pytest.mark.parametrize("side", [4, 16])
def test_other_sides(side: int) -> None:
    solutions, given = generate(side, 1, 0, 30 if side == 4 else 3)
    puzzles = np.where(given, solutions, -1).astype(np.int8)
    found = deduce(puzzles, side)
    assert_sound(found, solutions)
    assert found.solved.any() or side == 16
