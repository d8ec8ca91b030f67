"""Part: what every piece of a strategy is - a frozen value with a text that reads back as the same value.

Making one checks its options against the annotations, here and nowhere else: Python and a text are refused alike, with
the same line. What a class checks beyond that (`__post_init__`) sees values that are of the right kind already.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import numbers
import re
import sys
import types
import typing
from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import StrategyError, UnmaskError, nearest, one_line

if TYPE_CHECKING:
    from unmask.strategy import Strategy

_LARGEST = 10**12
"""Whole numbers of options: sums and products with the length of a row must fit 64 bits."""


class Checked(ABCMeta):
    """Checks the options before a value is made. Copies and pickles are not made anew, and go past it."""

    if not TYPE_CHECKING:  # for type checkers a part takes what its dataclass says

        def __call__(cls, *values: Any, **options: Any) -> Any:
            fitted = _fitted(cls, values, options)
            try:
                return super().__call__(**fitted)
            except UnmaskError:
                raise
            except Exception as error:
                if not _is_own(cls):
                    raise
                raise StrategyError(f"{cls.__name__} cannot be made: {_told(error)}") from error


class Part(metaclass=Checked):
    """Base of oracles, paces, choices, revisions and windows. Subclasses are frozen dataclasses of plain values."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if _is_own(cls):
            for name, method in list(vars(cls).items()):
                if inspect.isfunction(method) and (name == "__call__" or not name.startswith("_")):
                    setattr(cls, name, _named(name, method))

    @property
    def reads_proposal(self) -> bool:
        """Whether an oracle's or a pace's answer depends on the values that are proposed. One that reads them must say
        so, or they are kept from it; what is made of other parts (`noisy`) reads them if one of those does."""
        within = (getattr(self, field.name) for field in dataclasses.fields(self))  # ty: ignore[invalid-argument-type]
        return any(part.reads_proposal for part in within if isinstance(part, Part))

    def check(self, strategy: Strategy) -> None:
        """Raise a StrategyError, naming itself, where it cannot work with the other parts."""

    def __str__(self) -> str:
        """The text that reads back as this part - where its class is in a file. What was typed at a prompt, in a
        notebook or after `python -c` has no file, and its text is just `Mine(k=2)`, which cannot be read back."""
        return spell(self)


def spell(value: Any) -> str:
    """The text of a part or of one of its options: a Python expression, options at their defaults left out."""
    if isinstance(value, str):
        if not value.isprintable():
            return repr(value)
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, tuple):
        inside = ", ".join(spell(item) for item in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, float) and math.isinf(value):
        return "1e999" if value > 0 else "-1e999"  # `inf` would be a name
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


def show(value: Any) -> str:
    """A value as an error names it: not longer than a line can be."""
    text = one_line(spell(value) if isinstance(value, Part) else _repr(value))
    return text if len(text) <= 200 else f"{text[:150]} ... ({len(text)} characters)"


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # Python refuses to write out whole numbers of thousands of digits
        return "a whole number of thousands of digits"


PLAIN_PATH = re.compile(r"""[^\s,()"'=\[\]]+\.py""")
"""A path that needs no quotes before `:Name` in a text."""


def _name(kind: type) -> str:
    if not _is_own(kind):
        return kind.__name__
    # Not `inspect.getsourcefile`, which fails where there is none; and not a base's source, which a class inherits.
    module = sys.modules.get(kind.__module__)
    source = vars(kind).get("__unmask_source__") or getattr(module, "__file__", None)
    if not (isinstance(source, str) and source.endswith(".py")):
        return kind.__name__
    path = Path(source).as_posix()
    return f"{path if PLAIN_PATH.fullmatch(path) else spell(path)}:{kind.__name__}"


def _is_own(kind: type) -> bool:
    """Whether a class is a user's, not the package's."""
    return not kind.__module__.startswith("unmask.")


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {one_line(error)}" if str(error) else type(error).__name__


