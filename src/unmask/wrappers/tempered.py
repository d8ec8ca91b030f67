"""Temperature and nucleus *before* scoring: Dream's order reads the sharpened belief (LLaDA's reads the plain one)."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor

from unmask.belief import Denoiser, calls_for, nucleus, widened
from unmask.errors import UnmaskError
from unmask.state import State


@dataclass(frozen=True)
class tempered:
    """inner ** (1 / temperature), cut to the nucleus of mass `top_p`, for oracle, pace and choice alike."""

    inner: Denoiser
    temperature: float = 1.0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise UnmaskError(f"tempered(inner, temperature): temperature must be above 0, got {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise UnmaskError(f"tempered(inner, ..., top_p): top_p must be above 0 and at most 1, got {self.top_p}")

    def __call__(self, state: State, asked: Bool[Tensor, "B L"]) -> Float[Tensor, "n V"]:
        logits = self.inner(state, asked)
        if self.temperature != 1:
            logits = widened(logits) / self.temperature  # in half precision 1000 / 0.01 is infinite
        return nucleus(logits, self.top_p) if self.top_p < 1 else logits

    def calls_for(self, rows: int) -> int:
        return calls_for(self.inner, rows)
