"""The whole sequence at once."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Bool
from torch import Tensor

from unmask.state import State
from unmask.windows import Window


@dataclass(frozen=True)
class whole(Window):
    """One stage: everything that is present."""

    def __call__(self, state: State) -> Bool[Tensor, "B L"]:
        return state.present