def _named(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a user's own part: what it raises by mistake says whose mistake it was."""

    @functools.wraps(method)
    def guarded(self: Part, *values: Any, **options: Any) -> Any:
        try:
            return method(self, *values, **options)
        except UnmaskError:
            raise
        except (Exception, SystemExit) as error:
            raise StrategyError(f"{show(self)}: {name} raised {_told(error)}") from error

    return guarded


def _fitted(kind: Any, values: Sequence[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Options by name, as their annotations want them; one clear line for every way in which they can be wrong."""
    _require_frozen(kind)
    fields = [field for field in dataclasses.fields(kind) if field.init]
    known = [field.name for field in fields]
    by_place = [field.name for field in fields if not field.kw_only]
    usage = f"{kind.__name__}({', '.join(known)})"
    if len(values) > len(by_place):
        takes = f"at most {len(by_place)}" if by_place else "no"
        by_name = " without a name" if len(by_place) < len(fields) else ""
        raise StrategyError(f"{usage} takes {takes} option{'s' * (len(by_place) != 1)}{by_name}, got {len(values)}")
    for option in given:
        if option not in known:
            hint = nearest(option, known) if known else "it takes none"
            raise StrategyError(f"{usage} has no option {option!r}; {hint}")
        if option in by_place[: len(values)]:
            raise StrategyError(f"{usage}: {option!r} is given twice")
    options = dict(zip(by_place, values, strict=False)) | dict(given)
    hints = _hints(kind)
    for field in fields:
        if field.name in options:
            options[field.name] = _fit(options[field.name], hints.get(field.name, Any), f"{usage}: {field.name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise StrategyError(f"{usage} needs {field.name!r}")
    return options


def _require_frozen(kind: Any) -> None:
    forgotten = not dataclasses.is_dataclass(kind) or (
        "__dataclass_fields__" not in vars(kind) and inspect.get_annotations(kind)
    )
    if forgotten or not kind.__dataclass_params__.frozen:
        raise StrategyError(
            f"{kind.__name__} is not a frozen dataclass, as parts are: write @dataclass(frozen=True) above the class"
        )


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind)
    except (NameError, TypeError):  # a name that only type checkers see: nothing is known about that class's options
        return {}


def _fit(value: Any, hint: Any, where: str) -> Any:
    """`value` as its annotation wants it, or one line that says what was expected."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        if value not in arguments:
            raise StrategyError(f"{where} cannot be {show(value)}; {nearest(str(value), map(str, arguments))}")
    elif hint is float:
        return _number(value, where)
    elif hint is int:
        return _whole_number(value, where)
    elif hint in (str, bool):
        if not isinstance(value, hint):
            kind = {str: "a string", bool: "True or False"}[hint]
            raise StrategyError(f"{where} must be {kind}, got {show(value)}")
    elif origin in (typing.Union, types.UnionType):
        kinds = [kind for kind in arguments if kind is not type(None)]
        if len(kinds) == 1 and not (value is None and len(arguments) == 2):
            return _fit(value, kinds[0], where)
    elif origin is tuple:
        return _tuple(value, arguments, where)
    elif inspect.isclass(hint) and issubclass(hint, Part):
        made = value() if isinstance(value, type) and issubclass(value, Part) else value
        if not isinstance(made, hint):
            raise StrategyError(f"{where} must be a part of the kind {hint.__name__}, got {show(made)}")
        return made
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or value != value:
        raise StrategyError(f"{where} must be a number, got {show(value)}")
    try:
        return float(value)
    except OverflowError:
        raise StrategyError(f"{where} is too large: {show(value)}") from None


def _whole_number(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise StrategyError(f"{where} must be a whole number, got {show(value)}")
    if not -_LARGEST <= value <= _LARGEST:
        raise StrategyError(f"{where} is too large: whole numbers go up to {_LARGEST}, got {show(int(value))}")
    return int(value)


def _tuple(value: Any, kinds: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    """Lists, and what turns into one (tensors and arrays), become tuples."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(plain, tuple | list):
        raise StrategyError(f"{where} must be a tuple such as (2, 0, 1), got {show(value)}")
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        if kinds[0] is int and all(type(item) is int for item in plain) and _small(plain):
            return tuple(plain)  # the rows of a data set may be millions of numbers
        return tuple(_fit(item, kinds[0], where) for item in plain)
    if len(kinds) != len(plain):
        raise StrategyError(f"{where} must be a tuple of {len(kinds)}, got {show(value)}")
    return tuple(_fit(item, kind, where) for item, kind in zip(plain, kinds, strict=True))


def _small(items: Sequence[int]) -> bool:
    return not items or -_LARGEST <= min(items) <= max(items) <= _LARGEST
