"""Constraints per position: which values may stand where."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from unmask.belief import Denoiser
from unmask.errors import UnmaskError
from unmask.state import State


@dataclass(frozen=True, eq=False)
class constrained:
    """Forbids what `allowed` does not allow. `allowed` is [L,V] for all rows, or [R,L,V] by the rows' keys."""

    inner: Denoiser
    allowed: Bool[Tensor, "L V"] | Bool[Tensor, "R L V"]

    def __post_init__(self) -> None:
        nothing = (~self.allowed.any(-1)).nonzero()
        if len(nothing):
            raise UnmaskError(f"constrained(inner, allowed): position {nothing[0, -1].item()} is allowed no value")

    def __call__(self, state: State, asked: Bool[Tensor, "B L"]) -> Float[Tensor, "n V"]:
        logits = self.inner(state, asked)
        row, position = asked.nonzero(as_tuple=True)
        allowed = self.allowed.to(logits.device)
        mask = allowed[position] if allowed.dim() == 2 else allowed[state.row[row], position]
        return logits.masked_fill(~mask, -torch.inf)
