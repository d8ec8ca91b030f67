"""PC-Sampler (Huang et al. 2025, 2508.13021): confidence where it says something, and from left to right.

A frequent value is easily likely and tells little; the information of the proposal under background frequencies
weighs its probability, and an exponential decay draws the order to the left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from unmask.belief import Belief
from unmask.errors import StrategyError
from unmask.oracles import Oracle


@dataclass(frozen=True)
class calibrated(Oracle):
    """min(ceiling, -p(proposal) log q(proposal)) * exp(-decay * position within the window).

    `frequencies` are q, one for each value; without any, all values are equally frequent.
    """

    decay: float = 0.25
    ceiling: float = 10.0
    frequencies: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if math.isinf(self.decay):
            raise StrategyError(f"calibrated(decay): decay must be finite, got {self.decay}")
        if not all(0 <= frequency < math.inf for frequency in self.frequencies):
            raise StrategyError("calibrated(..., frequencies): frequencies must be at least 0 and finite")

    @property
    def reads_proposal(self) -> bool:
        return True

    def score(self, belief: Belief) -> Float[Tensor, " n"]:
        values = belief.logits.shape[1]
        if self.frequencies and len(self.frequencies) < values:
            raise StrategyError(f"calibrated(..., frequencies): {len(self.frequencies)} given, the model has {values}")
        if self.frequencies:
            information = -(torch.tensor(self.frequencies, dtype=torch.float64) + 1e-9).log()
            surprise = information.to(belief.flat.device)[belief.values]
        else:
            surprise = math.log(values)
        weight = (belief.log_chosen.exp() * surprise).clamp(max=self.ceiling)
        begin = belief.state.window.to(torch.uint8).argmax(1)
        position = belief.flat % belief.asked.shape[1] - begin[belief.index]
        return weight * (-self.decay * position).exp()
