"""Triplets: clues first, then the order that was asked for, coordinates that do not look ahead, and the way back."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some
from torch import Tensor

from unmask.tasks import triplets
from unmask.tasks.sudoku import Sudoku
from unmask.tasks.sudoku.dataset import SudokuRecipe, rows
from unmask.tasks.sudoku.deduce import deduce
from unmask.tasks.sudoku.sequence import coordinates, grid, sequence, solve_turns

BATCH = 12


def batch(seed: int = 3) -> dict[str, Tensor]:
    return {name: torch.from_numpy(column) for name, column in SudokuRecipe(seed).make(0, BATCH).items()}


def orders(columns: dict[str, Tensor], seed: int = 0) -> dict[str, Tensor]:
    row = torch.arange(BATCH)
    return {
        "solver": solve_turns(columns),
        "fixed": triplets.fixed_turns(columns["given"]),
        "random": triplets.random_turns(columns["given"], seed, row, row * 0),
    }


@pytest.mark.parametrize("order", ["solver", "fixed", "random"])
def test_a_sequence_is_the_clues_and_then_the_rest_in_order(order: str) -> None:
    columns = batch()
    turn = orders(columns)[order]
    made = sequence(rows(columns), turn)
    assert made.tokens.shape == (BATCH, 243)
    assert bool(made.present.all())
    for number in range(BATCH):
        known = columns["given"][number]
        clues = int(known.sum())
        assert made.given[number].tolist() == [True] * (3 * clues) + [False] * (243 - 3 * clues)
        by_turn = sorted(range(81), key=lambda cell: (not known[cell], int(turn[number, cell])))
        expected = [(c // 9, c % 9, int(columns["solution"][number, c])) for c in by_turn]
        assert made.tokens[number].view(81, 3).tolist() == [list(triplet) for triplet in expected]
        assert [bool(known[c]) for c in by_turn] == [True] * clues + [False] * (81 - clues)
    assert torch.equal(grid(made.tokens), columns["solution"].long())


def test_the_solver_s_order_is_its_rounds() -> None:
    columns = batch()
    turn = solve_turns(columns)
    puzzles = np.where(columns["given"].numpy(), columns["solution"].numpy(), -1).astype(np.int8)
    found = deduce(puzzles, 9)
    assert bool(found.solved.any())
    assert not bool(found.solved.all())
    for number in range(BATCH):
        clues = int(columns["given"][number].sum())
        order = turn[number].argsort()[clues:].tolist()
        reached = found.order(number).tolist()
        assert order[: len(reached)] == reached
        assert order[len(reached) :] == sorted(order[len(reached) :])


def test_random_orders_differ_by_row_and_step_and_are_even() -> None:
    known = torch.zeros(4000, 4, dtype=torch.bool)
    row = torch.arange(4000)
    turn = triplets.random_turns(known, 0, row, row * 0)
    assert torch.equal(turn, triplets.random_turns(known, 0, row, row * 0))
    assert not torch.equal(turn, triplets.random_turns(known, 0, row, row * 0 + 1))
    assert not torch.equal(turn, triplets.random_turns(known, 1, row, row * 0))
    _, counts = turn.unique(dim=0, return_counts=True)
    assert len(counts) == 24
    assert float(((counts - 4000 / 24) ** 2 / (4000 / 24)).sum()) < 49.7  # chi-square, 23 degrees, p = 0.001


@settings(deadline=None, max_examples=100)
@given(some.integers(0, 242), some.integers(0, 2**32))
def test_coordinates_do_not_look_ahead(position: int, seed: int) -> None:
    columns = batch()
    tokens = sequence(rows(columns), orders(columns, seed)["random"]).tokens
    before = coordinates(tokens)
    other = tokens.clone()
    draw = torch.Generator().manual_seed(seed)
    other[:, position + 1 :] = torch.randint(0, 9, other[:, position + 1 :].shape, generator=draw)
    after = coordinates(other)
    assert torch.equal(before[:, : position + 1], after[:, : position + 1])
    # and what they do say is right
    row, column, _ = tokens.view(BATCH, 81, 3).unbind(2)
    inside = row // 3 * 3 + column // 3
    unknown = torch.full_like(row, -1)
    told = torch.stack(
        [torch.stack([row, unknown, unknown], 2), *[torch.stack([row, column, inside], 2)] * 2], dim=2
    ).flatten(1, 2)
    assert torch.equal(before, told)


@pytest.mark.parametrize("side", [4, 9, 16])
def test_a_beginning_has_the_beginning_of_the_coordinates(side: int) -> None:
    made = sequence(Sudoku(side).sample(2, 0), torch.arange(side * side).expand(2, -1))
    assert made.coordinates is not None
    for length in range(made.tokens.shape[1] + 1):
        assert torch.equal(coordinates(made.tokens[:, :length], side), made.coordinates[:, :length])
    assert bool((grid(made.tokens[:, :20], side) >= 0).sum(1).eq(6).all())


def test_a_start_tells_nothing_of_the_answer() -> None:
    columns = batch()
    for order, turn in orders(columns).items():
        state = sequence(rows(columns), turn).start()
        assert state.coordinates is not None, order
        assert bool((state.coordinates[state.hidden] == -1).all())
        assert bool((state.coordinates[state.given] >= 0).any())


def test_coordinates_of_what_is_hidden_are_unknown() -> None:
    columns = batch()
    made = sequence(rows(columns), orders(columns)["fixed"])
    hidden = made.tokens.masked_fill(~made.given, -1)
    found = coordinates(hidden)
    assert bool((found[~made.given] == -1).all())
    assert torch.equal(found[made.given], made.coordinates[made.given])


@settings(deadline=None, max_examples=200)
@given(some.sampled_from([4, 9, 16]), some.integers(0, 2**32), some.floats(0, 1))
def test_there_and_back(side: int, seed: int, share: float) -> None:
    draw = torch.Generator().manual_seed(seed)
    cells = side * side
    values = torch.randint(0, side, (3, cells), generator=draw)
    known = torch.rand(3, cells, generator=draw) < share
    made = sequence(Sudoku(side).rows(values, known), torch.rand(3, cells, generator=draw).argsort(1))
    assert torch.equal(grid(made.tokens, side), values)
    assert torch.equal(grid(made.tokens.masked_fill(~made.given, -1), side), values.masked_fill(~known, -1))


def test_the_first_triplet_of_a_cell_counts_and_nonsense_does_not() -> None:
    places = torch.tensor([[0, 0], [0, 1]])
    tokens = torch.tensor([[0, 1, 5, 7, 7, 3, 0, 1, 6, 0, 0, -1, -1, 0, 2]])
    assert triplets.read(tokens, places).tolist() == [[-1, 5]]


def test_what_is_absent_is_left_out() -> None:
    values = torch.tensor([[4, 5, 6]])
    places = torch.tensor([[0, 0], [0, 1], [1, 0]])
    there = torch.tensor([[True, False, True]])
    made = triplets.write(values, places, torch.tensor([[2, 1, 0]]), there)
    assert made.tolist() == [[1, 0, 6, 0, 0, 4, -1, -1, -1]]
    assert triplets.read(made, places).tolist() == [[4, -1, 6]]
    assert triplets.whereabouts(made[:, :5]).tolist() == [[[1, -1], [1, 0], [1, 0], [0, -1], [0, 0]]]
