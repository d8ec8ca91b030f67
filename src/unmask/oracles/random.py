"""Uniformly random order: with `ancestral`, the vanilla sampler of masked diffusion."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from unmask.belief import Belief
from unmask.oracles import Oracle


@dataclass(frozen=True)
class random(Oracle):
    """Scores are counted uniforms: every order is equally likely."""

    def score(self, belief: Belief) -> Float[Tensor, " n"]:
        return belief.noise("order")
