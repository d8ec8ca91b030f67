"""All positions whose proposal is likely enough (Wu et al. 2025, Fast-dLLM, 2505.22618)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor

from unmask.belief import Belief
from unmask.errors import StrategyError
from unmask.paces import Pace, at_least_one, prefix


@dataclass(frozen=True)
class threshold(Pace):
    """Walks down the score order as long as the proposal has probability at least p; shows at least one."""

    p: float

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise StrategyError(f"threshold(p): p is a probability from 0 to 1, got {self.p}")

    @property
    def reads_proposal(self) -> bool:
        return self.p > 0  # a threshold of 0 lets everything through

    def __call__(self, belief: Belief, score: Float[Tensor, " n"]) -> Int[Tensor, " B"]:
        if self.p == 0:
            return at_least_one(belief, prefix(~belief.walk(score, score).isnan()))
        return at_least_one(belief, prefix(belief.walk(score, belief.log_chosen) >= math.log(self.p)))
