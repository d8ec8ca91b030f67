"""A value drawn from the belief, by inverse CDF in float64.

Gumbel noise in single precision would quietly lower the temperature (Zheng et al. 2024, 2409.02908).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from unmask.belief import Belief, nucleus
from unmask.choices import Choice
from unmask.errors import StrategyError


@dataclass(frozen=True)
class sample(Choice):
    """v ~ p^(1/temperature), cut to the nucleus of mass `top_p`. Scores still read the untempered belief."""

    temperature: float = 1.0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < math.inf:
            raise StrategyError(
                f"sample(temperature): temperature must be at least 0 and finite, got {self.temperature}"
            )
        if not 0 < self.top_p <= 1:
            raise StrategyError(f"sample(temperature, top_p): top_p must be above 0 and at most 1, got {self.top_p}")

    def __call__(self, belief: Belief) -> Int[Tensor, " n"]:
        if self.temperature == 0:
            return belief.top[1]
        gaps = (belief.wide - belief.top[0][:, None]).double() / self.temperature
        if self.top_p < 1:
            gaps = nucleus(gaps, self.top_p)
        mass = gaps.exp_().cumsum(-1)
        total = mass[:, -1]
        # A product that rounds up to the total would fall behind the last value.
        point = torch.minimum(belief.noise("value") * total, total.nextafter(torch.zeros_like(total)))
        return torch.searchsorted(mass, point[:, None], right=True).squeeze(-1)
