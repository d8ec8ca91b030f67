"""One run on several processes or machines, as `torchrun` starts them: who we are, and what has to be said to all.

Without torchrun there is one process and nothing to say. On CPUs processes talk over gloo, on GPUs over nccl.
"""

from __future__ import annotations

import contextlib
import datetime
import os
from collections.abc import Generator
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from unmask.errors import UnmaskError

_PATIENCE = datetime.timedelta(days=2)
"""How long processes wait for each other: one may be making the data, or solving puzzles that are held out."""


@dataclass(frozen=True)
class World:
    """This process among `size`: number `rank`, with `device` to compute on."""

    rank: int
    size: int
    device: torch.device

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes files and talks to people."""
        return self.rank == 0

    def mean(self, tensor: Tensor) -> Tensor:
        """The mean of a tensor over all processes."""
        if self.size > 1:
            dist.all_reduce(tensor)
            tensor /= self.size
        return tensor

    def same(self, what: str, value: str) -> None:
        """Refuse to go on where the processes do not all say the same, on machines that do not share a disk, say."""
        if self.size == 1:
            return
        said: list[str | None] = [None] * self.size
        dist.all_gather_object(said, value)
        if len(set(said)) > 1:
            other = next(number for number, one in enumerate(said) if one != said[0])
            raise UnmaskError(f"process {other} has another {what} than process 0; give all of them the same")

    def agree(self, flag: bool) -> bool:
        """What the leading process says."""
        if self.size == 1:
            return flag
        said = torch.tensor([int(flag)], device=self.device)
        dist.broadcast(said, 0)
        return bool(said)


@contextlib.contextmanager
def world(device: str) -> Generator[World]:
    """The processes of this run, from the environment that torchrun sets."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1 or "RANK" not in os.environ:  # schedulers set the one without the other
        yield World(0, 1, torch.device(device))
        return
    rank, local = int(os.environ["RANK"]), int(os.environ.get("LOCAL_RANK", "0"))
    place = torch.device(device, local) if device == "cuda" else torch.device(device)
    if place.type == "cuda":
        if local >= torch.cuda.device_count():
            raise UnmaskError(f"process {local} of this machine has no GPU: there are {torch.cuda.device_count()}")
        torch.cuda.set_device(place)
    dist.init_process_group("nccl" if place.type == "cuda" else "gloo", rank=rank, world_size=size, timeout=_PATIENCE)
    try:
        yield World(rank, size, place)
    finally:
        dist.destroy_process_group()
