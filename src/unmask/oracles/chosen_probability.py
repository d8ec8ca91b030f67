"""The probability of the *proposed* value (Nie et al. 2025, LLaDA: low-confidence remasking)."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from unmask.belief import Belief
from unmask.oracles import Oracle


@dataclass(frozen=True)
class chosen_probability(Oracle):
    """p(proposal): with `greedy` the same as `top_probability`."""

    @property
    def reads_proposal(self) -> bool:
        return True

    def score(self, belief: Belief) -> Float[Tensor, " n"]:
        return belief.log_chosen.exp()
