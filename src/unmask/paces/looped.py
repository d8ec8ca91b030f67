"""The schedule of ReMDM-loop (Wang et al. 2025, 2503.00307, section 4.2): a plateau on which to revise.

From time 1 to `on` the share shown rises to `plateau`, stays there until `off`, and rises to 1 at time 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unmask.belief import Belief
from unmask.errors import StrategyError
from unmask.paces import Pace
from unmask.paces.ancestral import keep
from unmask.state import State


@dataclass(frozen=True)
class looped(Pace):
    """Ancestral steps on a schedule with a plateau; use with `remdm("loop")`."""

    steps: int
    on: float = 0.55
    off: float = 0.05
    plateau: float = 0.9

    def __post_init__(self) -> None:
        if not self.steps >= 1:
            raise StrategyError(f"looped(steps): steps must be at least 1, got {self.steps}")
        if not (1 > self.on > self.off > 0 and 0 < self.plateau < 1):
            raise StrategyError(
                f"looped(steps, on, off, plateau): expected 1 > on > off > 0 and 0 < plateau < 1, "
                f"got on={self.on}, off={self.off}, plateau={self.plateau}"
            )

    def shares(self, state: State) -> tuple[Float[Tensor, " B"], Float[Tensor, " B"]]:
        return self._shown(state.stage_step), self._shown(state.stage_step + 1)

    def _shown(self, step: Int[Tensor, " B"]) -> Float[Tensor, " B"]:
        time = 1 - step.double() / self.steps
        rising = self.plateau * (1 - time) / (1 - self.on)
        ending = self.plateau + (1 - self.plateau) * (self.off - time) / self.off
        return torch.where(time > self.on, rising, torch.where(time > self.off, self.plateau, ending))

    def __call__(self, belief: Belief, score: Float[Tensor, " n"]) -> Int[Tensor, " B"]:
        before, after = self.shares(belief.state)
        return keep(belief, (1 - after) / (1 - before))
