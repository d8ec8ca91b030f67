"""Semi-autoregressive blocks (Arriola et al. 2025; Nie et al. 2025, LLaDA): left to right over blocks, free inside."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor

from unmask.errors import StrategyError
from unmask.state import State
from unmask.windows import Window


@dataclass(frozen=True)
class blocks(Window):
    """Blocks of `size` positions from each row's first hidden one; each is a stage with its own clock.

    One block of the whole length is `whole`, but for what reads the window itself: an oracle that scales with its
    beginning (`calibrated`) under noise, and a revision, which takes back nothing before a row's first hidden position.

    The pace's steps count per block: LLaDA's `steps` over all of n blocks are `evenly(steps / n)` here. Where to go on
    is read off the window itself, so that a decode can stop at any step; blocks without a hidden position are skipped.
    """

    size: int

    def __post_init__(self) -> None:
        if not self.size >= 1:
            raise StrategyError(f"blocks(size): size must be at least 1, got {self.size}")

    def __call__(self, state: State) -> Bool[Tensor, "B L"]:
        begun = state.window.any(1)
        hidden = state.hidden.to(torch.uint8).argmax(1)
        origin = torch.where(begun, state.window.to(torch.uint8).argmax(1), hidden)
        start = origin + torch.div(hidden - origin, self.size, rounding_mode="floor") * self.size
        position = torch.arange(state.hidden.shape[1], device=state.hidden.device)
        inside = (position >= start[:, None]) & (position < start[:, None] + self.size)
        return inside & state.present
