"""The same shape at every call, so that a net's answer for a row has the same bits in every batch.

Matrix products may round differently at another batch size. Here every call of `inner` has exactly `rows` rows and
asks every position; a batch is split, and its last part filled up with copies of its last row. It costs the head at
all positions and the rows that fill up: for bitwise reproducibility, not for speed.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from unmask.belief import Denoiser, calls_for
from unmask.errors import UnmaskError
from unmask.state import State


@dataclass(frozen=True)
class fixed_shape:
    """Calls `inner` with `rows` rows and all positions asked, and picks what was asked for."""

    inner: Denoiser
    rows: int = 64

    def __post_init__(self) -> None:
        if not self.rows >= 1:
            raise UnmaskError(f"fixed_shape(inner, rows): rows must be at least 1, got {self.rows}")

    def __call__(self, state: State, asked: Bool[Tensor, "B L"]) -> Float[Tensor, "n V"]:
        length = asked.shape[1]
        answers = []
        for begin in range(0, len(state), self.rows):
            index = torch.arange(begin, begin + self.rows, device=asked.device).clamp(max=len(state) - 1)
            everything = torch.ones((self.rows, length), dtype=torch.bool, device=asked.device)
            logits = self.inner(state.select(index), everything).view(self.rows, length, -1)
            part = asked[begin : begin + self.rows]
            answers.append(logits[: len(part)][part])
        return torch.cat(answers)

    def calls_for(self, rows: int) -> int:
        return -(-rows // self.rows) * calls_for(self.inner, self.rows)
