"""Hierarchy decoding (2510.08666, dInfer): sure positions anywhere, and one of every run of hidden positions.

Positions of different runs have something shown between them, and depend less on each other. With `threshold(0)`
everything that is offered is shown.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from unmask.belief import Belief, first
from unmask.errors import StrategyError
from unmask.oracles import Oracle
from unmask.oracles.midpoints import runs


@dataclass(frozen=True)
class hierarchical(Oracle):
    """Top probability; offered above `high`, and the best of each run above `low`; failing both, the surest one."""

    high: float = 0.9
    low: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high <= 1:
            raise StrategyError(f"hierarchical(high, low): expected 0 <= low <= high <= 1, got {self.high}, {self.low}")

    def score(self, belief: Belief) -> Float[Tensor, " n"]:
        position, start, _ = runs(belief.state.open)
        sure = belief.spread(belief.log_top.exp())
        hidden = belief.asked & belief.state.open  # a revision may have asked about shown positions: they are in no run
        run = torch.where(hidden, start, 0)
        surest_of_run = torch.full_like(sure, -torch.inf).scatter_reduce(
            1, run, sure.masked_fill(~hidden, -torch.inf), "amax"
        )
        best = surest_of_run.gather(1, run)
        lead = torch.where(hidden & (sure == best), position, len(position))
        leader = torch.full_like(lead, len(position)).scatter_reduce(1, run, lead, "amin").gather(1, run)
        offered = (sure > self.high) | ((position == leader) & (sure > self.low))
        surest = first(sure, torch.ones_like(belief.state.row))
        offered = torch.where((offered & belief.asked).any(1, keepdim=True), offered, surest)
        score = sure.view(-1)[belief.flat]
        return score.masked_fill(~offered.view(-1)[belief.flat], -torch.inf)
