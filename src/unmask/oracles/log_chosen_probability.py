"""The logarithm of the proposed value's probability (Chang et al. 2022, MaskGIT)."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from unmask.belief import Belief
from unmask.oracles import Oracle


@dataclass(frozen=True)
class log_chosen_probability(Oracle):
    """log p(proposal)."""

    @property
    def reads_proposal(self) -> bool:
        return True

    def score(self, belief: Belief) -> Float[Tensor, " n"]:
        return belief.log_chosen
