"""Runs with a name: `unmask train TASK --preset NAME`. A function each, which makes the config of a run for a task.

Any option can still be changed on the command line, by its name in TrainConfig.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable

from unmask.errors import UnmaskError, nearest
from unmask.nets import presets as nets
from unmask.nets.transformer import TransformerConfig
from unmask.objectives.any_order import any_order
from unmask.tasks import Task
from unmask.train.config import TrainConfig


def coordinates(problem: Task) -> TrainConfig:
    """Attention by equal coordinates, the same two blocks four times: what learns most in an hour of two CPU cores."""
    net = nets.by_coordinates(problem.values, _coordinates(problem))
    return TrainConfig(
        problem.name,
        net,
        any_order(floor=1.0),
        split="easy-train",
        validation="easy-validation",
        steps=20_000,
    )


def plain(problem: Task) -> TrainConfig:
    """The paper's net of 6M (learned positions, no coordinates), all else as in `coordinates`."""
    net = nets.mdm_6m(problem.values, problem.length)
    return TrainConfig(
        problem.name,
        net,
        any_order(floor=1.0),
        split="easy-train",
        validation="easy-validation",
        steps=20_000,
    )


def paper(problem: Task) -> TrainConfig:
    """The paper's net and the recipe of the code that it builds on: 20 times, focal loss, AdamW, batches of 1,024."""
    return TrainConfig(
        problem.name,
        nets.mdm_6m(problem.values, problem.length),
        any_order(by="time", weight="linear", focal=1.0, steps=20),
        split="easy-train",
        validation="easy-validation",
        augment=False,
        batch=1024,
        steps=525_000,
        muon=0.0,
        adam=1e-3,
        betas=(0.9, 0.999),
        schedule="cosine",
        ema=0.0,
        validate_every=5_000,
    )


def tiny(problem: Task) -> TrainConfig:
    """A net that trains in seconds, to see that all is well; it does not learn much."""
    net = TransformerConfig(
        problem.values, width=32, heads=2, blocks=1, passes=2, coordinates=_coordinates(problem), activation="relu2"
    )
    return TrainConfig(
        problem.name,
        net,
        any_order(),
        split="easy-train",
        validation="easy-validation",
        batch=16,
        micro=8,
        steps=100,
        warmup=5,
        validate=4,
        validate_every=50,
    )


def names() -> list[str]:
    """Every preset."""
    return list(_functions())


def preset(name: str, problem: Task) -> TrainConfig:
    """The config of that name for a task."""
    found = _functions()
    if name not in found:
        raise UnmaskError(f"there is no preset {name!r}; {nearest(name, found)}")
    return found[name](problem)


def _functions() -> dict[str, Callable[[Task], TrainConfig]]:
    own = inspect.getmembers(sys.modules[__name__], inspect.isfunction)
    made = {name: function for name, function in own if function.__annotations__.get("return") == "TrainConfig"}
    return {name: function for name, function in made.items() if name != "preset"}


def _coordinates(problem: Task) -> int:
    """How many coordinates the task's positions have."""
    where = problem.sample(1, 0).coordinates
    return 0 if where is None else where.shape[-1]
