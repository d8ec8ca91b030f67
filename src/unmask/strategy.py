"""Strategy: the frozen value (oracle, pace, choice, revision, window), its text, and the way back from the text.

The text is a Python expression - `margin, per_step(2), greedy, blocks(32)` - and the same on the command line, in a
result row and in an address. It is read with `ast`, never evaluated. Names are found by file: `oracles/margin.py`
holds `margin`. A user's own part is named by its file: `./mine.py:Mine(k=2)`.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import importlib.util
import inspect
import pkgutil
import re
import sys
import typing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from unmask.choices import Choice
from unmask.errors import StrategyError, nearest
from unmask.oracles import Oracle
from unmask.paces import Pace
from unmask.part import Part, spell
from unmask.revisions import Revision
from unmask.windows import Window
from unmask.windows.whole import whole

ROOMS: dict[str, type[Part]] = {
    "oracles": Oracle,
    "paces": Pace,
    "choices": Choice,
    "revisions": Revision,
    "windows": Window,
}
Room = typing.TypeVar("Room", bound=Part)
_FORM = "a strategy is: oracle, pace, choice[, revision][, window]; for example: margin, per_step(1), greedy"
_OWN = re.compile(r"""[^\s,()"']+\.py:[A-Za-z_]\w*""")


@dataclass(frozen=True)
class Strategy:
    """How to decode: five values. `Strategy.of` takes them as the text does, a revision or a window alone included."""

    oracle: Oracle
    pace: Pace
    choice: Choice
    revision: Revision | None = None
    window: Window = whole()  # noqa: RUF009 - a frozen value

    def __post_init__(self) -> None:
        for part in (self.oracle, self.pace, self.choice, self.revision, self.window):
            if part is not None:
                part.check(self)

    @staticmethod
    def of(*parts: Part | type[Part]) -> Strategy:
        """Oracle, pace and choice; then, in any order, a revision and a window, or neither. A bare class stands for
        itself with its defaults: `Strategy.of(margin, per_step(2), greedy, blocks(32))`."""
        made = [_build(part, [], {}) if isinstance(part, type) else part for part in parts]
        if not 3 <= len(made) <= 5:
            raise StrategyError(f"{len(made)} part{'s' * (len(made) != 1)} in a strategy; {_FORM}")
        others = made[3:]
        if len(others) == 2 and isinstance(others[0], Window):
            others.reverse()
        window = others.pop() if others and isinstance(others[-1], Window) else whole()
        return Strategy(
            _require(made[0], "an oracle", Oracle),
            _require(made[1], "a pace", Pace),
            _require(made[2], "a choice", Choice),
            _require(others[0], "a revision", Revision) if others else None,
            _require(window if len(others) < 2 else others[1], "a window", Window),
        )

    @property
    def steps(self) -> int | None:
        """How many steps a stage takes, where the pace says so."""
        return getattr(self.pace, "steps", None)

    def __str__(self) -> str:
        parts: list[Part] = [self.oracle, self.pace, self.choice]
        if self.revision is not None:
            parts.append(self.revision)
        if self.window != whole():
            parts.append(self.window)
        return ", ".join(spell(part) for part in parts)


def parse(text: str) -> Strategy:
    """The strategy that a text names: `parse(str(strategy)) == strategy`. Raises StrategyError, naming what is wrong.

    >>> str(parse("margin,per_step( k=2 ),greedy"))
    'margin, per_step(2), greedy'
    """
    own: dict[str, type] = {}

    def keep(match: re.Match[str]) -> str:
        name = f"_own_{len(own)}"
        own[name] = load(match.group())
        return name

    source = _OWN.sub(keep, text.strip())
    try:
        tree = ast.parse(f"_({source}\n)", mode="eval").body
    except (SyntaxError, ValueError):
        raise StrategyError(f"cannot read the strategy {text!r}; {_FORM}") from None
    if not isinstance(tree, ast.Call) or tree.keywords or not isinstance(tree.func, ast.Name):
        raise StrategyError(f"cannot read the strategy {text!r}; {_FORM}")
    parts = [_read(node, own) for node in tree.args]
    for part in parts:
        if not isinstance(part, Part):
            raise StrategyError(f"{part!r} is not a part of a strategy; {_FORM}")
    return Strategy.of(*parts)


@cache
def names() -> dict[str, str]:
    """Every known name and its room, by file."""
    found = {}
    for room in ROOMS:
        folder = Path(__file__).parent / room
        found |= {module.name: room for module in pkgutil.iter_modules([str(folder)])}
    return found


def find(name: str) -> type[Part]:
    """The class of a known name."""
    room = names().get(name)
    if room is None:
        raise StrategyError(f"there is no part {name!r}; {nearest(name, names())} (`unmask strategies` lists all)")
    return getattr(importlib.import_module(f"unmask.{room}.{name}"), name)


