"""Choices: what would I write? One file each; a choice proposes a value for every asked position."""

from __future__ import annotations

from jaxtyping import Int
from torch import Tensor

from unmask.belief import Belief
from unmask.errors import StrategyError
from unmask.part import Part


class Choice(Part):
    """Proposes one value for each asked position."""

    def __call__(self, belief: Belief) -> Int[Tensor, " n"]:
        raise StrategyError(f"{type(self).__name__} is a choice without __call__(belief): write that method")
