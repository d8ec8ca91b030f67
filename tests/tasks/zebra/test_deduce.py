"""The deduction solver: every step as a plain reading of the rules has it, sound, the same for all that is the same."""

from __future__ import annotations

from functools import cache

import numpy as np
import plain_zebra as plain
import pytest
from any_clues import renamed
from numpy.typing import NDArray

from unmask.tasks.solving import UNSOLVED
from unmask.tasks.zebra.clues import HOUSE, Clue, Puzzle, Puzzles
from unmask.tasks.zebra.deduce import RULES, SUPPOSE, deduce, steps
from unmask.tasks.zebra.generate import generate
from unmask.tasks.zebra.search import search


@cache
def generated() -> tuple[Puzzles, NDArray[np.int8]]:
    return generate(11, 0, 4000)


def test_the_plain_program_has_the_same_rules() -> None:
    assert RULES[:SUPPOSE] == plain.PROPAGATION
    assert RULES[SUPPOSE] == "supposition"


def test_it_is_sound_and_suppositions_solve_what_propagation_leaves() -> None:
    puzzles, solutions = generated()
    for suppose in (False, True):
        found = deduce(puzzles, suppose=suppose)
        written = found.grids >= 0
        assert not found.contradiction.any()
        assert (found.grids[written] == solutions[written]).all()
        house = np.zeros((len(puzzles), 6, 6), dtype=np.int64)
        number, attribute, at = np.nonzero(solutions >= 0)
        house[number, attribute, solutions[number, attribute, at]] = at
        there = np.zeros_like(house, dtype=np.bool_)
        there[number, attribute, solutions[number, attribute, at]] = True
        assert ((found.possible[:, :6] >> house & 1)[there] == 1).all()
        assert ((found.round >= 0) == written).all()
        assert ((found.rule >= 0) == written).all()
        assert (found.solved == (written.sum((1, 2)) == puzzles.houses.astype(int) * puzzles.attributes)).all()
        if not suppose:
            alone = found.solved
    assert 0.40 < alone.mean() < 0.55
    assert found.solved.mean() > 0.999
    # What propagation solves is not supposed.
    assert (found.hardest[alone] < SUPPOSE).all()
    assert (found.hardest[~alone] == SUPPOSE).all()
    assert (found.grade[found.solved] == found.hardest[found.solved]).all()
    assert (found.grade[~found.solved] == UNSOLVED).all()


@pytest.mark.parametrize("suppose", [True, False])
def test_every_step_is_that_of_the_plain_program(suppose: bool) -> None:
    puzzles, _ = generate(2, 0, 60)
    rules = RULES if suppose else RULES[:SUPPOSE]
    used: set[str] = set()
    found = deduce(puzzles, suppose=suppose)
    for number in range(len(puzzles)):
        puzzle = puzzles[number]
        expected = plain.deduce(puzzle, rules)
        taken = list(steps(puzzle, suppose=suppose))
        assert [step.rule for step in taken] == [rule for rule, _ in expected]
        used |= {step.rule for step in taken}
        before = {(a, v): set(range(puzzle.houses)) for a in range(puzzle.attributes) for v in range(puzzle.houses)}
        when = {}
        for turn, (step, (rule, possible)) in enumerate(zip(taken, expected, strict=True)):
            after = {value: possible[value] for value in before}
            gone = {(a, h, v) for (a, v), houses in before.items() for h in houses - after[a, v]}
            assert set(step.removed) == gone
            written = {(a, *after[a, v], v) for a, v in after if len(after[a, v]) == 1 < len(before[a, v])}
            assert set(step.written) == written
            when |= {(a, h): turn for a, h, _ in written}
            acting = [i for i, clue in enumerate(puzzle.clues, 1) if rule == f"clue: {plain.KINDS[clue.kind]}"]
            assert set(step.clues) <= set(acting)
            assert bool(step.clues) == rule.startswith("clue")
            before = after
        assert {
            (a, h): int(found.round[number, a, h]) for a, h in zip(*np.nonzero(found.round[number] >= 0), strict=True)
        } == when
        assert found.order(number).tolist() == sorted(
            (6 * a + h for a, h in when), key=lambda c: (when[divmod(c, 6)], c)
        )
    assert used >= {"the house is taken", "nothing else fits", *(f"clue: {kind}" for kind in plain.KINDS)}


def test_a_clue_that_acts_is_named() -> None:
    puzzle = Puzzle(3, 3, (Clue(0, ((0, 1), (HOUSE, 2))), Clue(0, ((1, 1), (2, 2)))))
    first = next(steps(puzzle))
    assert first.clues == (1,)
    assert first.written == ((0, 2, 1),)


def test_the_grade_is_the_same_for_what_is_the_same() -> None:
    puzzles, _ = generated()
    draw = np.random.default_rng(0)
    others = Puzzles.of([renamed(puzzles[number], draw) for number in range(600)])
    first = Puzzles(puzzles.houses[:600], puzzles.attributes[:600], puzzles.clues[:600])
    assert (search(others).count == 1).all()
    one, other = deduce(first), deduce(others)
    assert (one.grade == other.grade).all()
    assert (one.uses == other.uses).all()
    assert (np.sort(one.round.reshape(600, -1)) == np.sort(other.round.reshape(600, -1))).all()


def test_what_is_known_is_taken_up() -> None:
    known = np.full((1, 6, 6), -1, dtype=np.int8)
    for attribute in range(3):
        known[0, attribute, :2] = [2, 0]
    puzzle = Puzzle(3, 3, ())
    found = deduce(Puzzles.of([puzzle]), known=known)
    assert found.solved[0]
    assert found.grids[0, :3, :3].tolist() == [[2, 0, 1]] * 3
    assert (found.round[0, :3, :2] == -1).all()
    assert [step.rule for step in steps(puzzle, known=known[0])] == ["the house is taken"]
