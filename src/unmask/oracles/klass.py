"""KLASS (Kim et al. 2025, 2511.05664): show what is sure and has stopped changing; else the surest one.

A position is ready when its top probability exceeds `confidence` and the Kullback-Leibler divergence of its belief
from that of the step before was below `divergence` at each of the last `history` steps. All ready positions are
offered; where a row has none, its surest position is. With `threshold(0)` everything that is offered is shown.
The authors' code also compares the first belief with zeros (never stable), and falls back on LLaDA's count.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from unmask.belief import Belief, first
from unmask.oracles import Oracle
from unmask.state import State


@dataclass(frozen=True)
class klass(Oracle):
    """Top probability, offered only where belief is sure and stable. Its memory: the last beliefs, and for how long."""

    confidence: float = 0.9
    divergence: float = 0.01
    history: int = 2

    def start(self, state: State) -> dict[str, Tensor]:
        return {"stable": torch.zeros_like(state.tokens)}

    def score(self, belief: Belief) -> tuple[Float[Tensor, " n"], dict[str, Tensor]]:
        state, now = belief.state, belief.log_probabilities
        memory = dict(state.memory)
        if "believed" not in memory:  # the number of values is not known before the first belief; NaN: never asked
            memory["believed"] = now.new_full((*state.tokens.shape, now.shape[1]), torch.nan)
        before = memory["believed"].view(-1, now.shape[1])[belief.flat]
        gaps = torch.where(belief.probabilities > 0, belief.probabilities * (now - before), 0.0)
        still = gaps.sum(-1) < self.divergence  # NaN is not below anything
        stable = torch.where(still, memory["stable"].view(-1)[belief.flat] + 1, 0)
        memory["stable"] = belief.spread(stable, 0)
        memory["believed"] = torch.full_like(memory["believed"], torch.nan)
        memory["believed"].view(-1, now.shape[1])[belief.flat] = now
        sure = belief.log_top.exp()
        ready = belief.spread((sure > self.confidence) & (stable >= self.history), False)
        surest = first(belief.spread(sure), torch.ones_like(state.row))
        offered = torch.where(ready.any(1, keepdim=True), ready, surest)
        return sure.masked_fill(~offered.view(-1)[belief.flat], -torch.inf), memory
