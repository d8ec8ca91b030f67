"""The likeliest value."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Int
from torch import Tensor

from unmask.belief import Belief
from unmask.choices import Choice


@dataclass(frozen=True)
class greedy(Choice):
    """argmax_v p(v); of equal ones the lowest value."""

    def __call__(self, belief: Belief) -> Int[Tensor, " n"]:
        return belief.top[1]
