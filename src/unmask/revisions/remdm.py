"""ReMDM (Wang et al. 2025, 2503.00307): re-mask shown positions at random, and show more in exchange.

With share a shown before and b after the step, sigma_max = min(1, (1 - b) / a); each shown position is hidden again
with probability sigma, and a hidden one is shown with probability (b - (1 - sigma) a) / (1 - a).

cap: sigma = min(eta, sigma_max). rescale: sigma = eta * sigma_max. conf: min(eta, sigma_max) is shared out over the
shown positions by a softmax of minus the probability that each had when it was shown (and hidden ones are shown at
the rate without revision). loop: sigma = eta while the schedule stands still (`looped`), else 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unmask import noise
from unmask.belief import Belief
from unmask.errors import StrategyError
from unmask.revisions import Revision

if TYPE_CHECKING:
    from unmask.strategy import Strategy


@dataclass(frozen=True)
class remdm(Revision):
    """Re-masks at random, by one of four rules; what is taken back stays hidden for a step."""

    rule: Literal["cap", "rescale", "conf", "loop"]
    eta: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.eta <= 1:
            raise StrategyError(f"remdm(rule, eta): eta must be from 0 to 1, got {self.eta}")

    def check(self, strategy: Strategy) -> None:
        super().check(strategy)
        if self.rule == "loop" and not hasattr(strategy.pace, "plateau"):
            raise StrategyError(f"{self} needs a pace whose schedule stands still, looped(steps); got {strategy.pace}")

    def _sigma(self, belief: Belief) -> Float[Tensor, " B"]:
        assert belief.shares is not None  # `check` saw to it
        before, after = belief.shares
        largest = ((1 - after) / before.clamp(min=1e-300)).clamp(max=1.0)
        if self.rule == "rescale":
            return self.eta * largest
        if self.rule == "loop":
            return torch.where(after == before, self.eta, 0.0)
        return largest.clamp(max=self.eta)

    def back(self, belief: Belief) -> Bool[Tensor, "B L"]:
        state, sigma = belief.state, self._sigma(belief)[:, None]
        shown = state.revisable
        if self.rule == "conf":
            certainty = state.shown_probability.nan_to_num(nan=1.0)
            doubt = (-certainty).masked_fill(~shown, -torch.inf).softmax(1).nan_to_num(nan=0.0)
            sigma = sigma * doubt
        return shown & (noise.everywhere(state.seed, "revision", state.row, state.step, state.place) < sigma)

    def leave(self, belief: Belief, left: Int[Tensor, " B"]) -> Int[Tensor, " B"]:
        """Of those that would stay hidden, each is shown all the same with probability sigma a / (1 - b)."""
        if self.rule == "conf":
            return left
        assert belief.shares is not None
        before, after = belief.shares
        also = (self._sigma(belief) * before / (1 - after).clamp(min=1e-300)).clamp(max=1.0)
        state = belief.state
        number = torch.arange(state.hidden.shape[1], device=left.device).expand_as(state.hidden)
        stays = noise.everywhere(state.seed, "revision count", state.row, state.step, number) >= also[:, None]
        return (stays & (number < left[:, None])).sum(1)
