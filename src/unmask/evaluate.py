"""Evaluation: how many puzzles a denoiser solves under a strategy, with an interval, and what that costs.

Rows are decoded some at a time; each has its own key, so that which of them are decoded together changes nothing.
Whether a row is solved, the task decides by its rules: the right answer need not be known.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from unmask.belief import Denoiser
from unmask.decode import decode
from unmask.errors import UnmaskError
from unmask.state import Rows
from unmask.strategy import Strategy, parse
from unmask.tasks import Task


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a denoiser did under a strategy: which rows it solved, and its calls for each."""

    strategy: str
    solved: Bool[Tensor, " B"]
    calls: Int[Tensor, " B"]
    batch_calls: int
    seconds: float

    @property
    def about(self) -> dict[str, Any]:
        """The numbers of a result's line."""
        count, right = len(self.solved), int(self.solved.sum())
        low, high = wilson(right, count)
        return {
            "strategy": self.strategy,
            "solved": right,
            "of": count,
            "percent": round(100 * right / count, 2),
            "interval": [round(100 * low, 2), round(100 * high, 2)],
            "calls": round(float(self.calls.double().mean()), 2),
            "batch_calls": self.batch_calls,
            "seconds": round(self.seconds, 2),
        }


def evaluate(
    denoise: Denoiser, rows: Rows, problem: Task, strategy: Strategy | str, *, seed: int = 0, batch: int = 256
) -> Evaluation:
    """Decode all rows; draining `progress` says how far it is."""
    *_, last = progress(denoise, rows, problem, strategy, seed=seed, batch=batch)
    return last


def progress(
    denoise: Denoiser, rows: Rows, problem: Task, strategy: Strategy | str, *, seed: int = 0, batch: int = 256
) -> Iterator[Evaluation]:
    """The evaluation of the rows up to some, then of more, and at last of all of them."""
    if not len(rows):
        raise UnmaskError("there are no rows to evaluate")
    if batch < 1:
        raise UnmaskError(f"evaluate: batch must be at least 1, got {batch}")
    strategy = parse(strategy) if isinstance(strategy, str) else strategy
    device = rows.tokens.device
    solved, calls, total = [], [], 0
    began = time.monotonic()
    for part in torch.arange(len(rows), device=device).split(batch):
        state = rows.select(part).start(seed, row=part)
        each = torch.zeros(len(part), dtype=torch.int64, device=device)
        run = decode(denoise, state, strategy)
        for step in run:
            each[step.rows] += step.row_calls
        measured = problem.measure(run.state.rows)
        if "solved" not in measured:
            raise UnmaskError(f"the task {problem.name} does not say what is solved; there is nothing to count")
        solved.append(measured["solved"].cpu())
        calls.append(each.cpu())
        total += run.calls
        yield Evaluation(str(strategy), torch.cat(solved), torch.cat(calls), total, time.monotonic() - began)


def wilson(right: int, count: int, z: float = 1.959964) -> tuple[float, float]:
    """The interval of Wilson (1927) for a share: 95 %, unless told. Honest near 0 and 1 too."""
    share = right / count
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z / (1 + z**2 / count) * math.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    return max(0.0, middle - half), min(1.0, middle + half)
