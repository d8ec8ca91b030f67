"""The values of given rows: the same loop then yields their likelihood along the order that a strategy takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Int
from torch import Tensor

from unmask.belief import Belief
from unmask.choices import Choice
from unmask.errors import UnmaskError


@dataclass(frozen=True)
class teacher(Choice):
    """Proposes rows[key][place]: key is the row's key (`State.row`), place counts what is present (`State.place`).

    Takes nested sequences or a tensor.
    """

    rows: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        rows: Sequence | Tensor = self.rows
        plain = rows.tolist() if isinstance(rows, Tensor) else rows
        object.__setattr__(self, "rows", tuple(tuple(int(value) for value in row) for row in plain))

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
        table = self._table.to(state.row.device)
        return table[state.row[belief.index], belief.place]