def load(reference: str) -> type:
    """The class that `path/to/file.py:Name` refers to. A file already loaded is not loaded twice."""
    path, _, name = reference.rpartition(":")
    file = Path(path).resolve()
    if not file.is_file():
        raise StrategyError(f"{path} is not a file; expected a reference such as ./mine.py:Mine")
    module = next((m for m in list(sys.modules.values()) if _same_file(m, file)), None)
    if module is None:
        spec = importlib.util.spec_from_file_location(f"_unmask_own_{file.stem}_{abs(hash(file))}", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[spec.name]
            raise StrategyError(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    kind = getattr(module, name, None)
    parts = [n for n, value in vars(module).items() if isinstance(value, type) and issubclass(value, Part)]
    own = [n for n in parts if getattr(module, n).__module__ == module.__name__]
    if not (isinstance(kind, type) and issubclass(kind, Part)):
        raise StrategyError(f"{path} has no part {name!r}; " + (nearest(name, own) if own else "it defines no part"))
    kind.__unmask_source__ = path
    return kind


def _same_file(module: object, file: Path) -> bool:
    source = getattr(module, "__file__", None)
    return isinstance(source, str) and source.endswith(file.name) and Path(source).resolve() == file


def _require(part: Any, name: str, room: type[Room]) -> Room:
    if not isinstance(part, room):
        home = next((kind.__name__.lower() for kind in ROOMS.values() if isinstance(part, kind)), "no part of any kind")
        raise StrategyError(f"{_show(part)} ({home}) stands where {name} is expected; {_FORM}")
    return part


def _read(node: ast.expr, own: dict[str, type]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _read(node.operand, own)
        if isinstance(number, int | float):
            return -number
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_read(item, own) for item in node.elts)
    if isinstance(node, ast.Name):
        return _build(own.get(node.id) or find(node.id), [], {})
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        kind = own.get(node.func.id) or find(node.func.id)
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            raise StrategyError(f"{kind.__name__}: options are written out, without stars")
        options = {keyword.arg: _read(keyword.value, own) for keyword in node.keywords if keyword.arg}
        return _build(kind, [_read(a, own) for a in node.args], options)
    raise StrategyError(f"cannot read {ast.unparse(node)!r} in a strategy: only names, calls, numbers, strings, tuples")


def _build(kind: type, values: list[Any], options: dict[str, Any]) -> Any:
    """Makes a part, with one clear line for every way in which its options can be wrong."""
    fields = [f for f in dataclasses.fields(kind) if f.init] if dataclasses.is_dataclass(kind) else []
    known = [f.name for f in fields]
    usage = f"{kind.__name__}({', '.join(known)})"
    if len(values) > len(fields):
        takes = f"at most {len(fields)}" if fields else "no"
        raise StrategyError(f"{usage} takes {takes} option{'s' * (len(fields) != 1)}, got {len(values)}")
    for option in options:
        if option not in known:
            hint = nearest(option, known) if known else "it takes none"
            raise StrategyError(f"{usage} has no option {option!r}; {hint}")
        if option in known[: len(values)]:
            raise StrategyError(f"{usage}: {option!r} is given twice")
    options = dict(zip(known, values, strict=False)) | options
    hints = typing.get_type_hints(kind)
    for field in fields:
        if field.name in options:
            options[field.name] = _fit(options[field.name], hints.get(field.name, Any), f"{usage}: {field.name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise StrategyError(f"{usage} needs {field.name!r}")
    return kind(**options)


def _fit(value: Any, hint: Any, where: str) -> Any:
    """`value` as its annotation wants it, or one line that says what was expected."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        if value not in arguments:
            raise StrategyError(f"{where} cannot be {value!r}; {nearest(str(value), map(str, arguments))}")
    elif hint is float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise StrategyError(f"{where} must be a number, got {_show(value)}")
        return float(value)
    elif hint in (int, str, bool):
        if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
            kind = {int: "a whole number", str: "a string", bool: "True or False"}[hint]
            raise StrategyError(f"{where} must be {kind}, got {_show(value)}")
    elif origin is tuple:
        if not isinstance(value, tuple):
            raise StrategyError(f"{where} must be a tuple such as (2, 0, 1), got {_show(value)}")
        return tuple(_fit(item, arguments[0], where) for item in value)
    elif inspect.isclass(hint) and issubclass(hint, Part) and not isinstance(value, hint):
        raise StrategyError(f"{where} must be a part of the kind {hint.__name__}, got {_show(value)}")
    return value


def _show(value: Any) -> str:
    return spell(value) if isinstance(value, Part) else repr(value)
