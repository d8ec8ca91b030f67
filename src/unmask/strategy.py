"""Strategy: the frozen value (oracle, pace, choice, revision, window), its text, and the way back from the text.

The text is a Python expression - `margin, per_step(2), greedy, blocks(32)` - and the same on the command line, in a
result row and in an address. It is read with `ast`, never evaluated. Names are found by file: `oracles/margin.py`
holds `margin`. A user's own part is named by its file: `./mine.py:Mine(k=2)`, in quotes where the path has spaces or
signs: `"./my parts/mine.py":Mine(k=2)`.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
import re
import sys
import typing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from unmask.choices import Choice
from unmask.errors import StrategyError, nearest, one_line
from unmask.oracles import Oracle
from unmask.paces import Pace
from unmask.part import PLAIN_PATH, Checked, Part, show, spell
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
_NAME = r":[A-Za-z_]\w*"
_OWN = re.compile(
    r"""(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    rf"(?P<name>{_NAME})?|(?P<plain>{PLAIN_PATH.pattern})(?P<of>{_NAME})"
)
"""A user's own part, or a string, in which nothing is looked for."""
_DEEPEST = 50
"""Parts within parts, and what else may be nested in a text: Python reads and prints them by recursion."""


@dataclass(frozen=True)
class Strategy(metaclass=Checked):
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
        made = [_made(part) for part in parts]
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
    parts = values(text)
    for part in parts:
        if not isinstance(part, Part):
            raise StrategyError(f"{show(part)} is not a part of a strategy; {_FORM}")
    return Strategy.of(*parts)


def values(text: str) -> list[Any]:
    """The values that a text names, one after the other, separated by commas: parts, mostly."""
    own: dict[str, type] = {}

    def keep(match: re.Match[str]) -> str:
        if not (match["name"] or match["of"]):
            return match.group()
        path = match["plain"] or _unquoted(match["quoted"])
        name = f"_own_{len(own)}"
        own[name] = load(path + (match["name"] or match["of"]))
        return name

    tree = _tree(_OWN.sub(keep, text.strip()))
    if not isinstance(tree, ast.Call) or tree.keywords or not isinstance(tree.func, ast.Name):
        raise StrategyError(f"cannot read the strategy {show(text)}; {_FORM}")
    return [_read(node, own) for node in tree.args]


def _unquoted(path: str) -> str:
    try:
        return ast.literal_eval(path)
    except (SyntaxError, ValueError):
        raise StrategyError(f'cannot read the path {show(path)}; expected one such as "./my parts/mine.py"') from None


def _tree(source: str) -> ast.expr | None:
    """The parts of a text as the arguments of one call; None where it is no Python expression."""
    try:
        tree = ast.parse(f"_({source}\n)", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        if isinstance(error, SyntaxError | ValueError) and "too many nested" not in str(error):
            return None
        tree = None  # Python's own parser has its limits too
    level: list[ast.AST] = [] if tree is None else [tree]
    for _ in range(_DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if tree is None or level:
        raise StrategyError(f"the strategy is nested too deeply, more than {_DEEPEST} levels: {show(source)}")
    return tree


@cache
def names() -> dict[str, str]:
    """Every known name and its room, by file."""
    found = {}
    for room in (*ROOMS, "objectives"):
        folder = Path(__file__).parent / room
        found |= {module.name: room for module in pkgutil.iter_modules([str(folder)])}
    return found


def find(name: str) -> type[Part]:
    """The class of a known name."""
    room = names().get(name)
    if room is None:
        raise StrategyError(f"there is no part {show(name)}; {nearest(name, names())} (`unmask strategies` lists all)")
    return getattr(importlib.import_module(f"unmask.{room}.{name}"), name)


def load(reference: str) -> type[Part]:
    """The class that `path/to/file.py:Name` refers to. A file already loaded is not loaded twice."""
    path, _, name = reference.rpartition(":")
    module = _module(path)
    kind = getattr(module, name, None)
    parts = [n for n, value in vars(module).items() if isinstance(value, type) and issubclass(value, Part)]
    own = [n for n in parts if getattr(module, n).__module__ == module.__name__]
    if not (isinstance(kind, type) and issubclass(kind, Part)):
        raise StrategyError(
            f"{one_line(path)} has no part {name!r}; " + (nearest(name, own) if own else "it defines no part")
        )
    kind.__unmask_source__ = path  # type: ignore[unresolved-attribute]
    return kind


def _module(path: str) -> ModuleType:
    try:
        file = Path(path).resolve()
        there = file.is_file()
    except (OSError, ValueError):  # a name that no file can have
        there = False
    if not there:
        raise StrategyError(f"{one_line(path)} is not a file; expected a reference such as ./mine.py:Mine")
    module = next((m for m in list(sys.modules.values()) if _same_file(m, file)), None)
    if module is not None:
        return module
    spec = importlib.util.spec_from_file_location(f"_unmask_own_{file.stem}_{abs(hash(file))}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[spec.name]
        raise StrategyError(f"{one_line(path)} cannot be loaded: {type(error).__name__}: {one_line(error)}") from error
    return module


def _same_file(module: object, file: Path) -> bool:
    source = getattr(module, "__file__", None)
    return isinstance(source, str) and source.endswith(file.name) and Path(source).resolve() == file


def _made(part: Any) -> Any:
    """A bare class stands for itself with its defaults."""
    return part() if isinstance(part, type) and issubclass(part, Part) else part


def _require(part: Any, name: str, room: type[Room]) -> Room:
    if not isinstance(part, room):
        home = next((kind.__name__.lower() for kind in ROOMS.values() if isinstance(part, kind)), "no part of any kind")
        raise StrategyError(f"{show(part)} ({home}) stands where {name} is expected; {_FORM}")
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
        return (own.get(node.id) or find(node.id))()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        kind = own.get(node.func.id) or find(node.func.id)
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            raise StrategyError(f"{kind.__name__}: options are written out, without stars")
        options = {keyword.arg: _read(keyword.value, own) for keyword in node.keywords if keyword.arg}
        return kind(*(_read(a, own) for a in node.args), **options)
    what = show(ast.unparse(node))
    raise StrategyError(f"cannot read {what} in a strategy: only names, calls, numbers, strings, tuples")
