"""Left to right: the order of autoregressive models."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from unmask.belief import Belief
from unmask.oracles import Oracle


@dataclass(frozen=True)
class left_to_right(Oracle):
    """Minus the place of the position."""

    def score(self, belief: Belief) -> Float[Tensor, " n"]:
        return -belief.place.double()
