"""An oracle that asks about less than what is open, as none of the package does: the laws hold for it all the same."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from unmask.belief import Belief
from unmask.oracles import Oracle
from unmask.state import State


@dataclass(frozen=True)
class evens(Oracle):
    """The surest of the even places, as long as any of them is open; then of the others."""

    def ask(self, state: State) -> Bool[Tensor, "B L"]:
        even = state.open & (state.place % 2 == 0)
        return torch.where(even.any(1, keepdim=True), even, state.open)

    def score(self, belief: Belief) -> Float[Tensor, " n"]:
        return belief.log_top
