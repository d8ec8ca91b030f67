"""Objectives: what a net is trained to do. `(net, rows, key) -> loss`, a file each.

An objective hides some of what is to be answered, asks the net about it, and weighs how far off it was. What it draws
is looked up by (seed, step, row of the whole batch), so that a run that was stopped, and one that is shared by several
processes, see the same masks. What is absent is never hidden nor asked about.

`proper` objectives are unbiased bounds on the likelihood, in nats a row; others are not, whatever they are good for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unmask.errors import UnmaskError
from unmask.part import Part, show
from unmask.state import Rows, State
from unmask.strategy import values

if TYPE_CHECKING:
    from unmask.belief import Denoiser


@dataclass(frozen=True, eq=False)
class Key:
    """What the draws of a step go by: `row` numbers these rows in the whole batch, which has `batch` of them."""

    seed: int
    step: int
    row: Int[Tensor, " B"]
    batch: int

    @staticmethod
    def of(seed: int, step: int, batch: int) -> Key:
        """The key of a whole batch."""
        return Key(seed, step, torch.arange(batch), batch)


@dataclass(frozen=True)
class Objective(Part):
    """Base of objectives: frozen dataclasses of plain values."""

    @property
    def proper(self) -> bool:
        """Whether its mean is a bound on (for one order: exactly) the negative log-likelihood of a row."""
        return True

    def __call__(self, net: Denoiser, rows: Rows, key: Key) -> Float[Tensor, ""]:
        """The mean loss of the rows, in nats a row; of a net that answers after every pass, the mean over passes."""
        raise NotImplementedError


def parse(text: str) -> Objective:
    """The objective that a text names: `parse(str(objective)) == objective`."""
    found = values(text)
    if len(found) != 1 or not isinstance(found[0], Objective):
        raise UnmaskError(f"{show(text)} is no objective; expected one such as any_order or any_order(floor=0.25)")
    return found[0]


def begin(rows: Rows, hidden: Bool[Tensor, "B L"], key: Key) -> State:
    """The rows with some of them hidden, as a net sees them in training: its step and its seed are the key's."""
    tokens = rows.tokens.masked_fill(hidden, 0)
    count = torch.zeros(len(rows), dtype=torch.int64, device=tokens.device)
    return State(
        tokens=tokens,
        hidden=hidden,
        given=rows.given,
        present=rows.present,
        window=hidden,
        place=(rows.present.long().cumsum(1) - 1).clamp(min=0),
        row=key.row,
        step=count + key.step,
        stage_step=count,
        stage_hidden=count,
        shown_probability=torch.full(tokens.shape, torch.nan, dtype=torch.float64, device=tokens.device),
        coordinates=rows.coordinates if rows.locate is None else rows.locate(tokens.masked_fill(hidden, -1)),
        seed=key.seed,
    )


def surprise(logits: Tensor, rows: Rows, asked: Bool[Tensor, "B L"]) -> Float[Tensor, "P n"]:
    """-log p of the right value at every asked position, for each pass."""
    logits = logits[None] if logits.dim() == 2 else logits
    values = rows.tokens[asked].expand(len(logits), -1)
    return F.cross_entropy(logits.flatten(0, 1), values.flatten(), reduction="none").view(values.shape)


def total(terms: Float[Tensor, "P n"], asked: Bool[Tensor, "B L"], weight: Float[Tensor, " B"]) -> Float[Tensor, ""]:
    """The weighted sum over positions, in the mean over rows and passes."""
    row = asked.nonzero()[:, 0]
    return (terms.mean(0) * weight.to(terms.dtype)[row]).sum() / len(asked)
