"""One order: show the answers that come earlier, ask for the next one. The pi-learner of the paper (section 3).

A turn is drawn evenly for each row, stratified over the batch, and weighs as much as there are turns: in the mean that
is the autoregressive loss in this order, the negative log-likelihood. `causal` is the same in one pass, for nets that
are made so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unmask import noise
from unmask.objectives import Key, Objective, begin, surprise, total
from unmask.oracles.fixed import fixed
from unmask.state import Rows

if TYPE_CHECKING:
    from unmask.belief import Denoiser


@dataclass(frozen=True)
class one_order(Objective):
    """-log p of the next answer in an order: places as `fixed` names them; without any, the order that rows have of
    their own (`rows.turn`, a solver's), and left to right where they have none."""

    order: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        fixed(self.order)  # refuses what is no order

    def __call__(self, net: Denoiser, rows: Rows, key: Key) -> Float[Tensor, ""]:
        turn = turns(rows, self.order)
        count = (turn >= 0).sum(1)
        step = torch.full_like(key.row, key.step)
        share = (key.row + noise.at(noise.key(key.seed, "share", key.row, step), key.row * 0)) / key.batch
        now = (share * count).long().clamp(max=(count - 1).clamp(min=0))[:, None]
        asked = turn == now
        return total(surprise(net(begin(rows, turn >= now, key), asked), rows, asked), asked, count.double())


def turns(rows: Rows, order: tuple[int, ...]) -> Int[Tensor, "B L"]:
    """The turn of every answer, from 0; -1 for what is given or absent. Of equal ones the lower place is first."""
    answers = rows.present & ~rows.given
    if order:
        place = (rows.present.long().cumsum(1) - 1).clamp(min=0)
        wished = fixed(order).turn_of(place, place.shape[1])
    elif rows.turn is not None:
        wished = rows.turn
    else:
        wished = torch.arange(answers.shape[1], device=answers.device).expand(answers.shape)
    return ranks(wished, answers)


def ranks(wished: Int[Tensor, "B L"], among: Bool[Tensor, "B L"]) -> Int[Tensor, "B L"]:
    """The rank of each of some positions among them, -1 elsewhere."""
    most = torch.iinfo(torch.int64).max
    order = wished.long().masked_fill(~among, most).argsort(dim=1, stable=True)
    return order.argsort(dim=1).masked_fill(~among, -1)
