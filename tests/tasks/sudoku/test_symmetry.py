"""Symmetries keep grids grids, are all met, are undone by their inverse; canonical forms see through them."""

from __future__ import annotations

import itertools

import numpy as np
import plain_sudoku as plain
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some
from torch import Tensor

from unmask.errors import UnmaskError
from unmask.tasks.sudoku import Sudoku, SudokuRecipe
from unmask.tasks.sudoku.canonical import canonical, invariants
from unmask.tasks.sudoku.generate import generate
from unmask.tasks.sudoku.search import search
from unmask.tasks.sudoku.symmetry import Symmetry

SIDES = some.sampled_from([4, 9, 16])
SEEDS = some.integers(0, 2**32)


def drawn(side: int, seed: int, count: int) -> Symmetry:
    row = torch.arange(count)
    return Symmetry.draw(side, seed, row, row * 0)


def puzzles(side: int, count: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    rows = Sudoku(side).sample(count, seed)
    return rows.tokens, rows.given


@settings(deadline=None, max_examples=60)
@given(SIDES, SEEDS)
def test_a_grid_stays_a_grid_and_clues_move_along(side: int, seed: int) -> None:
    tokens, known = puzzles(side, 3)
    symmetry = drawn(side, seed, 3)
    moved, clues = symmetry.values(tokens), symmetry.places(known)
    rows = Sudoku(side).rows(moved, clues)
    assert bool(Sudoku(side).measure(rows)["solved"].all())
    assert torch.equal(symmetry.values(tokens.masked_fill(~known, -1)), moved.masked_fill(~clues, -1))
    places = torch.from_numpy(Sudoku(side).geometry.units)
    for number in range(3):  # units are sent to units
        sent = {tuple(sorted(symmetry.inverse().cells[number][unit].tolist())) for unit in places}
        assert sent == {tuple(sorted(unit.tolist())) for unit in places}


@settings(deadline=None, max_examples=60)
@given(SIDES, SEEDS)
def test_the_inverse_undoes_it(side: int, seed: int) -> None:
    tokens, known = puzzles(side, 2)
    symmetry = drawn(side, seed, 2)
    assert torch.equal(symmetry.inverse().values(symmetry.values(tokens)), tokens)
    assert torch.equal(symmetry.inverse().places(symmetry.places(known)), known)


def test_all_arrangements_are_met_equally_often() -> None:
    # 4x4: 2 * (2 * 2 * 2)^2 = 128 arrangements of cells, 24 names of digits.
    symmetry = drawn(4, 1, 20_000)
    cells, counts = symmetry.cells.unique(dim=0, return_counts=True)
    assert len(cells) == 128
    assert float(((counts - 156.25) ** 2 / 156.25).sum()) < 182  # chi-square, 127 degrees, p = 0.001
    digits, counts = symmetry.digits.unique(dim=0, return_counts=True)
    assert len(digits) == 24
    assert float(((counts - 20_000 / 24) ** 2 / (20_000 / 24)).sum()) < 49.7  # 23 degrees


def test_it_is_a_matter_of_seed_row_and_step() -> None:
    row = torch.arange(6)
    one = Symmetry.draw(9, 3, row, row * 0)
    part = Symmetry.draw(9, 3, row[4:], row[4:] * 0)
    assert torch.equal(one.cells[4:], part.cells)
    assert torch.equal(one.digits[4:], part.digits)
    assert not torch.equal(one.cells, Symmetry.draw(9, 3, row, row * 0 + 1).cells)
    assert not torch.equal(one.cells, Symmetry.draw(9, 4, row, row * 0).cells)


# Which puzzles are the same


@settings(deadline=None, max_examples=16)
@given(some.sampled_from([4, 9]), SEEDS)
def test_the_invariant_and_the_canonical_form_do_not_see_symmetries(side: int, seed: int) -> None:
    tokens, known = puzzles(side, 1, seed % 50)
    symmetry = drawn(side, seed, 1)
    one = tokens.numpy().astype(np.int8), known.numpy()
    other = symmetry.values(tokens).numpy().astype(np.int8), symmetry.places(known).numpy()
    assert invariants(*one, side).tolist() == invariants(*other, side).tolist()
    first, second = (canonical(grid[0], clues[0], side) for grid, clues in (one, other))
    assert (first == second).all()
    assert first[0].sum() == known.sum()  # it is an arrangement of the puzzle
    assert search(first[1:], side).count[0] == 1


def test_different_puzzles_have_different_invariants() -> None:
    grids, known = generate(9, 5, 0, 5000)
    found = invariants(grids, known, 9)
    assert len(set(found.tolist())) == 5000
    fewer = known.copy()
    fewer[np.arange(5000), known.argmax(axis=1)] = False
    assert len({*found.tolist(), *invariants(grids, fewer, 9).tolist()}) == 10_000


def test_4x4_forms_are_the_classes_that_brute_force_finds() -> None:
    # All puzzles on two cells of all 288 grids; which of them a symmetry takes into each other, by trying all.
    grids = Sudoku(4).support()[::16]
    pairs = list(itertools.combinations(range(16), 2))[::9]
    arrangements = drawn(4, 0, 4000).cells.unique(dim=0)
    assert len(arrangements) == 128
    forms: dict[tuple, set] = {}
    for grid in grids:
        for pair in pairs:
            known = torch.zeros(16, dtype=torch.bool)
            known[list(pair)] = True
            form = canonical(grid.numpy().astype(np.int8), known.numpy(), 4)
            names = torch.stack([first_seen(values) for values in grid[arrangements]])
            least = min(
                tuple(known[cells].tolist()) + tuple(n) for cells, n in zip(arrangements, names.tolist(), strict=True)
            )
            assert tuple(form[0].tolist()) + tuple(form[1].tolist()) == tuple(int(x) for x in least)
            invariant = int(invariants(grid[None].numpy().astype(np.int8), known[None].numpy(), 4)[0])
            forms.setdefault(least, set()).add(invariant)
    assert all(len(found) == 1 for found in forms.values())


def first_seen(values: Tensor) -> Tensor:
    """Digits named in the order in which they appear."""
    names: dict[int, int] = {}
    return torch.tensor([names.setdefault(value, len(names)) for value in values.tolist()])


def test_a_recipe_knows_what_is_the_same() -> None:
    recipe = SudokuRecipe(4)
    columns = {name: column[:1] for name, column in recipe.make(0, 2).items()}
    other = {name: column[1:] for name, column in recipe.make(0, 2).items()}
    symmetry = drawn(9, 9, 1)
    moved = columns | {
        "solution": symmetry.values(torch.from_numpy(columns["solution"]).long()).numpy().astype(np.uint8),
        "given": symmetry.places(torch.from_numpy(columns["given"])).numpy(),
    }
    assert recipe.same(columns, moved)
    assert not recipe.same(columns, other)
    same_grid = columns | {"given": ~columns["given"]}
    assert not recipe.same(columns, same_grid)


def test_16x16_has_too_many_arrangements() -> None:
    with pytest.raises(UnmaskError, match="too many arrangements"):
        canonical(np.zeros(256, dtype=np.int8), np.zeros(256, dtype=np.bool_), 16)


def test_peers_are_where_the_plain_program_has_them() -> None:
    tables = Sudoku(9).geometry
    assert [set(peers.tolist()) for peers in tables.peers] == plain.PEERS
    assert sorted(map(sorted, tables.units.tolist())) == sorted(map(sorted, plain.UNITS))
