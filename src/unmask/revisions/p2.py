"""P2 self-planning (Peng et al. 2025, 2502.03540): the model's own scores decide what is kept and what is re-masked.

All that is not given competes by the log probability of a fresh proposal, multiplied by `eta` where it is already
shown: with eta > 1 (log probabilities are negative) shown positions are re-masked more readily, with eta = 0 never.
What stays shown keeps its value. As in the authors' code; use with `log_chosen_probability`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unmask.belief import Belief
from unmask.errors import StrategyError
from unmask.revisions import Revision, shown_first
from unmask.state import State


@dataclass(frozen=True)
class p2(Revision):
    """Shown positions compete with `eta` times their score, and keep their values."""

    eta: float = 1.0

    @property
    def again(self) -> bool:
        return True

    def __post_init__(self) -> None:
        if not 0 <= self.eta < math.inf:
            raise StrategyError(f"p2(eta): eta must be at least 0 and finite, got {self.eta}")

    def ask(self, state: State) -> Bool[Tensor, "B L"]:
        return state.revisable

    def back(self, belief: Belief) -> Bool[Tensor, "B L"]:
        return belief.state.revisable

    def rescore(self, belief: Belief, score: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        if self.eta == 0:  # as a product it would tie with hidden positions that are certain
            return shown_first(belief, score)
        shown = belief.state.revisable.view(-1)[belief.flat]
        return torch.where(shown, score * self.eta, score)

    def leave(self, belief: Belief, left: Int[Tensor, " B"]) -> Int[Tensor, " B"]:
        return left if self.eta else left.minimum(belief.waiting)
