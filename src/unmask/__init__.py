"""unmask: token order in masked diffusion models. Train for the worst, decode in any order, see the order.

Public names are lazy: `import unmask` is quick, and torch is imported when a name that needs it is first used.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

_CORE = {
    "Belief": "belief",
    "Choice": "choices",
    "Dataset": "data.dataset",
    "Decoding": "decode",
    "Denoiser": "belief",
    "DenoiserError": "errors",
    "Enumeration": "exact.enumeration",
    "HiddenMarkov": "exact.hidden_markov",
    "ImpossibleEvidence": "errors",
    "Objective": "objectives",
    "Oracle": "oracles",
    "Pace": "paces",
    "Revision": "revisions",
    "Rows": "state",
    "State": "state",
    "Step": "decode",
    "Strategy": "strategy",
    "StrategyError": "errors",
    "Task": "tasks",
    "Trace": "trace",
    "TrainConfig": "train.config",
    "Training": "train.loop",
    "Transformer": "nets.transformer",
    "TransformerConfig": "nets.transformer",
    "UnmaskError": "errors",
    "Window": "windows",
    "decode": "decode",
    "elbo": "likelihood",
    "log_likelihood": "likelihood",
    "load": "checkpoint",
    "named": "strategies",
    "parse": "strategy",
    "record": "trace",
    "task": "tasks",
}
_ROOMS = ("oracles", "paces", "choices", "revisions", "windows", "wrappers", "objectives")


def _homes() -> dict[str, str]:
    """Where every public name lives. Parts are found by file, so that a new one is public as soon as it exists."""
    folder = Path(__file__).parent
    parts = {
        file.stem: f"{room}.{file.stem}"
        for room in _ROOMS
        for file in sorted((folder / room).glob("*.py"))
        if not file.stem.startswith("_")
    }
    return _CORE | parts


_HOME = _homes()

__all__ = [*_HOME, "__version__"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("unmask")
    if name not in _HOME:
        raise AttributeError(f"module 'unmask' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"unmask.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Importing the module `unmask.decode` binds its name here; the public name is the function of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in _HOME):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

if TYPE_CHECKING:  # a part that is not named here works all the same: type checkers then take it for Any
    from importlib.metadata import version

    __version__: str = version("unmask")
    from unmask.belief import Belief, Denoiser
    from unmask.checkpoint import load
    from unmask.choices import Choice
    from unmask.choices.greedy import greedy
    from unmask.choices.sample import sample
    from unmask.choices.teacher import teacher
    from unmask.data.dataset import Dataset
    from unmask.decode import Decoding, Step, decode
    from unmask.errors import DenoiserError, ImpossibleEvidence, StrategyError, UnmaskError
    from unmask.exact.enumeration import Enumeration
    from unmask.exact.hidden_markov import HiddenMarkov
    from unmask.likelihood import elbo, log_likelihood
    from unmask.nets.transformer import Transformer, TransformerConfig
    from unmask.objectives import Objective
    from unmask.objectives.any_order import any_order
    from unmask.objectives.causal import causal
    from unmask.objectives.one_order import one_order
    from unmask.oracles import Oracle
    from unmask.oracles.calibrated import calibrated
    from unmask.oracles.chosen_probability import chosen_probability
    from unmask.oracles.entropy import entropy
    from unmask.oracles.fixed import fixed
    from unmask.oracles.hierarchical import hierarchical
    from unmask.oracles.klass import klass
    from unmask.oracles.left_to_right import left_to_right
    from unmask.oracles.log_chosen_probability import log_chosen_probability
    from unmask.oracles.log_margin import log_margin
    from unmask.oracles.log_probability import log_probability
    from unmask.oracles.margin import margin
    from unmask.oracles.midpoints import midpoints
    from unmask.oracles.noisy import noisy
    from unmask.oracles.random import random
    from unmask.oracles.running import running
    from unmask.oracles.top_probability import top_probability
    from unmask.paces import Pace
    from unmask.paces.ancestral import ancestral
    from unmask.paces.cosine import cosine
    from unmask.paces.entropy_bound import entropy_bound
    from unmask.paces.evenly import evenly
    from unmask.paces.factor import factor
    from unmask.paces.looped import looped
    from unmask.paces.per_step import per_step
    from unmask.paces.threshold import threshold
    from unmask.revisions import Revision
    from unmask.revisions.leave_one_out import leave_one_out
    from unmask.revisions.lowest import lowest
    from unmask.revisions.p2 import p2
    from unmask.revisions.remdm import remdm
    from unmask.state import Rows, State
    from unmask.strategies import named
    from unmask.strategy import Strategy, parse
    from unmask.tasks import Task, task
    from unmask.trace import Trace, record
    from unmask.train.config import TrainConfig
    from unmask.train.loop import Training
    from unmask.windows import Window
    from unmask.windows.blocks import blocks
    from unmask.windows.whole import whole
    from unmask.wrappers.constrained import constrained
    from unmask.wrappers.fixed_shape import fixed_shape
    from unmask.wrappers.guided import guided
    from unmask.wrappers.tempered import tempered
