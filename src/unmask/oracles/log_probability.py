"""The logarithm of the top probability: the same order, another scale for noise."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from unmask.belief import Belief
from unmask.oracles import Oracle


@dataclass(frozen=True)
class log_probability(Oracle):
    """max_v log p(v): under noise, not the same as `top_probability`."""

    def score(self, belief: Belief) -> Float[Tensor, " n"]:
        return belief.log_top
