"""A fixed number of steps, the positions spread evenly over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float, Int
from torch import Tensor

from unmask.belief import Belief
from unmask.errors import StrategyError
from unmask.paces import Pace


@dataclass(frozen=True)
class evenly(Pace):
    """All positions of a stage in `steps` steps.

    "up" shows ceil(hidden now / steps left), which is LLaDA's split: the larger steps first. "down" leaves
    floor(hidden at the stage's start * steps left / steps), which is the split of the paper's puzzle code.
    """

    steps: int
    rounding: Literal["up", "down"] = "up"

    def __post_init__(self) -> None:
        if not self.steps >= 1:
            raise StrategyError(f"evenly(steps): steps must be at least 1, got {self.steps}")

    def __call__(self, belief: Belief, score: Float[Tensor, " n"]) -> Int[Tensor, " B"]:
        state = belief.state
        to_go = self.steps - state.stage_step
        if self.rounding == "down":
            return state.stage_hidden * (to_go - 1) // self.steps
        return belief.waiting - (belief.waiting + to_go - 1) // to_go
