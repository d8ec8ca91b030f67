"""What hands type first and wrong: one line that says what to do."""

from __future__ import annotations

from typing import Any

import pytest
from toys import Toy, blank

import unmask
from unmask.errors import UnmaskError

STATE = blank(2, 12)


@pytest.mark.parametrize(
    ("state", "strategy", "message"),
    [
        (
            unmask.task("sudoku4").sample(2, 0),
            "margin, per_step(1), greedy",
            r"expected a State, got a Rows; rows have \.start",
        ),
        ("1... ..2. .3.. ...4", "margin, per_step(1), greedy", "expected a State, got a str"),
        (
            STATE,
            (unmask.margin(), unmask.per_step(1), unmask.greedy()),
            r"expected a Strategy, got a tuple; .*Strategy\.of",
        ),
        (STATE, unmask.margin(), "expected a Strategy, got a margin"),
    ],
)
def test_what_is_no_state_or_strategy(state: Any, strategy: Any, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # As users call it: without the tests' check of annotations, which would be first.
    plain = getattr(unmask.decode, "__wrapped__", unmask.decode)
    with pytest.raises(UnmaskError, match=message):
        plain(Toy(12), state, strategy)
