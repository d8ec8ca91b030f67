"""EB-Sampler (Ben-Hamu et al. 2025, 2505.24857): as many as the bound on their joint dependence allows."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unmask.belief import Belief
from unmask.errors import StrategyError
from unmask.paces import Pace, at_least_one, prefix


@dataclass(frozen=True)
class entropy_bound(Pace):
    """Shows the longest prefix of the score order whose entropies have sum - max <= e (nats); at least one."""

    e: float

    def __post_init__(self) -> None:
        if not self.e >= 0:
            raise StrategyError(f"entropy_bound(e): e must be at least 0, got {self.e}")

    def __call__(self, belief: Belief, score: Float[Tensor, " n"]) -> Int[Tensor, " B"]:
        walked = belief.walk(score, belief.entropies)
        known = ~walked.isnan()
        filled = torch.where(known, walked, 0.0)
        largest = filled.cummax(1).values
        # Sum of all but the largest, taken as it grows: the difference of two large sums would round away zeros.
        grown = torch.minimum(filled, torch.cat([filled[:, :1], largest[:, :-1]], dim=1))
        grown[:, 0] = 0.0
        return at_least_one(belief, prefix((grown.cumsum(1) <= self.e) & known))
