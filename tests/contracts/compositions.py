"""Examples of every part, found by file and built from their annotations: a new file is tested once it exists."""

from __future__ import annotations

import dataclasses
import itertools
import typing
from collections.abc import Iterator
from functools import cache
from typing import Any

from narrow import evens

from unmask.errors import StrategyError
from unmask.oracles import Oracle
from unmask.part import Part
from unmask.revisions import Revision
from unmask.strategy import Strategy, find, names, parse

LENGTH = 12
"""Positions in the rows that the examples are for."""

LONG = 40
"""Positions in the rows for the literature's samplers: more than one of their blocks."""

_NUMBERS = (0.1, 0.6, 1.0)
_WHOLE_NUMBERS = (1, 3, 20)


def _options(hint: Any, name: str) -> tuple[Any, ...]:
    """A few values for an option of this kind."""
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        return typing.get_args(hint)
    if hint is float:
        return _NUMBERS
    if hint is int:
        return _WHOLE_NUMBERS
    if hint == int | None:
        return (None, *_WHOLE_NUMBERS)
    if hint == tuple[float, ...]:
        return ((0.1, 0.3, 0.2, 0.3, 0.1), ())
    if hint == tuple[int, ...]:
        return (tuple(reversed(range(LENGTH))), (3, 1))
    if hint == tuple[tuple[int, ...], ...]:
        return (tuple(tuple((r + c) % 2 for c in range(LENGTH)) for r in range(64)),)
    if hint is Oracle:
        return (find("log_margin")(), find("klass")())
    raise TypeError(f"the contract tests cannot make up a value for the option {name!r} of type {hint}: teach them")


@cache
def examples(name: str) -> tuple[Part, ...]:
    """The part with each of its options varied in turn, the others kept at their first value (or default)."""
    kind = find(name)
    hints = typing.get_type_hints(kind)
    fields = [field for field in dataclasses.fields(kind) if field.init]  # type: ignore[arg-type]
    values = {field.name: _options(hints[field.name], field.name) for field in fields}
    base = {f.name: values[f.name][0] if f.default is dataclasses.MISSING else f.default for f in fields}
    found = [kind(**base)] if _makes(kind, base) else []
    for field in fields:
        for value in values[field.name]:
            options = base | {field.name: value}
            if _makes(kind, options) and (made := kind(**options)) not in found:
                found.append(made)
    assert found, f"no example of {name} could be made: teach the contract tests"
    return tuple(found)


def _makes(kind: type[Part], options: dict[str, Any]) -> bool:
    try:
        kind(**options)
    except StrategyError:
        return False
    return True


def in_room(room: str) -> list[str]:
    """The names of a room, by file."""
    return sorted(name for name, home in names().items() if home == room)


def parts(room: str) -> list[Part]:
    """Examples of everything in a room."""
    return [part for name in in_room(room) for part in examples(name)]


def oracles() -> list[Part]:
    """Examples of every oracle, and one that asks about less than what is open."""
    return [*parts("oracles"), evens()]


def strategies() -> list[Strategy]:
    """Every part of every room in at least one strategy, with partners that it accepts."""
    partners = {
        "oracle": oracles(),
        "pace": parts("paces"),
        "choice": parts("choices"),
        "revision": parts("revisions"),
        "window": parts("windows"),
    }
    plain = parse("margin, evenly(5), sample")
    found: dict[str, Strategy] = {}
    for role, candidates in partners.items():
        for part in candidates:
            made = next(_with(plain, role, part), None)
            assert made is not None, f"{part} fits no strategy that the contract tests know: teach them"
            found[str(made)] = made
    narrow = [_made(plain, "oracle", evens(), pace) for pace in partners["pace"]]
    found |= {str(strategy): strategy for strategy in narrow if strategy is not None}
    return list(found.values())


def _made(plain: Strategy, role: str, part: Part, pace: Part) -> Strategy | None:
    try:
        return dataclasses.replace(plain, **{"pace": pace, role: part})
    except StrategyError:
        return None


def _with(plain: Strategy, role: str, part: Part) -> Iterator[Strategy]:
    """Strategies that have this part: the plain one first, then with other paces."""
    paces = [plain.pace, parse("margin, looped(20), sample").pace]
    for pace in [part] if role == "pace" else paces:
        if (made := _made(plain, role, part, pace)) is not None:
            yield made


def fits(oracle: Oracle, texts: tuple[str, ...]) -> Strategy:
    """The first of these strategies that accepts the oracle in the place of its own."""
    for text in texts:
        try:
            return dataclasses.replace(parse(text), oracle=oracle)
        except StrategyError:
            continue
    raise AssertionError(f"{oracle} fits none of {texts}")


def revisions() -> list[Revision]:
    """Examples of every revision."""
    return typing.cast("list[Revision]", parts("revisions"))


def pairs_of_rooms() -> Iterator[tuple[Part, ...]]:
    """Oracle, pace and choice, one example of each: for the law of texts."""
    firsts = [[examples(name)[-1] for name in in_room(room)] for room in ("oracles", "paces", "choices")]
    return itertools.product(*firsts)
