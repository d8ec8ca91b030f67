"""The log-odds of the two likeliest values: a margin that does not saturate near certainty."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from unmask.belief import Belief
from unmask.oracles import Oracle


@dataclass(frozen=True)
class log_margin(Oracle):
    """log p(v1) - log p(v2)."""

    def score(self, belief: Belief) -> Float[Tensor, " n"]:
        return belief.top[0].double() - belief.second.double()
