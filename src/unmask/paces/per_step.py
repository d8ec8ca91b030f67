"""A fixed number of positions at every step."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor

from unmask.belief import Belief
from unmask.errors import StrategyError
from unmask.paces import Pace


@dataclass(frozen=True)
class per_step(Pace):
    """Shows k positions a step, or what is left."""

    k: int

    def __post_init__(self) -> None:
        if not self.k >= 1:
            raise StrategyError(f"per_step(k): k must be at least 1, got {self.k}")

    def __call__(self, belief: Belief, score: Float[Tensor, " n"]) -> Int[Tensor, " B"]:
        return (belief.waiting - self.k).clamp(min=0)
