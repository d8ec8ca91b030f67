"""A hidden Markov model, by forward-backward (Rabiner 1989): exact beliefs at any length.

Forward messages carry what is shown to the left, backward messages what is shown to the right. Absent positions are
passed over: they emit nothing, and the chain does not move there, so that padding on either side changes nothing.
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
        emission = self.emission.to(state.tokens.device)
        likelihood = torch.where(shown[..., None], emission.T[state.tokens], 1.0)
        arriving, _ = self._forward(state, likelihood)
        returning = self._backward(state, likelihood)
        ahead = arriving * returning  # p(chain at l | all that is shown elsewhere), up to a factor
        marginal = (ahead[..., None] * emission).sum(2)
        one_value = torch.zeros_like(marginal).scatter_(2, state.tokens[..., None], 1.0)
        marginal = torch.where(shown[..., None], marginal * one_value, marginal)
        mass = marginal.sum(2)
        impossible = (asked & (mass == 0)).any(1)
        if bool(impossible.any()):
            row = int(state.row[impossible.nonzero()[0]])
            raise ImpossibleEvidence(f"what is shown in row {row} has probability 0 under the hidden Markov model")
        return (marginal[asked] / mass[asked][:, None]).log()

    def log_probability(self, tokens: Int[Tensor, "B L"]) -> Float[Tensor, " B"]:
        """log p of complete rows."""
        state = State.start(tokens, torch.zeros_like(tokens, dtype=torch.bool))
        _, log_scale = self._forward(state, self.emission.to(tokens.device).T[tokens])
        return log_scale.sum(1)

    def _forward(self, state: State, likelihood: Tensor) -> tuple[Float[Tensor, "B L K"], Float[Tensor, "B L"]]:
        """p(chain at l | shown before l), and log p(shown at l | shown before l)."""
        transition = self.transition.to(likelihood.device)
        message = self.initial.to(likelihood.device).expand(len(state), -1)
        arriving, log_scale = [], []
        for position in range(state.tokens.shape[1]):
            arriving.append(message)
            here = state.present[:, position, None]
            updated = message * likelihood[:, position]
            scale = updated.sum(1, keepdim=True)
            moved = (updated[..., None] * transition).sum(1) / scale.clamp(min=1e-300)
            message = torch.where(here, moved, message)
            log_scale.append(torch.where(here, scale, 1.0).log()[:, 0])
        return torch.stack(arriving, 1), torch.stack(log_scale, 1)

    def _backward(self, state: State, likelihood: Tensor) -> Float[Tensor, "B L K"]:
        """p(shown after l | chain at l), up to a factor for each row and position."""
        transition = self.transition.to(likelihood.device)
        message = torch.ones_like(likelihood[:, 0])
        returning = []
        for position in reversed(range(state.tokens.shape[1])):
            returning.append(message)
            here = state.present[:, position, None]
            moved = ((message * likelihood[:, position])[:, None, :] * transition).sum(2)
            moved = moved / moved.amax(1, keepdim=True).clamp(min=1e-300)
            message = torch.where(here, moved, message)
        return torch.stack(returning[::-1], 1)
