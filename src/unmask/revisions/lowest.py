"""Re-mask the lowest scores, decoded positions included (Zheng et al. 2023, RDM; Ye et al. 2025: the puzzle code).

At every step all that is not given competes anew: as many as the pace wants stay hidden, wherever they are.
The two options take the rule apart, so that what is order and what is revision can be measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from unmask.belief import Belief
from unmask.revisions import Revision
from unmask.state import State


@dataclass(frozen=True)
class lowest(Revision):
    """Shown positions are hidden "again" when they score lowest, or "never"; they "rewrite" or "keep" their values."""

    remask: Literal["again", "never"] = "again"
    value: Literal["rewrite", "keep"] = "rewrite"

    @property
    def again(self) -> bool:
        return True

    @property
    def rewrite(self) -> bool:
        return self.value == "rewrite"

    def ask(self, state: State) -> Bool[Tensor, "B L"]:
        return state.revisable

    def back(self, belief: Belief) -> Bool[Tensor, "B L"]:
        return belief.state.revisable

    def rescore(self, belief: Belief, score: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        if self.remask == "again":
            return score
        shown = belief.state.revisable.view(-1)[belief.flat]
        return score.masked_fill(shown, torch.inf)
