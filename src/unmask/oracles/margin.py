"""Top probability margin (Kim et al. 2025, section 4.1): the gap between the two likeliest values."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from unmask.belief import Belief
from unmask.oracles import Oracle


@dataclass(frozen=True)
class margin(Oracle):
    """p(v1) - p(v2)."""

    def score(self, belief: Belief) -> Float[Tensor, " n"]:
        return belief.log_top.exp() - belief.log_second.exp()
