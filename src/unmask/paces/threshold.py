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

    def __call__(self, belief: Belief, score: Float[Tensor, " n"]) -> Int[Tensor, " B"]:
        least = math.log(self.p) if self.p > 0 else -math.inf
        return at_least_one(belief, prefix(belief.walk(score, belief.log_chosen) >= least))
