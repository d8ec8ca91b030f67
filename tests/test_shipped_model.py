"""The model that comes with the package does what it is there to show, and keeps the loop's promises as nets can."""

from __future__ import annotations

import pytest
import torch

import unmask
from unmask.decode import decode
from unmask.evaluate import evaluate, wilson
from unmask.nets.transformer import Transformer
from unmask.tasks.sudoku import Sudoku
from unmask.wrappers.fixed_shape import fixed_shape

MARGIN, RANDOM = "margin, per_step(1), greedy", "random, per_step(1), greedy"


@pytest.fixture(scope="module")
def net() -> Transformer:
    return unmask.load("sudoku")


def test_the_order_is_what_decides(net: Transformer) -> None:
    rows = Sudoku(9).sample(40, 3)
    best, worst = (evaluate(net, rows, Sudoku(9), strategy) for strategy in (MARGIN, RANDOM))
    assert best.solved.double().mean() > worst.solved.double().mean() + 0.15
    assert torch.equal(best.calls, (~rows.given).sum(1))


def test_a_row_decodes_alike_in_any_batch_where_shapes_are_fixed(net: Transformer) -> None:
    rows = Sudoku(9).sample(5, 4)
    same = fixed_shape(net, rows=4)
    strategy = "margin, per_step(6), sample"
    whole = decode(same, rows.start(1), strategy).finish()
    for number in range(5):
        alone = rows.start(1).select(torch.tensor([number]))
        found = decode(same, alone, strategy).finish()
        assert torch.equal(found.tokens[0], whole.tokens[number])
        assert torch.equal(found.shown_probability[0].nan_to_num(), whole.shown_probability[number].nan_to_num())


def test_evaluation_does_not_depend_on_how_rows_are_put_together(net: Transformer) -> None:
    rows = Sudoku(9).sample(6, 5)
    strategy = "random, ancestral(4), sample"
    one, other = (evaluate(fixed_shape(net, rows=3), rows, Sudoku(9), strategy, batch=batch) for batch in (6, 4))
    assert torch.equal(one.solved, other.solved)
    assert torch.equal(one.calls, other.calls)
    assert one.about["of"] == 6


def test_the_interval_of_a_share() -> None:
    low, high = wilson(9, 10)
    assert (low, high) == (pytest.approx(0.5958, abs=1e-4), pytest.approx(0.9821, abs=1e-4))
    assert wilson(0, 10)[0] == 0
    assert wilson(10, 10)[1] == pytest.approx(1)
