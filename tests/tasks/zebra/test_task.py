"""Zebra as rows: what stands where, what counts as solved, texts in and out, and decoding with stored beliefs."""

from __future__ import annotations

import numpy as np
import plain_zebra as plain
import pytest
import torch
from any_clues import Raw, made, raw
from hypothesis import given, settings
from hypothesis import strategies as some
from torch import Tensor

from unmask.decode import decode
from unmask.errors import UnmaskError
from unmask.state import Rows, State
from unmask.tasks.zebra import Zebra
from unmask.tasks.zebra.clues import HOUSE, KINDS, Clue, Puzzle, Puzzles
from unmask.tasks.zebra.generate import generate
from unmask.tasks.zebra.task import CLUE_TOKENS, KIND, NOTHING, rows, unpack

TASK = Zebra()


def test_a_row_is_the_clues_and_then_the_answer_in_place() -> None:
    puzzles, solutions = generate(2, 0, 30)
    found = rows(puzzles, solutions)
    assert found.coordinates is not None
    assert found.tokens.shape == (30, TASK.length)
    for number in range(30):
        puzzle, tokens, where = puzzles[number], found.tokens[number].tolist(), found.coordinates[number].tolist()
        present, known = found.present[number].tolist(), found.given[number].tolist()
        expected: dict[int, tuple[int, list[int]]] = {}
        for i, clue in enumerate(puzzle.clues):
            expected[4 * i] = (KIND + clue.kind, [-1, -1, i, 0])
            for part, (attribute, value) in enumerate(clue.operands, start=1):
                place = [value, -1] if attribute == HOUSE else [-1, attribute]
                expected[4 * i + part] = (attribute * 6 + value, [*place, i, part])
        assert all(known[at] for at in expected)
        for attribute in range(puzzle.attributes):
            for house in range(puzzle.houses):
                at = CLUE_TOKENS + 6 * attribute + house
                value = int(solutions[number, attribute, house])
                expected[at] = (6 * attribute + value, [house, attribute, -1, -1])
                assert not known[at]
        for at in range(TASK.length):
            assert present[at] == (at in expected)
            assert (tokens[at], where[at]) == expected.get(at, (NOTHING, [-1] * 4))


@settings(deadline=None, max_examples=100)
@given(raw(), some.integers(0, 2**32))
def test_there_and_back(numbers: Raw, seed: int) -> None:
    puzzle = made(numbers)
    grids = np.full((1, 6, 6), -1, dtype=np.int8)
    draw = np.random.default_rng(seed)
    for attribute in range(puzzle.attributes):
        grids[0, attribute, : puzzle.houses] = draw.permutation(puzzle.houses)
    found = rows(Puzzles.of([puzzle]), grids)
    again, same = unpack(found.tokens, found.present)
    assert again[0] == puzzle
    assert (same == grids).all()
    # and as text, whole or without the answer
    whole = TASK.parse(TASK.line(found.tokens[0]))
    assert torch.equal(whole.tokens, found.tokens)
    assert torch.equal(whole.given, found.present)
    alone = TASK.parse(TASK.line(found.tokens[0].masked_fill(~found.given[0] & found.present[0], -1)))
    assert torch.equal(alone.given, found.given)
    assert torch.equal(alone.present, found.present)


def test_solved_is_what_a_plain_reading_says() -> None:
    found = TASK.sample(60, seed=4)
    puzzles, grids = unpack(found.tokens, found.present)
    draw = np.random.default_rng(0)
    changed = grids.copy()
    for number in range(60):  # swap two values of an attribute, or name one twice
        attribute = draw.integers(puzzles.attributes[number])
        one, other = draw.choice(puzzles.houses[number], 2, replace=False)
        line = changed[number, attribute]
        line[one], line[other] = line[other], line[one] if number % 2 else line[other]
    measured = TASK.measure(rows(puzzles, changed))
    for number in range(60):
        puzzle = puzzles[number]
        house_of = plain.houses_of(changed[number], puzzle)
        missing = puzzle.attributes * puzzle.houses - (len(house_of) - puzzle.houses)
        broken = sum(
            not all(operand in house_of for operand in clue.operands) or not plain.holds(clue, puzzle.houses, house_of)
            for clue in puzzle.clues
        )
        assert int(measured["conflicts"][number]) == missing + broken > 0
        assert not measured["solved"][number]
    assert bool(TASK.measure(found)["solved"].all())


def test_nonsense_in_the_answer_is_not_solved() -> None:
    found = TASK.sample(4, seed=1)
    for token in (KIND, NOTHING, 5 * 6 + 1):
        tokens = found.tokens.clone()
        tokens[:, CLUE_TOKENS] = token
        assert not bool(TASK.measure(Rows(tokens, found.given, found.present))["solved"].any())


def test_a_row_can_be_decoded() -> None:
    found = TASK.sample(5, seed=3)

    def knows(state: State, asked: Tensor) -> Tensor:
        return torch.nn.functional.one_hot(found.tokens[state.row][asked], TASK.values).double() * 50

    final = decode(knows, found.start(), "margin, per_step(3), greedy").finish()
    assert torch.equal(final.tokens, found.tokens)
    assert bool(TASK.measure(final.rows)["solved"].all())


def test_pictures() -> None:
    found = TASK.parse(
        "There are 3 houses. Colors: red, green, blue. Nationalities: Norwegian, Dane, Swede. "
        "Drinks: tea, coffee, milk. The Dane lives between the Swede and house 1. House 3: blue."
    )
    hidden = found.tokens[0].masked_fill(found.present[0] & ~found.given[0], -1)
    assert TASK.render(hidden).splitlines()[4:] == [
        "1. The Dane lives somewhere between the Swede and the person in house 1.",
        "",
        "House          1  2  3",
        "Colors         .  .  blue",
        "Nationalities  .  .  .",
        "Drinks         .  .  .",
    ]
    signs = TASK.signs(hidden)
    assert signs[:4] == ["between", "Dane", "Swede", "1"]
    assert signs[CLUE_TOKENS : CLUE_TOKENS + 4] == [".", ".", "blue", ""]
    assert TASK.line(hidden).endswith("House 3: blue.")


def test_too_many_clues_for_a_row() -> None:
    clues = tuple(Clue(1, ((a, v), (b, w))) for a in range(3) for b in range(a) for v in range(4) for w in range(4))
    with pytest.raises(UnmaskError, match="the puzzle has 48 clues; a row of the task zebra has room for 31"):
        rows(Puzzles.of([Puzzle(4, 3, clues)]), np.full((1, 6, 6), -1, dtype=np.int8))


@pytest.mark.parametrize(
    ("clue", "message"),
    [
        (Clue(7, ((0, 0),)), "clue 1: kind 7 with 1 operands is no clue"),
        (Clue(0, ((0, 0),)), "clue 1: kind 0 with 1 operands is no clue"),
        (Clue(0, ((0, 0), (3, 0))), "clue 1 speaks of value 0 of attribute 3"),
        (Clue(0, ((0, 0), (HOUSE, 3))), "clue 1 speaks of value 3 of attribute 6"),
        (Clue(4, ((0, 0), (0, 0))), "clue 1 speaks twice of the same value"),
    ],
)
def test_what_is_no_clue(clue: Clue, message: str) -> None:
    with pytest.raises(UnmaskError, match=message):
        Puzzle(3, 3, (clue,))
    assert len(KINDS) == 7
