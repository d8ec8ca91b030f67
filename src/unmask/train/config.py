"""TrainConfig: all that a run is a matter of. A frozen value, made by a Python function, kept in every checkpoint.

On the command line any of it can be changed by name: `batch=64 net.width=64 "objective=AnyOrder(floor=0.25)"`.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from unmask.errors import UnmaskError, nearest
from unmask.nets.transformer import TransformerConfig
from unmask.objectives import Objective, parse
from unmask.part import Checked
from unmask.strategies import resolve


@dataclass(frozen=True)
class TrainConfig(metaclass=Checked):
    """A net, what it is trained to do, on what, and how.

    `batch` rows a step over all processes, `micro` of them at a time in each. `muon` and `adam` are the peak rates
    (`muon=0`: AdamW for everything). The rate rises for `warmup` steps; `constant` stays until the last `decay` of the
    steps and then falls straight to `least` of the peak. `ema` is the decay of the mean of weights, which is what is
    evaluated and kept. `validate` rows of the split `validation` are looked at every `validate_every` steps.
    """

    task: str
    net: TransformerConfig
    objective: Objective
    split: str = "easy-train+hard-train"
    validation: str = "easy-validation+hard-validation"
    augment: bool = True
    seed: int = 0
    batch: int = 192
    micro: int = 64
    steps: int = 10_000
    muon: float = 0.02
    adam: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.95)
    weight_decay: float = 0.0
    warmup: int = 50
    schedule: Literal["constant", "cosine", "linear"] = "constant"
    decay: float = 0.3
    least: float = 0.0
    clip: float = 0.0
    ema: float = 0.999
    validate: int = 128
    validate_every: int = 1_000
    strategy: str = "margin, per_step(1), greedy"

    def __post_init__(self) -> None:
        for name in ("batch", "micro", "steps", "validate_every"):
            if getattr(self, name) < 1:
                raise UnmaskError(f"TrainConfig: {name} must be at least 1, got {getattr(self, name)}")
        for name in ("muon", "weight_decay", "warmup", "clip", "validate"):
            if getattr(self, name) < 0:
                raise UnmaskError(f"TrainConfig: {name} must be at least 0, got {getattr(self, name)}")
        for name in ("decay", "least", "ema"):
            if not 0 <= getattr(self, name) <= 1:
                raise UnmaskError(f"TrainConfig: {name} must be between 0 and 1, got {getattr(self, name)}")
        resolve(self.strategy)  # a misspelt one is refused now, not at the first validation
        if not all(0 <= beta < 1 for beta in self.betas):
            raise UnmaskError(f"TrainConfig: betas must be at least 0 and below 1, got {self.betas}")
        if not self.adam > 0:
            raise UnmaskError(f"TrainConfig: adam must be above 0, got {self.adam}")

    @property
    def about(self) -> dict[str, Any]:
        """Plain values that JSON can say; `from_about` reads them."""
        return {**dataclasses.asdict(self), "objective": str(self.objective)}


def from_about(about: Mapping[str, Any], where: str) -> TrainConfig:
    """The config that a checkpoint tells of; one line, beginning with `where`, for what cannot be one."""
    if not isinstance(about, Mapping) or not isinstance(about.get("net", {}), Mapping):
        raise UnmaskError(f"{where}: the config is not made of names and values")
    try:
        net, objective = TransformerConfig(**about["net"]), parse(about["objective"])
        options: dict[str, Any] = {**about, "net": net, "objective": objective}
        return TrainConfig(**options)
    except KeyError as error:
        raise UnmaskError(f"{where}: the config has no {error}") from None
    except UnmaskError as error:
        raise UnmaskError(f"{where}: {error}") from None


def override(config: TrainConfig, changes: Iterable[str]) -> TrainConfig:
    """The config with some options changed: texts such as `batch=64`, `net.width=64`."""
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals:
            raise UnmaskError(f"{change!r} changes nothing; expected NAME=VALUE, such as batch=64 or net.width=64")
        config = _changed(config, name.strip(), text.strip())
    return config


def _changed(config: TrainConfig, name: str, text: str) -> TrainConfig:
    if name == "task":
        raise UnmaskError("the task is not an option: it is what stands before the options")
    if name == "objective":
        return dataclasses.replace(config, objective=parse(text))
    part, dot, inner = name.partition(".")
    target: Any = config.net if dot and part == "net" else config
    known = [f"net.{field.name}" for field in dataclasses.fields(config.net)]
    known += [field.name for field in dataclasses.fields(config) if field.name != "net"]
    if name not in known:
        raise UnmaskError(f"there is no option {name!r}; {nearest(name, known)}")
    inner = inner if dot else name
    options = {field.name: getattr(target, field.name) for field in dataclasses.fields(target)}
    changed = type(target)(**{**options, inner: _value(text)})
    return dataclasses.replace(config, net=changed) if dot else changed


def _value(text: str) -> Any:
    """A number, True, None or a tuple as Python writes it; anything else is a text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
