"""A hidden Markov model, by forward-backward (Rabiner 1989): exact beliefs at any length.

Forward messages carry what is shown to the left, backward messages what is shown to the right; they are logarithms,
so that no length makes them underflow. Absent positions are passed over: they emit nothing, and the chain does not
move there, so that padding on either side changes nothing.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unmask.errors import ImpossibleEvidence, UnmaskError
from unmask.state import State


class HiddenMarkov:
    """Exact beliefs for `initial` [K], `transition` [K,K] (from, to), `emission` [K,V], each row summing to 1."""

    def __init__(
        self,
        initial: Float[Tensor, " K"],
        transition: Float[Tensor, "K K"],
        emission: Float[Tensor, "K V"],
    ) -> None:
        for name, table in (("initial", initial), ("transition", transition), ("emission", emission)):
            if bool((table < 0).any()) or not torch.allclose(table.double().sum(-1), table.new_ones(()).double()):
                raise UnmaskError(f"HiddenMarkov: {name} must be probabilities that sum to 1 along its last axis")
        self.initial, self.transition, self.emission = initial.double(), transition.double(), emission.double()

    @staticmethod
    def draw(states: int, values: int, seed: int = 0) -> HiddenMarkov:
        """A model with random tables, for tests and pictures."""
        generator = torch.Generator().manual_seed(seed)

        def simplex(*shape: int) -> Tensor:
            weights = -torch.rand(shape, generator=generator, dtype=torch.float64).clamp(min=1e-12).log()
            return weights / weights.sum(-1, keepdim=True)

        return HiddenMarkov(simplex(states), simplex(states, states), simplex(states, values))

    def __call__(self, state: State, asked: Bool[Tensor, "B L"]) -> Float[Tensor, "n V"]:
        shown = state.present & ~state.hidden
        seen = self._seen(state.tokens).masked_fill(~shown[..., None], 0.0)
        arriving, _ = self._forward(state, seen)
        around = arriving + self._backward(state, seen)  # log p(chain at l, all that is shown elsewhere) + constant
        marginal = (around[..., None] + self.emission.to(seen.device).log()).logsumexp(2)
        written = state.tokens[..., None] == torch.arange(marginal.shape[2], device=seen.device)
        marginal = marginal.masked_fill(shown[..., None] & ~written, -torch.inf)
        mass = marginal.logsumexp(2)
        impossible = (asked & mass.isneginf()).any(1)
        if bool(impossible.any()):
            row = int(state.row[impossible.nonzero()[0]])
            raise ImpossibleEvidence(f"what is shown in row {row} has probability 0 under the hidden Markov model")
        return marginal[asked] - mass[asked][:, None]

    def log_probability(self, tokens: Int[Tensor, "B L"]) -> Float[Tensor, " B"]:
        """log p of complete rows."""
        state = State.start(tokens, torch.zeros_like(tokens, dtype=torch.bool))
        return self._forward(state, self._seen(tokens))[1]

    def _seen(self, tokens: Int[Tensor, "B L"]) -> Float[Tensor, "B L K"]:
        """log p(value | chain), of the values in place; -inf for values that the model does not have."""
        known = tokens.clamp(0, self.emission.shape[1] - 1)
        return self.emission.to(tokens.device).T[known].log().masked_fill((known != tokens)[..., None], -torch.inf)

    def _forward(
        self, state: State, seen: Float[Tensor, "B L K"]
    ) -> tuple[Float[Tensor, "B L K"], Float[Tensor, " B"]]:
        """log p(chain at l, all that is shown before l), and log p(all that is shown)."""
        transition = self.transition.to(seen.device).log()
        message = self.initial.to(seen.device).log().expand(len(state), -1)
        arriving = []
        for position in range(state.tokens.shape[1]):
            arriving.append(message)
            moved = ((message + seen[:, position])[..., None] + transition).logsumexp(1)
            message = torch.where(state.present[:, position, None], moved, message)
        return torch.stack(arriving, 1), message.logsumexp(1)

    def _backward(self, state: State, seen: Float[Tensor, "B L K"]) -> Float[Tensor, "B L K"]:
        """log p(all that is shown after l | chain at l)."""
        transition = self.transition.to(seen.device).log()
        message = torch.zeros_like(seen[:, 0])
        returning = []
        for position in reversed(range(state.tokens.shape[1])):
            returning.append(message)
            moved = ((message + seen[:, position])[:, None, :] + transition).logsumexp(2)
            message = torch.where(state.present[:, position, None], moved, message)
        return torch.stack(returning[::-1], 1)
