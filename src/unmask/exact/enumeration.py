"""The exact posterior over an explicit list of rows with weights: any small joint distribution.

p(x_l | shown) is the weight of the rows that agree with what is shown and have x_l there, over the weight of all that
agree. A row's answer has the same bits in every batch: with equal weights the sums of the matrix product are whole
numbers, which do not round; unequal weights are summed in pairs, in an order that nothing but the support decides.
"""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from unmask.errors import ImpossibleEvidence, UnmaskError
from unmask.state import State

_MOST = 1 << 24
"""Products held at once."""


class Enumeration:
    """Exact beliefs under `support` [S,L], `weights` [S] (equal ones if none are given; they need not sum to 1).

    What no row of the support agrees with is `impossible`: "raise" says which row, "closest" believes in the rows
    that disagree least, so that a strategy which has contradicted itself can finish.
    """

    def __init__(
        self,
        support: Int[Tensor, "S L"],
        weights: Float[Tensor, " S"] | None = None,
        *,
        values: int | None = None,
        impossible: Literal["raise", "closest"] = "raise",
    ) -> None:
        if support.dim() != 2 or not support.numel() or support.is_floating_point():
            found = f"{support.dtype} of shape {tuple(support.shape)}"
            raise UnmaskError(f"Enumeration: the support is {found}; expected whole numbers [S, L], at least one row")
        weights = torch.ones(len(support), dtype=torch.float64) if weights is None else weights.double().cpu()
        if weights.shape != support.shape[:1]:
            found = tuple(weights.shape)
            raise UnmaskError(f"Enumeration: weights have shape {found}; expected one for each of {len(support)} rows")
        if impossible not in ("raise", "closest"):
            raise UnmaskError(f"Enumeration: impossible is {impossible!r}; expected 'raise' or 'closest'")
        if not bool((weights.isfinite() & (weights >= 0)).all()) or not bool((weights > 0).any()):
            raise UnmaskError("Enumeration: weights must be finite, at least 0, and not all 0")
        self.support = support.long().cpu()[weights > 0]
        self.weights = weights[weights > 0] / weights.sum()
        self.values = int(support.max()) + 1 if values is None else values
        self.impossible = impossible
        if int(self.support.min()) < 0 or int(self.support.max()) >= self.values:
            raise UnmaskError(f"Enumeration: the support has values outside 0 to {self.values - 1}")
        self._uniform = bool((self.weights == self.weights[0]).all())
        self._table = one_hot(self.support, self.values).flatten(1).double()
        self._on: dict[torch.device, tuple[Tensor, Tensor]] = {}

    def __call__(self, state: State, asked: Bool[Tensor, "B L"]) -> Float[Tensor, "n V"]:
        batch, length = state.tokens.shape
        if length != self.support.shape[1]:
            raise UnmaskError(f"Enumeration: rows of the support have {self.support.shape[1]} positions, not {length}")
        table, weights = self._tables(state.tokens.device)
        evidence = state.present & ~state.hidden
        known = one_hot(state.tokens.clamp(0, self.values - 1), self.values) * evidence[..., None]
        agreeing = known.flatten(1).double() @ table.T
        unknown = (state.tokens < 0) | (state.tokens >= self.values)
        agreeing = agreeing.masked_fill((evidence & unknown).any(1, keepdim=True), -1.0)
        needed = evidence.sum(1).double()
        if self.impossible == "closest":
            needed = agreeing.max(1).values
        posterior = (agreeing == needed[:, None]) * weights
        largest = posterior.amax(1, keepdim=True)
        if not bool(largest.all()):
            row = int(state.row[(largest[:, 0] == 0).nonzero()[0]])
            raise ImpossibleEvidence(f"what is shown in row {row} has probability 0: no row of the support agrees")
        posterior = posterior / largest
        if self._uniform:
            marginal = posterior @ table
        else:
            rows = max(1, _MOST // table.numel())
            marginal = torch.cat([_sum_in_pairs(part[:, :, None] * table) for part in posterior.split(rows)])
        return marginal.view(batch, length, self.values)[asked].log()

    def log_probability(self, tokens: Int[Tensor, "B L"]) -> Float[Tensor, " B"]:
        """log p of complete rows; -inf for those that are not in the support."""
        same = (tokens.cpu()[:, None, :] == self.support[None]).all(2)
        return (same * self.weights).sum(1).log().to(tokens.device)

    def _tables(self, device: torch.device) -> tuple[Tensor, Tensor]:
        if device not in self._on:
            self._on[device] = (self._table.to(device), self.weights.to(device))
        return self._on[device]


def _sum_in_pairs(terms: Float[Tensor, "B S K"]) -> Float[Tensor, "B K"]:
    while terms.shape[1] > 1:
        half = terms.shape[1] // 2
        folded = terms[:, :half] + terms[:, half : 2 * half]
        terms = folded if terms.shape[1] % 2 == 0 else torch.cat([folded, terms[:, -1:]], dim=1)
    return terms[:, 0]
