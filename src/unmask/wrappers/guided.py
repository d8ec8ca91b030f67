"""Classifier-free guidance (Nie et al. 2025, LLaDA's `cfg_scale`): away from what would be said without the prompt."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jaxtyping import Bool, Float
from torch import Tensor

from unmask.belief import Denoiser, calls_for
from unmask.state import State


@dataclass(frozen=True)
class guided:
    """without + (scale + 1) * (with - without), where "without" hides all given positions. Asks `inner` twice."""

    inner: Denoiser
    scale: float

    def __call__(self, state: State, asked: Bool[Tensor, "B L"]) -> Float[Tensor, "n V"]:
        known = self.inner(state, asked)
        if self.scale == 0:
            return known
        tokens = state.tokens.masked_fill(state.given, 0)
        blind = replace(state, tokens=tokens, hidden=state.hidden | state.given, given=state.given & False)
        unknown = self.inner(blind, asked)
        moved = unknown + (self.scale + 1) * (known - unknown)
        moved = moved.where(~unknown.isneginf(), known)  # only the prompt makes it possible: believe the prompt
        return moved.masked_fill(known.isneginf(), -float("inf"))  # what is impossible stays so

    def calls_for(self, rows: int) -> int:
        return (1 if self.scale == 0 else 2) * calls_for(self.inner, rows)
