"""Every task keeps to the contract of tasks: rows that can be sampled, measured, drawn and read back."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
import torch

from unmask import tasks
from unmask.data import Recipe
from unmask.errors import UnmaskError
from unmask.tasks.sudoku import Sudoku


@pytest.mark.parametrize("name", tasks.names())
def test_every_name_is_a_task(name: str) -> None:
    found = tasks.task(name)
    assert isinstance(found, tasks.Task)
    assert found.name == name
    rows = found.sample(3, seed=1)
    assert rows.tokens.shape == (3, found.length)
    known = rows.tokens[rows.present]
    assert 0 <= int(known.min()) <= int(known.max()) < found.values
    measured = found.measure(rows)
    assert measured
    assert all(len(numbers) == 3 for numbers in measured.values())
    if "solved" in measured:
        assert bool(measured["solved"].all())
    again = found.parse(found.line(rows.tokens[0]))
    assert torch.equal(again.tokens[0], rows.tokens[0])
    assert found.render(rows.tokens[0])
    assert "\n" not in found.line(rows.tokens[0])
    # what a picture shows: a sign for each position, in lines of equal length, everything that is not given among it
    assert len(found.signs(rows.tokens[0])) == found.length
    assert len(found.board) % found.columns == 0
    assert set((rows.present[0] & ~rows.given[0]).nonzero().flatten().tolist()) <= {*found.board}


RECIPES = sorted({tasks.recipe_of(name) for name in tasks.names()}, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", RECIPES, ids=lambda kind: kind.__name__)
def test_an_example_is_a_matter_of_the_recipe_and_its_number(kind: type[Recipe]) -> None:
    recipe = kind()
    assert isinstance(recipe, Recipe)
    assert pickle.loads(pickle.dumps(recipe)) == recipe == kind(**dataclasses.asdict(recipe))
    assert tasks.recipe_of(recipe.task) is kind
    whole = recipe.make(0, 30)
    parts = [recipe.make(begin, end) for begin, end in ((0, 1), (1, 17), (17, 17), (17, 30))]
    for name, column in whole.items():
        assert len(column) == 30
        assert (np.concatenate([part[name] for part in parts]) == column).all()
    assert set(np.unique(whole["kind"])) <= set(range(len(recipe.kinds)))
    assert whole["group"].dtype == np.int64
    one, other = ({name: column[number : number + 1] for name, column in whole.items()} for number in (0, 1))
    assert recipe.same(one, one)
    assert not recipe.same(one, other)
    assert all(counts for counts in recipe.histograms(whole).values())


@pytest.mark.parametrize("name", tasks.names())
def test_solvers_solve_what_the_task_makes(name: str) -> None:
    problem = tasks.task(name)
    rows = problem.sample(3, seed=2)
    for solve in tasks.solvers_of(name).values():
        for number in range(3):
            puzzle = problem.line(rows.tokens[number].masked_fill(rows.present[number] & ~rows.given[number], -1))
            found = solve(puzzle)
            assert found.steps
            assert found.before != found.after
            if found.solved:
                assert found.line in problem.line(rows.tokens[number])


def test_sudoku_is_among_them() -> None:
    assert "sudoku4" in tasks.names()
    assert tasks.task("sudoku4") == Sudoku(4)


@pytest.mark.parametrize("wrong", ["", "sudoku_", "sodoku4", "sudoku5", "../sudoku4", "4", "os", "sudoku4 "])
def test_other_names_are_refused(wrong: str) -> None:
    with pytest.raises(UnmaskError, match=r"^there is no task .*sudoku") as caught:
        tasks.task(wrong)
    assert "\n" not in str(caught.value)
