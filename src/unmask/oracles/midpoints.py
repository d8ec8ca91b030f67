"""Bisection (2606.22976): the middle of every run of hidden positions at once, so that a block takes log steps.

What is shown between two middles screens them from each other: for Markov data their values are drawn independently
without error. With `threshold(0)` everything that is offered is shown.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unmask.belief import Belief
from unmask.oracles import Oracle


@dataclass(frozen=True)
class midpoints(Oracle):
    """Offers the middle of each run of open positions (the left one of two), and nothing else."""

    def score(self, belief: Belief) -> Float[Tensor, " n"]:
        position, start, end = runs(belief.state.open)
        middle = position - start == (end - start) // 2
        return torch.where(middle.view(-1)[belief.flat], 0.0, -torch.inf).double()


def runs(inside: Bool[Tensor, "B L"]) -> tuple[Int[Tensor, " L"], Int[Tensor, "B L"], Int[Tensor, "B L"]]:
    """All positions, and for each that is inside, the first and the last of its unbroken run."""
    length = inside.shape[1]
    position = torch.arange(length, device=inside.device)
    outside = torch.where(inside, -1, position)
    start = outside.cummax(1).values + 1
    end = torch.where(inside, length, position).flip(1).cummin(1).values.flip(1) - 1
    return position, start, end
