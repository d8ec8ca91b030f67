"""Choices: what would I write? One file each; a choice proposes a value for every asked position."""

from __future__ import annotations

import torch
from jaxtyping import Int
from torch import Tensor

from unmask.belief import Belief, expect
from unmask.errors import StrategyError
from unmask.part import Part


class Choice(Part):
    """Proposes one value for each asked position."""

    def __call__(self, belief: Belief) -> Int[Tensor, " n"]:
        raise StrategyError(f"{type(self).__name__} is a choice without __call__(belief): write that method")


def proposed(choice: Choice, belief: Belief) -> Int[Tensor, " n"]:
    """The values that the choice proposes."""
    values = choice(belief)
    expect(values, choice, "its values", tuple(belief.flat.shape), (torch.int64,))
    return values
