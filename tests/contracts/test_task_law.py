"""Every task keeps to the contract of tasks: rows that can be sampled, measured, drawn and read back."""

from __future__ import annotations

import pytest
import torch

from unmask import tasks
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


def test_sudoku_is_among_them() -> None:
    assert "sudoku4" in tasks.names()
    assert tasks.task("sudoku4") == Sudoku(4)


@pytest.mark.parametrize("wrong", ["", "sudoku_", "sodoku4", "sudoku5", "../sudoku4", "4", "os", "sudoku4 "])
def test_other_names_are_refused(wrong: str) -> None:
    with pytest.raises(UnmaskError, match=r"^there is no task .*sudoku") as caught:
        tasks.task(wrong)
    assert "\n" not in str(caught.value)
