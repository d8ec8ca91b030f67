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

from unmask.belief import Belief, first, sum_rows
from unmask.errors import DenoiserError
from unmask.oracles import Oracle
from unmask.state import State

_NEVER = {"stable": 0, "believed": torch.nan}
"""What the memory holds where a position was not asked at the step before."""


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
        memory = {name: torch.full_like(state.memory[name], _NEVER[name]) for name in _NEVER if name in state.memory}
        if not len(now):  # nobody was asked: the number of values may still be unknown
            return belief.log_top, memory
        if "believed" not in memory:  # the number of values is not known before the first belief
            memory["believed"] = now.new_full((*state.tokens.shape, now.shape[1]), _NEVER["believed"])
        last = state.memory.get("believed", memory["believed"])
        if last.shape[2] != now.shape[1]:
            raise DenoiserError(
                f"the denoiser returned {now.shape[1]} values, and {last.shape[2]} at the step before; "
                f"{self} compares the two, so their number must not change"
            )
        before = last.view(-1, now.shape[1])[belief.flat]
        gaps = torch.where(belief.probabilities > 0, belief.probabilities * (now - before), 0.0)
        still = sum_rows(gaps) < self.divergence  # NaN is not below anything
        stable = torch.where(still, state.memory["stable"].view(-1)[belief.flat] + 1, 0)
        memory["stable"] = belief.spread(stable, 0)
        memory["believed"].view(-1, now.shape[1])[belief.flat] = now
        sure = belief.log_top.exp()
        ready = belief.spread((sure > self.confidence) & (stable >= self.history), False)
        surest = first(belief.spread(sure), torch.ones_like(state.row))
        offered = torch.where(ready.any(1, keepdim=True), ready, surest)
        return sure.masked_fill(~offered.view(-1)[belief.flat], -torch.inf), memory
