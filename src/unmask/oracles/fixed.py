"""A fixed order pi: the pi-learner's order of the paper (section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unmask.belief import Belief
from unmask.errors import StrategyError
from unmask.oracles import Oracle


@dataclass(frozen=True)
class fixed(Oracle):
    """Places in the order of `pi`; those that it does not name come after, left to right, and those that a row does
    not have are passed over."""

    pi: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(set(self.pi)) != len(self.pi) or min(self.pi, default=0) < 0:
            raise StrategyError("fixed(pi): pi must name places (from 0) at most once each, such as fixed((2, 0, 1))")

    def score(self, belief: Belief) -> Float[Tensor, " n"]:
        return -self.turn_of(belief.place, belief.state.place.shape[1]).double()

    def turn_of(self, place: Int[Tensor, "*n"], length: int) -> Int[Tensor, "*n"]:
        """The turn of each place, of rows of that length."""
        return _ranks(self.pi, length).to(place.device)[place]


@lru_cache(maxsize=16)
def _ranks(pi: tuple[int, ...], length: int) -> Int[Tensor, " m"]:
    rank = torch.arange(length) + len(pi)
    there = [place for place in pi if place < length]
    rank[torch.tensor(there, dtype=torch.long)] = torch.arange(len(there))
    return rank
