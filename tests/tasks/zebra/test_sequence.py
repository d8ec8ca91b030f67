"""Zebra as one sequence: the paper's serialisation, coordinates that do not look ahead, and the way back."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some
from torch import Tensor

from unmask.tasks import triplets
from unmask.tasks.zebra.clues import HOUSE
from unmask.tasks.zebra.dataset import ZebraRecipe, rows
from unmask.tasks.zebra.deduce import deduce
from unmask.tasks.zebra.generate import generate
from unmask.tasks.zebra.sequence import (
    ANSWER,
    CLUE_END,
    END,
    FIRST_KIND,
    LENGTH,
    NUMBER,
    OF,
    VALUES,
    coordinates,
    grid,
    sequence,
    solve_turns,
)

BATCH = 40


@cache
def batch(seed: int = 3) -> dict[str, Tensor]:
    return {name: torch.from_numpy(column) for name, column in ZebraRecipe(seed).make(0, BATCH).items()}


def orders(columns: dict[str, Tensor], seed: int = 0) -> dict[str, Tensor]:
    row, known = torch.arange(BATCH), torch.zeros(BATCH, 36, dtype=torch.bool)
    return {
        "solver": solve_turns(columns),
        "fixed": triplets.fixed_turns(known),
        "random": triplets.random_turns(known, seed, row, row * 0),
    }


def spelt(number: int, turn: Tensor) -> tuple[list[int], list[list[int]], int]:
    """Tokens and coordinates of one row, written out plainly, and how many of them are the prompt."""
    puzzles, solutions = generate(3, 0, BATCH)
    puzzle, tokens, where = puzzles[number], [], []
    for i, clue in enumerate(puzzle.clues):
        begin = len(tokens)
        tokens.append(FIRST_KIND + clue.kind)
        where.append([-1, -1])
        for attribute, value in clue.operands:
            numbered = attribute == HOUSE
            tokens += [NUMBER if numbered else OF, attribute, value]
            where += [[-1, -1], [-1, -1 if numbered else attribute], [value, -1] if numbered else [-1, attribute]]
        tokens.append(CLUE_END)
        where.append([-1, -1])
        where[begin:] = [[*place, i, part] for part, place in enumerate(where[begin:])]
    tokens.append(ANSWER)
    where.append([-1] * 4)
    prompt = len(tokens)
    cells = [(a, h) for a in range(puzzle.attributes) for h in range(puzzle.houses)]
    for attribute, house in sorted(cells, key=lambda cell: int(turn[6 * cell[0] + cell[1]])):
        tokens += [house, attribute, int(solutions[number, attribute, house])]
        where += [[house, -1, -1, -1], [house, attribute, -1, -1], [house, attribute, -1, -1]]
    return tokens, where, prompt


@pytest.mark.parametrize("order", ["solver", "fixed", "random"])
def test_a_sequence_is_the_clues_and_then_the_answer_in_order(order: str) -> None:
    columns = batch()
    turn = orders(columns)[order]
    made = sequence(rows(columns), turn)
    assert made.coordinates is not None
    assert made.tokens.shape == (BATCH, LENGTH)
    assert LENGTH <= 457
    assert 0 <= int(made.tokens.min()) <= int(made.tokens.max()) < VALUES
    for number in range(BATCH):
        tokens, where, prompt = spelt(number, turn[number])
        behind = LENGTH - len(tokens)
        assert made.tokens[number].tolist() == tokens + [END] * behind
        assert made.coordinates[number].tolist() == where + [[-1] * 4] * behind
        assert made.given[number].tolist() == [True] * prompt + [False] * (LENGTH - prompt)
        assert made.present[number].tolist() == [True] * len(tokens) + [False] * behind
    assert torch.equal(grid(made.tokens), columns["solution"].long())


def test_the_solver_s_order_is_its_rounds() -> None:
    columns = batch()
    turn = solve_turns(columns)
    found = deduce(generate(3, 0, BATCH)[0])
    for number in range(BATCH):
        reached = found.order(number).tolist()
        assert turn[number].argsort().tolist()[: len(reached)] == reached


@settings(deadline=None, max_examples=100)
@given(some.integers(0, LENGTH - 1), some.integers(0, 2**32))
def test_coordinates_do_not_look_ahead(position: int, seed: int) -> None:
    columns = batch()
    tokens = sequence(rows(columns), orders(columns, seed)["random"]).tokens
    other = tokens.clone()
    draw = torch.Generator().manual_seed(seed)
    other[:, position + 1 :] = torch.randint(-1, VALUES, other[:, position + 1 :].shape, generator=draw)
    assert torch.equal(coordinates(tokens)[:, : position + 1], coordinates(other)[:, : position + 1])


def test_a_beginning_has_the_beginning_of_the_coordinates() -> None:
    columns = batch()
    made = sequence(rows(columns), orders(columns)["solver"])
    assert made.coordinates is not None
    for length in range(LENGTH + 1):
        assert torch.equal(coordinates(made.tokens[:, :length]), made.coordinates[:, :length])
        assert grid(made.tokens[:, :length]).shape == (BATCH, 36)


@settings(deadline=None, max_examples=50)
@given(some.integers(0, 2**32))
def test_anything_can_be_read(seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    tokens = torch.randint(-1, VALUES, (8, LENGTH), generator=draw)
    told = coordinates(tokens)
    assert told.shape == (8, LENGTH, 4)
    assert int(told.min()) >= -1
    found = grid(tokens)
    assert found.shape == (8, 36)
    assert -1 <= int(found.min()) <= int(found.max()) < 6


def test_a_start_tells_nothing_of_the_answer() -> None:
    columns = batch()
    state = sequence(rows(columns), orders(columns)["solver"]).start()
    assert state.coordinates is not None
    assert bool((state.coordinates[state.hidden] == -1).all())
    cells = rows(columns).start()
    assert cells.coordinates is not None
    assert bool((cells.coordinates[cells.hidden][:, :2] >= 0).all())  # where a cell is, it says itself


def test_what_is_hidden_is_not_told_or_read() -> None:
    columns = batch()
    made = sequence(rows(columns), orders(columns)["fixed"])
    hidden = made.tokens.masked_fill(~made.given, -1)
    assert bool((coordinates(hidden)[~made.given] == -1).all())
    assert bool((grid(hidden) == -1).all())
