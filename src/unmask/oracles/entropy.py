"""Lowest entropy first (Ye et al. 2025, Dream; Ben-Hamu et al. 2025)."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from unmask.belief import Belief
from unmask.oracles import Oracle


@dataclass(frozen=True)
class entropy(Oracle):
    """-H(p)."""

    def score(self, belief: Belief) -> Float[Tensor, " n"]:
        return -belief.entropies
