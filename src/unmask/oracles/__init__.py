"""Oracles: where am I surest? One file each; higher scores are shown sooner, -inf is *not now*."""

from __future__ import annotations

from collections.abc import Mapping

from jaxtyping import Bool, Float
from torch import Tensor

from unmask.belief import Belief
from unmask.errors import StrategyError
from unmask.part import Part
from unmask.state import State


class Oracle(Part):
    """Scores positions.

    The memory is a dictionary of tensors with B first, so that rows may leave the batch; an oracle that remembers
    reads it from `belief.state.memory` and returns `(score, memory)` from `score`.
    """

    def start(self, state: State) -> Mapping[str, Tensor]:
        """The memory before the first step: nothing, for most."""
        return {}

    def ask(self, state: State) -> Bool[Tensor, "B L"]:
        """The positions to ask about: all that may be shown now, unless the oracle knows better."""
        return state.open

    def score(self, belief: Belief) -> Float[Tensor, " n"] | tuple[Float[Tensor, " n"], Mapping[str, Tensor]]:
        """One score for each asked position."""
        raise StrategyError(f"{type(self).__name__} is an oracle without score(belief): write that method")
