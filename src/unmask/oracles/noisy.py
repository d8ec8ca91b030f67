"""Noise on another oracle's scores: the planner's temperature of MaskGIT, Dream and the paper's puzzles and text."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from unmask.belief import Belief
from unmask.errors import StrategyError
from unmask.oracles import Oracle, scored
from unmask.state import State

if TYPE_CHECKING:
    from unmask.strategy import Strategy


@dataclass(frozen=True)
class noisy(Oracle):
    """inner + scale * noise. Annealed: scale * (1 - (i + 1) / steps) at step i of a stage, 0 at the last.

    With Gumbel noise on a score s this draws positions without replacement in proportion to exp(s / scale).
    """

    inner: Oracle
    law: Literal["gumbel", "gaussian"]
    scale: float
    schedule: Literal["constant", "annealed"] = "constant"

    def __post_init__(self) -> None:
        if not 0 <= self.scale < math.inf:
            raise StrategyError(f"noisy(inner, law, scale): scale must be at least 0 and finite, got {self.scale}")

    def check(self, strategy: Strategy) -> None:
        self.inner.check(strategy)
        if self.schedule == "annealed" and strategy.steps is None:
            raise StrategyError(
                f'noisy(..., "annealed") needs a pace with a number of steps, such as evenly(20); '
                f"{strategy.pace} has none: change the pace, or make the noise constant"
            )

    @property
    def _stream(self) -> str:
        """The name of its noise: a level of its own for each noisy oracle within another."""
        below = _depth(self.inner)
        return f"perturbation {below + 1}" if below else "perturbation"

    def start(self, state: State) -> dict[str, Tensor]:
        return dict(self.inner.start(state))

    def ask(self, state: State) -> Bool[Tensor, "B L"]:
        return self.inner.ask(state)

    def score(self, belief: Belief) -> tuple[Float[Tensor, " n"], dict[str, Tensor]]:
        score, memory = scored(self.inner, belief)
        uniform = belief.noise(self._stream)
        noise = -(-uniform.log()).log() if self.law == "gumbel" else torch.special.ndtri(uniform)
        scale = self.scale
        if self.schedule == "annealed":
            state = belief.state
            assert state.steps is not None  # `check` saw to it
            left = 1 - (state.stage_step + 1).double() / state.steps
            noise = noise * left[belief.index]
        return score + scale * noise, dict(memory)


def _depth(oracle: Any) -> int:
    """How many noisy oracles are within each other here, whatever is between them."""
    within = [getattr(oracle, field.name) for field in dataclasses.fields(oracle)]
    deepest = max((_depth(part) for part in within if isinstance(part, Oracle)), default=0)
    return deepest + isinstance(oracle, noisy)
