"""Part: what every piece of a strategy is - a frozen value with a text that reads back as the same value."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unmask.strategy import Strategy


class Part:
    """Base of oracles, paces, choices, revisions and windows. Subclasses are frozen dataclasses of plain values."""

    def check(self, strategy: Strategy) -> None:
        """Raise a StrategyError, naming itself, where it cannot work with the other parts."""

    def __str__(self) -> str:
        return spell(self)


def spell(value: Any) -> str:
    """The text of a part or of one of its options: a Python expression, options at their defaults left out."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, tuple):
        inside = ", ".join(spell(item) for item in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if not isinstance(value, Part):
        return repr(value)
    words: list[str] = []
    by_name = False
    for option in dataclasses.fields(value):  # type: ignore[arg-type]
        given = getattr(value, option.name)
        if given == option.default:
            by_name = True
            continue
        words.append(f"{option.name}={spell(given)}" if by_name or option.kw_only else spell(given))
    return _name(type(value)) + (f"({', '.join(words)})" if words else "")


def _name(kind: type) -> str:
    if kind.__module__.startswith("unmask."):
        return kind.__name__
    source = getattr(kind, "__unmask_source__", None) or inspect.getsourcefile(kind) or kind.__module__
    return f"{Path(source).as_posix()}:{kind.__name__}"
