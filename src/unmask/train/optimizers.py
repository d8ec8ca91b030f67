"""Optimisers: Muon for the matrices of blocks, AdamW for all else; their rate over time; the mean of weights (EMA).

Muon (Jordan et al. 2024) replaces the gradient of a matrix by the nearest orthogonal one; embeddings, the head, norms
and biases are not matrices in that sense. `Optimizers` is all there is to go on with a run: its `tensors` go into a
checkpoint under the names of the weights, and come back from there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from unmask.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.train.config import TrainConfig


class Optimizers:
    """The optimisers of a net: one or two, stepped as one."""

    def __init__(self, net: nn.Module, config: TrainConfig) -> None:
        self.config = config
        self._names = {id(weight): name for name, weight in net.named_parameters()}
        weights = dict(net.named_parameters())
        matrices = {n: w for n, w in weights.items() if _is_matrix(n, w)} if config.muon else {}
        rest = {n: w for n, w in weights.items() if n not in matrices}
        decayed = [w for w in rest.values() if w.dim() > 1]
        plain = [w for w in rest.values() if w.dim() <= 1]
        groups = [{"params": decayed, "weight_decay": config.weight_decay}, {"params": plain, "weight_decay": 0.0}]
        adam = torch.optim.AdamW([g for g in groups if g["params"]], lr=config.adam, betas=config.betas)
        self._all: list[tuple[torch.optim.Optimizer, float]] = [(adam, config.adam)]
        if matrices:
            muon = torch.optim.Muon(
                list(matrices.values()), lr=config.muon, momentum=0.95, weight_decay=config.weight_decay
            )
            self._all.append((muon, config.muon))

    def step(self, number: int) -> None:
        """Change the weights, at the rate that step `number` has, and forget the gradients."""
        share = rate(self.config, number)
        for optimizer, peak in self._all:
            for group in optimizer.param_groups:
                group["lr"] = peak * share
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """All that the optimisers remember, by weight and by what it is."""
        return {
            f"{self._names[id(weight)]}/{what}": torch.as_tensor(value)
            for optimizer, _ in self._all
            for weight, memory in optimizer.state.items()
            for what, value in memory.items()
        }

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Remember what `tensors` says."""
        for optimizer, _ in self._all:
            for group in optimizer.param_groups:
                for weight in group["params"]:
                    start = f"{self._names[id(weight)]}/"
                    memory = {name[len(start) :]: t for name, t in tensors.items() if name.startswith(start)}
                    if not memory:
                        raise UnmaskError(f"the checkpoint has no state of the optimiser for {start[:-1]}")
                    # AdamW counts its steps on the CPU, wherever the weights are.
                    optimizer.state[weight] = {
                        what: value.clone() if what == "step" else value.to(weight.device, copy=True)
                        for what, value in memory.items()
                    }


def rate(config: TrainConfig, step: int) -> float:
    """The share of the peak rate at a step: a straight rise, then constant, cosine or linear, then the final decay."""
    rise = min(1.0, (step + 1) / config.warmup) if config.warmup else 1.0
    done = step / config.steps
    if config.schedule == "constant":
        fall = min(1.0, (1 - done) / config.decay) if config.decay else 1.0
    elif config.schedule == "linear":
        fall = 1 - done
    else:
        fall = 0.5 * (1 + math.cos(math.pi * done))
    return rise * max(fall, config.least)


class Mean:
    """The exponential mean of a net's weights, quicker while there is little to take the mean of."""

    def __init__(self, net: nn.Module, decay: float) -> None:
        self.decay = decay
        self._weights = list(net.parameters())
        self.weights = [weight.detach().clone() for weight in self._weights]
        self._names = [name for name, _ in net.named_parameters()]

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take the weights after `step` into the mean."""
        share = 1 - min(self.decay, (1 + step) / (10 + step))
        torch._foreach_lerp_(self.weights, [weight.detach() for weight in self._weights], share)

    @torch.no_grad()
    def swap(self) -> None:
        """Put the mean into the net, and the net's weights where the mean was. Twice changes nothing, to the bit."""
        for mean, weight in zip(self.weights, self._weights, strict=True):
            kept = mean.clone()
            mean.copy_(weight)
            weight.copy_(kept)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """The mean by name."""
        return dict(zip(self._names, self.weights, strict=True))

    @torch.no_grad()
    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Go on from a mean."""
        for name, mean in zip(self._names, self.weights, strict=True):
            mean.copy_(tensors[name])


def _is_matrix(name: str, weight: Tensor) -> bool:
    return weight.dim() == 2 and name.startswith("blocks.") and name.endswith(".weight")
