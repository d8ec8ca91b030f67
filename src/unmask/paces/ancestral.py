"""The reverse process of masked diffusion in a number of steps (the paper, section 2; Sahoo et al. 2024).

With share alpha shown at a time, a hidden position is shown between two times with probability
(alpha_after - alpha_before) / (1 - alpha_before), independently of all others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float, Int
from torch import Tensor

from unmask import noise
from unmask.belief import Belief
from unmask.errors import StrategyError
from unmask.paces import Pace
from unmask.state import State


@dataclass(frozen=True)
class ancestral(Pace):
    """`steps` equal steps of time from 1 to `eps`; the last shows all that is left.

    Schedules: "linear" hides a share t at time t, "cosine" a share sin(t pi / 2). Roundings: "binomial" draws the
    number (with the `random` oracle that is the reverse process itself); "nearest" leaves the mean, rounded to the
    nearest number, halves to the even one; "down" is Dream's, which shows the mean rounded down, so that most is left
    to the last step where steps are many.
    """

    steps: int
    schedule: Literal["linear", "cosine"] = "linear"
    rounding: Literal["binomial", "nearest", "down"] = "binomial"
    eps: float = 0.0

    def __post_init__(self) -> None:
        if not self.steps >= 1:
            raise StrategyError(f"ancestral(steps): steps must be at least 1, got {self.steps}")
        if not 0 <= self.eps < 1:
            raise StrategyError(f"ancestral(steps, eps=...): eps must be at least 0 and below 1, got {self.eps}")

    def shares(self, state: State) -> tuple[Float[Tensor, " B"], Float[Tensor, " B"]]:
        return self._shown(state.stage_step), self._shown(state.stage_step + 1)

    def _shown(self, step: Int[Tensor, " B"]) -> Float[Tensor, " B"]:
        time = 1 - step.double() / self.steps * (1 - self.eps)
        return 1 - time if self.schedule == "linear" else 1 - (time * (math.pi / 2)).sin()

    def __call__(self, belief: Belief, score: Float[Tensor, " n"]) -> Int[Tensor, " B"]:
        before, after = self.shares(belief.state)
        stay = (1 - after) / (1 - before)
        if self.rounding == "binomial":
            return keep(belief, stay)
        if self.rounding == "down":
            return belief.waiting - snap(belief.waiting * (1 - stay)).floor().long()
        return snap(belief.waiting * stay).round().long()


def snap(number: Float[Tensor, " B"]) -> Float[Tensor, " B"]:
    """To the nearest multiple of 2^-32: a number that is whole or half but for rounding becomes so."""
    return (number * 2.0**32).round() * 2.0**-32


def keep(belief: Belief, stay: Float[Tensor, " B"]) -> Int[Tensor, " B"]:
    """How many stay hidden when each does so with probability `stay`: a binomial number, from counted noise.

    Drawn for all open positions: those that the oracle does not ask about are hidden and count as well.
    """
    state = belief.state
    uniform = noise.everywhere(state.seed, "count", state.row, state.step, state.place)
    return (state.open & (uniform < stay[:, None])).sum(1)
