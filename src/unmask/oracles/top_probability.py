"""Top probability (Chang et al. 2022, Zheng et al. 2023): the position whose likeliest value is likeliest."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from unmask.belief import Belief
from unmask.oracles import Oracle


@dataclass(frozen=True)
class top_probability(Oracle):
    """max_v p(v)."""

    def score(self, belief: Belief) -> Float[Tensor, " n"]:
        return belief.log_top.exp()
