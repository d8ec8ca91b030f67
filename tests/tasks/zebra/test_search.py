"""The exact solver: counts that brute force and somebody else's solver find, and puzzles that others wrote."""

from __future__ import annotations

import json
import random
import re
from itertools import permutations, product
from pathlib import Path

import numpy as np
import plain_zebra as plain
from any_clues import Raw, made, raw
from hypothesis import given, settings

from unmask.tasks.zebra.clues import HOUSE, Clue, Puzzle, Puzzles
from unmask.tasks.zebra.deduce import deduce
from unmask.tasks.zebra.search import search


@settings(deadline=None, max_examples=150)
@given(raw(most=3))
def test_counts_are_those_of_brute_force(numbers: Raw) -> None:
    puzzle = made(numbers)
    lines = list(permutations(range(3)))
    expected = set()
    for grid in product(lines, repeat=3):
        house_of = plain.houses_of(grid, puzzle)
        if all(plain.holds(clue, 3, house_of) for clue in puzzle.clues):
            expected.add(grid)
    found = search(Puzzles.of([puzzle]), limit=300)
    assert found.count[0] == len(expected)
    grids = found.grids[0, : found.count[0], :3, :3].tolist()
    assert {tuple(map(tuple, grid)) for grid in grids} == expected


@settings(deadline=None, max_examples=60)
@given(raw())
def test_counts_are_those_of_another_solver(numbers: Raw) -> None:
    puzzle = made(numbers)
    assert search(Puzzles.of([puzzle]), limit=3).count[0] == plain.count(puzzle, limit=3)


@settings(deadline=None, max_examples=150)
@given(raw())
def test_deduction_agrees_also_where_clues_contradict_each_other(numbers: Raw) -> None:
    puzzle = made(numbers)
    counted, found = search(Puzzles.of([puzzle]), limit=2), deduce(Puzzles.of([puzzle]))
    if counted.count[0] == 0:
        assert not found.solved[0]
    else:
        assert not found.contradiction[0]
        written = found.grids[0] >= 0
        assert (found.grids[0][written] == counted.grids[0, 0][written]).all()
        assert found.solved[0] <= (counted.count[0] == 1)


def test_what_is_known_besides_the_clues_counts() -> None:
    empty = Puzzles.of([Puzzle(3, 3, ())])
    assert search(empty, limit=300).count[0] == 216
    known = np.full((1, 6, 6), -1, dtype=np.int8)
    known[0, 1, 2] = 0
    found = search(empty, limit=300, known=known)
    assert found.count[0] == 72
    assert (found.grids[0, :72, 1, 2] == 0).all()
    known[0, 1, 1] = 0
    assert search(empty, limit=300, known=known).count[0] == 0


# Puzzles of others: "same" and "not the same", persons in no order, so that one attribute can stand for the houses.


def of_others(entry: dict) -> Puzzle:
    """One of 99 puzzles as clues: its first attribute is the house."""
    clues = []
    for text in entry["clues"]:
        says = re.match(r"The person with (.+) (also has|does not have) (.+)\.$", text)
        assert says is not None, text
        operands = []
        for part in (says.group(1), says.group(3)):
            named = [  # one puzzle has two attributes of the same name
                (HOUSE if number == 0 else number - 1, value)
                for number, kind in enumerate(entry["dimensions"])
                for value, name in enumerate(entry["entities"][number])
                if part == f"{kind} {name}"
            ]
            operands.append(named[0])
        clues.append(Clue(0 if says.group(2) == "also has" else 1, tuple(operands)))
    return Puzzle(entry["num_persons"], len(entry["dimensions"]) - 1, tuple(clues))


def test_puzzles_of_others(data: Path) -> None:
    entries = json.loads((data / "zebra" / "zebra_puzzles_gurobi_100.json").read_text(encoding="utf-8"))
    assert len(entries) == 99
    read = [of_others(entry) for entry in entries]
    found = search(Puzzles.of(read), limit=10)
    several = {entry["puzzle_id"]: int(count) for entry, count in zip(entries, found.count, strict=True) if count != 1}
    assert set(several) == {3056, 3088}
    for number in random.Random(0).sample(range(99), 20):
        assert plain.count(read[number], limit=10) == found.count[number]
    deduced = deduce(Puzzles.of(read))
    assert deduced.contradiction.sum() <= (found.count == 0).sum() <= 2
    written = (deduced.grids >= 0) & (found.count == 1)[:, None, None]
    assert (deduced.grids[written] == found.grids[:, 0][written]).all()
