"""Windows: where may positions be shown now? One file each; a window is a sequence of stages."""

from __future__ import annotations

from jaxtyping import Bool
from torch import Tensor

from unmask.part import Part
from unmask.state import State


class Window(Part):
    """Names the next stage of every row. The loop asks it when a row's stage is over, and for no other row listens."""

    def __call__(self, state: State) -> Bool[Tensor, "B L"]:
        raise TypeError(f"{type(self).__name__} is a window without __call__(state)")
