"""Batches: which rows a step sees. A matter of the seed and the step alone, whoever asks and in whichever process.

The rows of a split are gone through in a random order, another one each time round, under a random symmetry of the
task each, if it has any.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from unmask import noise
from unmask.data.dataset import Dataset
from unmask.errors import UnmaskError
from unmask.objectives import Key
from unmask.state import Rows
from unmask.tasks import augmentation_of, rows_of, task
from unmask.train.config import TrainConfig


@dataclass(eq=False)
class Batches:
    """The rows of every step of a run."""

    config: TrainConfig
    data: Dataset
    device: torch.device
    _order: tuple[int, Tensor] = field(default=(-1, torch.empty(0)), init=False)

    def __post_init__(self) -> None:
        if not len(self.data):
            raise UnmaskError(f"the split {self.data.split} of {self.data.path} is empty: there is nothing to train on")
        if self.data.about["task"] != self.config.task:
            raise UnmaskError(
                f"{self.data.path} holds data of {self.data.about['task']}; this run is about {self.config.task}"
            )
        problem = task(self.config.task)
        if self.config.net.values != problem.values:
            raise UnmaskError(f"net.values is {self.config.net.values}; {problem.name} has {problem.values} values")
        self._rows = rows_of(self.config.task)
        self._augment = augmentation_of(self.config.task) if self.config.augment else None

    @property
    def about(self) -> dict[str, Any]:
        """Which data they are of: what they were made with, and a checksum of all that was made."""
        files = json.dumps(self.data.about["splits"], sort_keys=True)
        told = {name: self.data.about[name] for name in ("recipe", "count")}
        return {**told, "sha256": hashlib.sha256(files.encode()).hexdigest()}

    def rows(self, key: Key) -> Rows:
        """The rows of a step that a key names."""
        numbers = key.step * key.batch + key.row.cpu()
        rows = self._rows(self.data.batch(self._shuffled(numbers))).to(self.device)
        if self._augment is None:
            return rows
        return self._augment(rows, key.seed, key.row, torch.full_like(key.row, key.step))

    def _shuffled(self, numbers: Int[Tensor, " B"]) -> Int[Tensor, " B"]:
        found = torch.empty_like(numbers)
        for epoch in (numbers // len(self.data)).unique().tolist():
            here = numbers // len(self.data) == epoch
            if self._order[0] != epoch:
                word = noise.uniform(self.config.seed, "epoch", 0, epoch, 0)
                drawn = torch.Generator().manual_seed(int(word * 2**52))
                self._order = (epoch, torch.randperm(len(self.data), generator=drawn))
            found[here] = self._order[1][numbers[here] % len(self.data)]
        return found
