"""Oracles: where am I surest? One file each; higher scores are shown sooner, -inf is *not now*."""

from __future__ import annotations

from collections.abc import Mapping

from jaxtyping import Bool, Float
from torch import Tensor

from unmask.belief import Belief
from unmask.part import Part
from unmask.state import State


class Oracle(Part):
    """Scores positions. `start` and the memory are for oracles that must remember: most do not.

    The memory is a dictionary of tensors with B first, so that rows may leave the batch; an oracle that has
    `start(state) -> memory` returns `(score, memory)` from `score`.
    """

    def ask(self, state: State) -> Bool[Tensor, "B L"]:
        """The positions to ask about: all that may be shown now, unless the oracle knows better."""
        return state.open

    def score(self, belief: Belief) -> Float[Tensor, " n"] | tuple[Float[Tensor, " n"], Mapping[str, Tensor]]:
        """One score for each asked position."""
        raise TypeError(f"{type(self).__name__} is an oracle without score(belief)")
