"""Leave one out: hide a shown position, ask what stands there, and take it back where its value is doubted.

The belief about a shown position is not trained in most masked diffusion models; hiding it first asks the question
that they were trained for. It costs one imagined row for each shown position at each step, counted as calls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool
from torch import Tensor

from unmask.belief import Belief
from unmask.errors import StrategyError
from unmask.revisions import Revision

_ROWS = 256
"""Imagined rows in one call: many enough for a full batch, few enough for memory."""


@dataclass(frozen=True)
class leave_one_out(Revision):
    """Takes back what has probability below `below` given all else that is shown; it stays hidden for a step."""

    below: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.below <= 1:
            raise StrategyError(f"leave_one_out(below): below is a probability from 0 to 1, got {self.below}")

    def back(self, belief: Belief) -> Bool[Tensor, "B L"]:
        state = belief.state
        doubted = torch.zeros_like(state.hidden)
        assert state.steps is not None  # `check` saw to it
        goes_on = state.stage_step + 1 < state.steps  # at a stage's last step nothing is taken back: do not ask
        shown = (state.revisable & goes_on[:, None]).nonzero()
        for chunk in shown.split(_ROWS) if len(shown) else ():
            row, position = chunk[:, 0], chunk[:, 1]
            asked = torch.zeros((len(chunk), state.hidden.shape[1]), dtype=torch.bool, device=chunk.device)
            asked[torch.arange(len(chunk), device=chunk.device), position] = True
            imagined = state.select(row)
            written = imagined.tokens[asked]
            imagined = replace(imagined, hidden=imagined.hidden | asked, tokens=imagined.tokens.masked_fill(asked, 0))
            probability = belief.imagine(imagined, asked).double().softmax(-1)
            held = probability.gather(-1, written[:, None]).squeeze(-1)
            doubted[row, position] = held < self.below
        return doubted
