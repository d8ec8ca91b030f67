"""Zebra data sets: what is the same but for symmetry is found out, splits do not share it, columns say what is so."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from any_clues import renamed
from numpy.typing import NDArray

from unmask.data.build import build
from unmask.data.dataset import Dataset, manifest
from unmask.errors import UnmaskError
from unmask.tasks import recipe_of
from unmask.tasks.zebra import Zebra, ZebraRecipe
from unmask.tasks.zebra.canonical import canonical, invariants
from unmask.tasks.zebra.clues import Puzzles
from unmask.tasks.zebra.dataset import rows
from unmask.tasks.zebra.deduce import SUPPOSE
from unmask.tasks.zebra.generate import generate
from unmask.tasks.zebra.search import search


@cache
def small() -> tuple[Puzzles, NDArray[np.int8]]:
    """There are few puzzles of this size: some are the same but for symmetry."""
    return generate(6, 0, 3000, houses=3, attributes=3)


def test_invariants_and_canonical_forms_do_not_see_symmetries() -> None:
    puzzles, solutions = generate(9, 0, 150)
    draw = np.random.default_rng(1)
    others = Puzzles.of([renamed(puzzles[number], draw) for number in range(150)])
    solved = search(others, limit=1).grids[:, 0]
    assert (invariants(puzzles, solutions) == invariants(others, solved)).all()
    for number in range(0, 150, 5):
        assert canonical(puzzles, solutions, number) == canonical(others, solved, number)


def test_equal_invariants_are_equal_forms_and_the_other_way_round() -> None:
    puzzles, solutions = small()
    numbers = invariants(puzzles, solutions).tolist()
    forms = [canonical(puzzles, solutions, number) for number in range(1500)]
    by_form: dict[tuple, set] = {}
    by_number: dict[int, set] = {}
    for form, number in zip(forms, numbers, strict=False):
        by_form.setdefault(form, set()).add(number)
        by_number.setdefault(number, set()).add(form)
    assert len(by_form) < 1500  # some are the same
    assert all(len(found) == 1 for found in by_form.values())
    assert sum(len(found) > 1 for found in by_number.values()) <= 1  # an invariant may err, but hardly ever does


def test_large_puzzles_are_all_different() -> None:
    puzzles, solutions = generate(2, 0, 3000, houses=5, attributes=5)
    assert len(set(invariants(puzzles, solutions).tolist())) == 3000


def test_parts_share_nothing_but_for_symmetry(tmp_path: Path) -> None:
    build(ZebraRecipe(1, 3, 3), 6000, tmp_path / "set")
    about = manifest(tmp_path / "set")
    forms: dict[str, list] = {}
    for name, entry in about["splits"].items():
        if not entry["rows"]:
            continue
        split = Dataset.open(tmp_path / "set", name)
        columns = {key: column.numpy() for key, column in split.batch(torch.arange(len(split))).items()}
        puzzles = Puzzles(columns["houses"], columns["attributes"], columns["clues"])
        grids = columns["solution"].reshape(-1, 6, 6)
        found = [canonical(puzzles, grids, number) for number in range(len(split))]
        forms.setdefault(name.split("-")[1], []).extend(found)
    train, validation, test = (forms[part] for part in ("train", "validation", "test"))
    assert not {*train} & {*test}
    assert not {*train} & {*validation}
    assert not {*validation} & {*test}
    assert len({*test}) == len(test) > 20
    assert len({*train}) < len(train)  # there was something to keep apart


def test_columns() -> None:
    recipe = ZebraRecipe(4)
    columns = recipe.make(10, 60)
    puzzles, solutions = generate(4, 10, 60)
    assert (columns["solution"].reshape(-1, 6, 6) == solutions).all()
    assert (columns["clues"] == puzzles.clues).all()
    assert ((columns["kind"] == 1) == (columns["grade"] >= SUPPOSE)).all()
    assert 0 < columns["kind"].mean() < 1
    made = rows({name: torch.from_numpy(column) for name, column in columns.items()})
    assert bool(Zebra().measure(made)["solved"].all())
    told = recipe.histograms(columns)
    assert all(sum(counts.values()) == 50 for title, counts in told.items() if title != "kinds of clue")
    assert sum(told["kinds of clue"].values()) == int((puzzles.clues[:, :, 0] >= 0).sum())
    assert recipe_of("zebra") is ZebraRecipe


def test_a_recipe_knows_what_is_the_same() -> None:
    recipe = ZebraRecipe(4, 4, 4)
    one, other = ({name: column[i : i + 1] for name, column in recipe.make(0, 2).items()} for i in range(2))
    assert recipe.same(one, one)
    assert not recipe.same(one, other)


@pytest.mark.parametrize(("houses", "attributes"), [(2, None), (None, 7), (7, 3)])
def test_sizes_that_are_not(houses: int | None, attributes: int | None) -> None:
    with pytest.raises(UnmaskError, match=r"a Zebra puzzle has 3 to 6 (houses|attributes), not"):
        ZebraRecipe(0, houses, attributes)
