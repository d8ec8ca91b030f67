"""A run that takes seconds, for the tests: in this process, or in one that can be killed."""

from __future__ import annotations

import dataclasses
import resource
from pathlib import Path
from typing import Any

import torch

from unmask.nets.transformer import TransformerConfig
from unmask.objectives.any_order import any_order
from unmask.parallel import world
from unmask.train import Report, TrainConfig, Training

NET = TransformerConfig(9, width=16, heads=2, blocks=1, passes=2, coordinates=3, autocast="float32")
CONFIG = TrainConfig(
    "sudoku",
    NET,
    any_order(floor=0.25),
    split="easy-train",
    validation="easy-validation",
    batch=8,
    micro=4,
    steps=60,
    warmup=5,
    clip=1.0,
    ema=0.9,
    validate=2,
    validate_every=20,
    strategy="margin, evenly(3), greedy",
)


def train(out: Path, data: Path, *, steps: int | None = None, **options: Any) -> list[Report]:
    """Drain a run, or its first `steps` steps; what it reported."""
    start = options.pop("start", None)
    with world("cpu") as here:
        run = Training(dataclasses.replace(CONFIG, **options), out, data, here, start=start, compiled=False)
        reports = []
        for report in run.steps(save_seconds=0.0, stop=lambda: steps is not None and run.step >= steps):
            reports.append(report)
        return reports


def in_a_process(out: Path, data: Path, most_bytes: int | None = None) -> None:
    """The same run, in a process of its own; with `most_bytes`, no file may be larger than that."""
    torch.set_num_threads(1)
    if most_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    try:
        train(out, data)
    except Exception as error:
        (out / "error.txt").write_text(f"{type(error).__name__}: {error}", encoding="utf-8")
        raise SystemExit(2) from error
