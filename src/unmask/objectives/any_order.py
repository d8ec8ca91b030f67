"""Any order: hide a random part of the answers and ask for all that is hidden. Equation 1 and section 2 of the paper.

In the mean over masks this is the autoregressive loss in the mean over all orders. How many of k answers are hidden is
drawn evenly (`by="number"`), or each with a probability that is drawn evenly, the time (`by="time"`); the weight is one
over the share that is hidden. By number the variance is bounded; by time it is not, as the time goes to 0, unless the
weight has a `floor`. Numbers and times are stratified over the batch: one from each of its B equal parts.

Not proper, but used: `floor`, no share counts as less than this (1: all masks weigh the same); `weight="linear"`, the
fewer hidden, the heavier: `steps` + 1 - the step that the time is in, with `focal`, surprises weighed by how unsure
the net is, (1 - p) to that power (Ye et al. 2024, arXiv 2410.14157, whose code the paper's puzzles were trained with).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from unmask import noise
from unmask.belief import first
from unmask.errors import StrategyError
from unmask.objectives import Key, Objective, begin, surprise, total
from unmask.state import Rows

if TYPE_CHECKING:
    from unmask.belief import Denoiser


@dataclass(frozen=True)
class any_order(Objective):
    """-log p of what is hidden, in the mean over masks of every size."""

    by: Literal["number", "time"] = "number"
    weight: Literal["inverse", "linear"] = "inverse"
    floor: float = 0.0
    focal: float = 0.0
    steps: int | None = None

    def __post_init__(self) -> None:
        for wrong, told in (
            (not 0 <= self.floor <= 1, f"floor must be between 0 and 1, got {self.floor}"),
            (self.focal < 0, f"focal must be at least 0, got {self.focal}"),
            (self.steps is not None and self.steps < 1, f"steps must be at least 1, got {self.steps}"),
            (self.steps is not None and self.by != "time", 'steps are those of the time: by="time"'),
            (self.weight == "linear" and self.steps is None, 'weight="linear" needs steps, such as steps=20'),
        ):
            if wrong:
                raise StrategyError(f"any_order: {told}")

    @property
    def proper(self) -> bool:
        return (self.weight, self.floor, self.focal, self.steps) == ("inverse", 0.0, 0.0, None)

    def __call__(self, net: Denoiser, rows: Rows, key: Key) -> Float[Tensor, ""]:
        hidden, weight = self.mask(rows, key)
        terms = surprise(net(begin(rows, hidden, key), hidden), rows, hidden)
        if self.focal:
            terms = terms * (1 - (-terms).exp()).clamp(min=1e-12) ** self.focal  # its slope at 0 may be infinite
        return total(terms, hidden, weight)

    def mask(self, rows: Rows, key: Key) -> tuple[Bool[Tensor, "B L"], Float[Tensor, " B"]]:
        """What is hidden of each row, and how much its surprises weigh."""
        answers = rows.present & ~rows.given
        count = answers.sum(1).clamp(min=1)  # a row without answers has nothing hidden either way
        step = torch.full_like(key.row, key.step)
        share = (key.row + noise.at(noise.key(key.seed, "share", key.row, step), key.row * 0)) / key.batch
        place = (rows.present.long().cumsum(1) - 1).clamp(min=0)
        draws = noise.everywhere(key.seed, "mask", key.row, step, place)
        if self.by == "number":
            number = (share * count).long().clamp(max=count - 1) + 1
            hidden = first(draws.masked_fill(~answers, -torch.inf), number) & answers
            share = number / count
        else:
            if self.steps is not None:
                share = ((share * self.steps).long() + 1) / self.steps
            hidden = answers & (draws < share[:, None])
        if self.weight == "linear":
            return hidden, (self.steps or 0) * (1 - share) + 1
        return hidden, 1 / share.clamp(min=self.floor)
