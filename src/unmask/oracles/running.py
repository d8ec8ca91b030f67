"""Running confidence (He et al. 2025, MDPO, 2508.13148): a position is as sure as it has ever been.

With `lowest`, which would re-mask by the confidence of the moment, this is running confidence remasking (RCR).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from unmask.belief import Belief
from unmask.oracles import Oracle, scored
from unmask.state import State

if TYPE_CHECKING:
    from unmask.strategy import Strategy


@dataclass(frozen=True)
class running(Oracle):
    """The largest score of `inner` at each position so far. Its memory: just that."""

    inner: Oracle

    def check(self, strategy: Strategy) -> None:
        self.inner.check(strategy)

    def start(self, state: State) -> dict[str, Tensor]:
        never = torch.full(state.tokens.shape, -torch.inf, dtype=torch.float64, device=state.tokens.device)
        return {**self.inner.start(state), "highest": never}

    def ask(self, state: State) -> Bool[Tensor, "B L"]:
        return self.inner.ask(state)

    def score(self, belief: Belief) -> tuple[Float[Tensor, " n"], dict[str, Tensor]]:
        score, memory = scored(self.inner, belief)
        highest = belief.state.memory["highest"].maximum(belief.spread(score))
        return highest.view(-1)[belief.flat], {**memory, "highest": highest}
