"""Small denoisers whose answers have the same bits in every batch, for the tests."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from unmask.state import State


class Toy:
    """Logits that depend on the place and on everything that is shown, as those of a net would.

    Tables are multiples of 1/64, so that sums do not round: a row's logits have the same bits whatever its batch.
    Values more than `floor` below the likeliest are impossible, so that some positions are certain.
    """

    def __init__(
        self, length: int = 12, values: int = 5, seed: int = 0, sharpness: float = 1.0, floor: float = torch.inf
    ) -> None:
        self.floor = floor
        draw = torch.Generator().manual_seed(seed)
        self.length, self.values = length, values
        self.base = self._table(length * values, 1, draw, 2.0 * sharpness)[:, 0]
        self.pull = self._table(length * values, length * values, draw, 0.7 * sharpness)

    @staticmethod
    def _table(rows: int, columns: int, draw: torch.Generator, scale: float) -> Tensor:
        return (torch.randn((rows, columns), generator=draw, dtype=torch.float64) * scale * 64).round() / 64

    def everywhere(self, state: State) -> Tensor:
        """[B, L, V]: logits at every position. Padding is seen through: only places count."""
        shown = state.present & ~state.hidden
        known = one_hot(state.tokens.clamp(0, self.values - 1), self.values).double() * shown[..., None]
        by_place = known.new_zeros((len(state), self.length, self.values))
        by_place.scatter_add_(1, state.place[..., None].expand_as(known), known)
        logits = (self.base + by_place.flatten(1) @ self.pull.T).view(len(state), self.length, self.values)
        logits = logits.masked_fill(logits < logits.amax(-1, keepdim=True) - self.floor, -torch.inf)
        return logits.gather(1, state.place[..., None].expand_as(known))

    def __call__(self, state: State, asked: Tensor) -> Tensor:
        return self.everywhere(state)[asked]


class Stored:
    """Logits [R, L, V] looked up by the row's key: what is shown changes nothing."""

    def __init__(self, logits: Tensor) -> None:
        self.logits = logits

    def __call__(self, state: State, asked: Tensor) -> Tensor:
        row, position = asked.nonzero(as_tuple=True)
        return self.logits[state.row[row], position]


def blank(batch: int, length: int, seed: int = 0, *, given: float = 0.0) -> State:
    """A State with everything hidden, but for a share of given positions (the same for the same row key)."""
    draw = torch.Generator().manual_seed(1)
    tokens = torch.randint(0, 2, (4096, length), generator=draw)[:batch]
    fixed = (torch.rand((4096, length), generator=draw) < given)[:batch]
    return State.start(tokens, ~fixed, seed=seed)
