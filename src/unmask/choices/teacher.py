"""The values of given rows: the same loop then yields their likelihood along the order that a strategy takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Int
from torch import Tensor

from unmask.belief import Belief
from unmask.choices import Choice
from unmask.errors import StrategyError, UnmaskError


@dataclass(frozen=True)
class teacher(Choice):
    """Proposes rows[key][place]: key is the row's key (`State.row`), place counts what is present (`State.place`).

    Takes nested sequences or a tensor.
    """

    rows: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        lengths = sorted({len(row) for row in self.rows})
        if len(lengths) > 1:
            raise StrategyError(f"teacher(rows): rows must be of one length, got {lengths[0]} and {lengths[-1]}")

    @cached_property
    def _table(self) -> Int[Tensor, "R L"]:
        return torch.tensor(self.rows)

    def __call__(self, belief: Belief) -> Int[Tensor, " n"]:
        state, length = belief.state, len(self.rows[0]) if self.rows else 0
        if len(belief.place) and int(belief.place.max()) >= length:
            needed = int(belief.place.max()) + 1
            raise UnmaskError(f"teacher(rows): rows have {length} values, the sequences being decoded {needed} or more")
        largest = int(state.row.max())
        if largest >= len(self.rows) or int(state.row.min()) < 0:
            raise UnmaskError(
                f"teacher(rows): {len(self.rows)} rows were given, but a row with key {largest} is being decoded; "
                f"keys must run from 0 to {len(self.rows) - 1}"
            )
        values = self._table.to(state.row.device)[state.row[belief.index], belief.place]
        known = belief.logits.shape[1]
        if bool(((values < 0) | (values >= known)).any()):
            wrong = int(((values < 0) | (values >= known)).nonzero()[0])
            raise StrategyError(
                f"teacher(rows): row {int(state.row[belief.index[wrong]])} has the value {int(values[wrong])} at place "
                f"{int(belief.place[wrong])}; the model's values are 0 to {known - 1}"
            )
        return values
