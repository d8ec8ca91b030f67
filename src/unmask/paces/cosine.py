"""MaskGIT's mask ratio (Chang et al. 2022, 2202.04200): few positions first, many last."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor

from unmask.belief import Belief
from unmask.errors import StrategyError
from unmask.paces import Pace, elapsed
from unmask.paces.ancestral import snap
from unmask.state import State


@dataclass(frozen=True)
class cosine(Pace):
    """Leaves floor(hidden at the stage's start * cos(pi/2 * share of steps over)), and before the last step shows at
    least one where more than one is hidden, and leaves at least one."""

    steps: int

    def __post_init__(self) -> None:
        if not self.steps >= 1:
            raise StrategyError(f"cosine(steps): steps must be at least 1, got {self.steps}")

    def shares(self, state: State) -> tuple[Float[Tensor, " B"], Float[Tensor, " B"]]:
        before, after = elapsed(state, self.steps)
        return 1 - (before * (math.pi / 2)).cos(), 1 - (after * (math.pi / 2)).cos()

    def __call__(self, belief: Belief, score: Float[Tensor, " n"]) -> Int[Tensor, " B"]:
        state = belief.state
        _, after = self.shares(state)
        wanted = snap(state.stage_hidden * (1 - after)).floor().long()
        left = wanted.minimum(belief.waiting - 1).clamp(min=1)
        return left.masked_fill(state.stage_step + 1 >= self.steps, 0)
