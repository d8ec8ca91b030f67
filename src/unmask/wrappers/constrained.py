"""Constraints per place: which values may stand where."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from unmask.belief import Denoiser, calls_for
from unmask.errors import UnmaskError
from unmask.state import State


@dataclass(frozen=True, eq=False)
class constrained:
    """Forbids what `allowed` does not allow: [P,V] for all rows, or [R,P,V] by the rows' keys (`State.row`).

    P counts places (`State.place`: what is present), as fixed orders and teachers do, so that padding changes nothing.
    """

    inner: Denoiser
    allowed: Bool[Tensor, "P V"] | Bool[Tensor, "R P V"]

    def __post_init__(self) -> None:
        if self.allowed.dtype != torch.bool or self.allowed.dim() not in (2, 3):
            found = f"{self.allowed.dtype} of shape {tuple(self.allowed.shape)}"
            raise UnmaskError(
                f"constrained(inner, allowed): allowed is {found}; expected torch.bool [P, V] or [R, P, V]"
            )
        nothing = (~self.allowed.any(-1)).nonzero()
        if len(nothing):
            raise UnmaskError(f"constrained(inner, allowed): place {nothing[0, -1].item()} is allowed no value")

    def __call__(self, state: State, asked: Bool[Tensor, "B L"]) -> Float[Tensor, "n V"]:
        logits = self.inner(state, asked)
        row, place = state.row[asked.nonzero()[:, 0]], state.place[asked]
        *rows, places, values = self.allowed.shape
        if len(place):
            self._check("values", logits.shape[-1], values, exactly=True)
            self._check("places", int(place.max()) + 1, places)
            if rows:
                self._check("rows", int(row.max()) + 1, rows[0])
        allowed = self.allowed.to(logits.device)
        mask = allowed[row, place] if rows else allowed[place]
        return logits.masked_fill(~mask, -torch.inf)

    def _check(self, what: str, needed: int, known: int, *, exactly: bool = False) -> None:
        if needed > known or (exactly and needed != known):
            raise UnmaskError(
                f"constrained(inner, allowed): allowed has {known} {what}, and {needed} are needed; "
                f"its shape is [places, values], or [rows, places, values] by the rows' keys"
            )

    def calls_for(self, rows: int) -> int:
        return calls_for(self.inner, rows)
