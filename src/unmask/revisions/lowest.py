"""Re-mask the lowest scores, decoded positions included (Zheng et al. 2023, RDM; Ye et al. 2025: the puzzle code).

At every step all that is not given competes anew: as many as the pace wants stay hidden, wherever they are.
The two options take the rule apart, so that what is order and what is revision can be measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jaxtyping import Bool, Float, Int
from torch import Tensor

from unmask.belief import Belief
from unmask.revisions import Revision, shown_first
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
        return score if self.remask == "again" else shown_first(belief, score)

    def leave(self, belief: Belief, left: Int[Tensor, " B"]) -> Int[Tensor, " B"]:
        return left if self.remask == "again" else left.minimum(belief.waiting)
