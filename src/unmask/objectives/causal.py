"""Causal: the fast path of `one_order`, all turns in one pass, for nets that answer from what comes before only.

The columns are put into the order: what is given, then the answers by turn, then what is absent. Nothing is hidden;
a causal net answers at every column from the columns before it. Where a column came from, its `place` tells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unmask.errors import UnmaskError
from unmask.objectives import Key, Objective, begin, surprise, total
from unmask.objectives.one_order import turns
from unmask.oracles.fixed import fixed
from unmask.state import Rows

if TYPE_CHECKING:
    from unmask.belief import Denoiser


@dataclass(frozen=True)
class causal(Objective):
    """The negative log-likelihood in an order, named as in `one_order`."""

    order: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        fixed(self.order)  # refuses what is no order

    def __call__(self, net: Denoiser, rows: Rows, key: Key) -> Float[Tensor, ""]:
        if not getattr(net, "causal", False):
            raise UnmaskError(
                "the objective causal is for causal nets (net.causal=True): this one sees what it is asked"
            )
        rows, place = in_order(rows, turns(rows, self.order))
        asked = rows.present & ~rows.given
        state = replace(begin(rows, torch.zeros_like(asked), key), place=place)
        return total(surprise(net(state, asked), rows, asked), asked, torch.ones(len(rows), device=asked.device))


def in_order(rows: Rows, turn: Int[Tensor, "B L"]) -> tuple[Rows, Int[Tensor, "B L"]]:
    """The columns of each row by turn, what is given before and what is absent behind; and where each came from."""
    last = turn.shape[1]
    order = turn.masked_fill(~rows.present, last).argsort(dim=1, stable=True)
    place = (rows.present.long().cumsum(1) - 1).clamp(min=0).gather(1, order)
    tokens, given, present = (tensor.gather(1, order) for tensor in (rows.tokens, rows.given, rows.present))
    where = rows.coordinates
    if where is not None:
        where = where.expand(*tokens.shape, -1) if where.dim() == 2 else where
        where = where.gather(1, order[:, :, None].expand(-1, -1, where.shape[-1]))
    return Rows(tokens, given, present, where), place
