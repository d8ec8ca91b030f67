"""Fast-dLLM's factor (Wu et al. 2025, 2505.22618, section 3.3): the more in parallel, the surer each must be."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unmask.belief import Belief
from unmask.errors import StrategyError
from unmask.paces import Pace, at_least_one, prefix


@dataclass(frozen=True)
class factor(Pace):
    """Shows the n first of the score order as long as (n + 1) * (1 - p(proposal n)) < f; at least one."""

    f: float

    def __post_init__(self) -> None:
        if not self.f >= 0:
            raise StrategyError(f"factor(f): f must be at least 0, got {self.f}")

    @property
    def reads_proposal(self) -> bool:
        return True

    def __call__(self, belief: Belief, score: Float[Tensor, " n"]) -> Int[Tensor, " B"]:
        doubt = belief.walk(score, -belief.log_chosen.expm1())
        number = torch.arange(1, doubt.shape[1] + 1, device=doubt.device)
        return at_least_one(belief, prefix((number + 1) * doubt < self.f))
