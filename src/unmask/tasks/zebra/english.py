"""Zebra puzzles in plain English, and back: a heading, the attributes with their values, one clue a sentence.

    There are 3 houses in a row, numbered from left to right.
    Colors: red, green, blue.
    Nationalities: Norwegian, Dane, Swede.
    1. The Dane lives in the red house.
    2. The person in the green house lives directly left of the Swede.

`write` makes such text, `read` takes it, and is not strict: the words for attributes and values are the text's own, a
sentence is a clue if it names one, two or three values (or "house 2", "the second house"), and the words between them
say how they are related. What `read` cannot tell for sure it refuses, naming the line. "House 2: red, Dane." says what
is known of a house besides the clues; that is also how answers are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unmask.errors import UnmaskError
from unmask.tasks.zebra.clues import (
    BETWEEN,
    DIFFERENT,
    DIRECTLY,
    END,
    HOUSE,
    LEAST,
    LEFT,
    MOST,
    NEXT,
    SAME,
    Array,
    Clue,
    Puzzle,
)


@dataclass(frozen=True)
class Attribute:
    """An attribute in words: its heading, its values, and sentences about a person who has one of them."""

    heading: str
    values: tuple[str, ...]
    person: str = "the person with {}"
    has: str = "has {}"
    lacks: str = "does not have {}"


WORDS = (
    Attribute(
        "Colors",
        ("red", "green", "blue", "yellow", "white", "purple"),
        "the person in the {} house",
        "lives in the {} house",
        "does not live in the {} house",
    ),
    Attribute(
        "Nationalities",
        ("Norwegian", "Dane", "Swede", "German", "Spaniard", "Italian"),
        "the {}",
        "is the {}",
        "is not the {}",
    ),
    Attribute(
        "Drinks",
        ("tea", "coffee", "milk", "water", "juice", "cocoa"),
        "the person who drinks {}",
        "drinks {}",
        "does not drink {}",
    ),
    Attribute(
        "Pets",
        ("cat", "dog", "bird", "fish", "horse", "rabbit"),
        "the person who keeps the {}",
        "keeps the {}",
        "does not keep the {}",
    ),
    Attribute(
        "Jobs",
        ("doctor", "baker", "painter", "teacher", "pilot", "lawyer"),
        "the {}",
        "works as the {}",
        "does not work as the {}",
    ),
    Attribute(
        "Instruments",
        ("piano", "violin", "flute", "guitar", "drum", "harp"),
        "the person who plays the {}",
        "plays the {}",
        "does not play the {}",
    ),
)
"""The words of puzzles that are made here; of the values as many as there are houses."""

_HOUSES = Attribute("", tuple("123456"), "the person in house {}", "lives in house {}", "does not live in house {}")

HEADING = re.compile(r"\s*there are\b", re.IGNORECASE)
"""How a puzzle begins."""


@dataclass(frozen=True, eq=False)
class Text:
    """What was read: the puzzle, its words, and what is known besides the clues (as a solution; -1 where nothing)."""

    puzzle: Puzzle
    words: tuple[Attribute, ...]
    known: Array


# Writing


def write(puzzle: Puzzle, words: tuple[Attribute, ...] = WORDS) -> list[str]:
    """The puzzle, a line for the heading, for each attribute and for each clue."""
    lines = [f"There are {puzzle.houses} houses in a row, numbered from left to right."]
    lines += [f"{w.heading}: {', '.join(w.values[: puzzle.houses])}." for w in words[: puzzle.attributes]]
    return lines + [f"{number}. {tell(clue, words)}" for number, clue in enumerate(puzzle.clues, start=1)]


def tell(clue: Clue, words: tuple[Attribute, ...] = WORDS) -> str:
    """One clue as a sentence."""
    person = [_attribute(words, a).person.format(_attribute(words, a).values[v]) for a, v in clue.operands]
    attribute, value = clue.operands[-1]
    other = _attribute(words, attribute)
    if clue.kind == SAME:
        said = f"{person[0]} {other.has.format(other.values[value])}"
    elif clue.kind == DIFFERENT:
        said = f"{person[0]} {other.lacks.format(other.values[value])}"
    elif clue.kind == END:
        said = f"{person[0]} lives in one of the end houses"
    elif clue.kind == DIRECTLY:
        said = f"{person[0]} lives directly left of {person[1]}"
    elif clue.kind == NEXT:
        said = f"{person[0]} lives next to {person[1]}"
    elif clue.kind == LEFT:
        said = f"{person[0]} lives somewhere left of {person[1]}"
    else:
        said = f"{person[0]} lives somewhere between {person[1]} and {person[2]}"
    return f"{said[0].upper()}{said[1:]}."


def houses(grid: Array, puzzle: Puzzle, words: tuple[Attribute, ...] = WORDS) -> list[str]:
    """What is known, or the answer: a sentence for each house of which something is known."""
    lines = []
    for house in range(puzzle.houses):
        column = grid[: puzzle.attributes, house].tolist()
        names = [word.values[v] for word, v in zip(words, column, strict=False) if v >= 0]
        if names:
            lines.append(f"House {house + 1}: {', '.join(names)}.")
    return lines


def _attribute(words: tuple[Attribute, ...], number: int) -> Attribute:
    return _HOUSES if number == HOUSE else words[number]


# Reading


_NUMBERS = {"three": 3, "four": 4, "five": 5, "six": 6}
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5}
_COUNT = re.compile(r"there are (\w+)(?: \w+)? (?:houses|people|persons|homes)", re.IGNORECASE)
_LISTED = re.compile(r"([^:]+):\s*(.+)$", re.DOTALL)
_KNOWN = re.compile(r"house (?:number )?(\d+)$", re.IGNORECASE)
_BY_NUMBER = rf"house (?:number )?(?P<number>\d+)|(?P<ordinal>{'|'.join(_ORDINALS)}|middle|last) house"
_UNCLEAR = re.compile(
    r"\b(or|either|neither|nor|if|unless|only|both|one \w*house|two|three|four|five|exactly|least|most|than|"
    r"apart|away|far|further|across|opposite|above|below|before|after|behind|front|other|others|another|different|"
    r"except|but|without|lacks?|hates?|dislikes?|avoids?|refuses?|rather|instead|may|might|could|perhaps|maybe|"
    r"nobody|none|nothing|hardly|from (?:the )?(?:left|right|ends?|edge))\b"
)
"""Words that could turn what a sentence means; with any of them it is refused."""
_NEGATED = re.compile(r"\b(?:not|never|no|cannot)\b|n['’]t\b")
_SIDE = re.compile(r"\b(left|right)\b(?=(?:[- ]hand)?(?: side)? of\b)")
_ANY_SIDE = re.compile(r"\b(?:left|right)\b(?! (?:next|beside)\b)")
_BESIDE = re.compile(r"\b(?:next to|next door to|adjacent|beside|neighbou?rs?|neighbou?ring|next to each other)\b")
_DIRECTLY = re.compile(r"\b(?:directly|immediate(?:ly)?|just|right next|right beside)\b")
_END = re.compile(r"\b(?:(?:an|one) (?:end|edge)|an (?:end|outer|edge) house|a corner house|end houses|ends|edges)\b")


def read(text: str) -> Text:
    """A puzzle from text. Errors begin with the line that is wrong."""
    count: int | None = None
    words: list[Attribute] = []
    clues: list[tuple[int, str]] = []
    known: list[tuple[int, int, str]] = []
    heads: dict[str, int] = {}
    for line, sentence in _sentences(text):
        listed = _LISTED.match(sentence)
        counted = _COUNT.match(sentence)
        if counted and count is None:
            count = _count(counted.group(1), line)
        elif listed and (house := _KNOWN.match(listed.group(1).strip())):
            known.append((line, int(house.group(1)) - 1, listed.group(2)))
        elif listed:
            words.append(_listed(listed.group(1), listed.group(2), line, heads))
        else:
            clues.append((line, sentence))
    if not words:
        raise UnmaskError("no attributes: expected lines such as 'Colors: red, green, blue.'")
    size = len(words[0].values) if count is None else count
    for word in words:
        if len(word.values) != size:
            where = f"line {heads[word.heading]}: {word.heading} has {len(word.values)} values"
            raise UnmaskError(f"{where}; expected {size}, one for each house")
    lexicon = _lexicon(words, heads)
    told: list[Clue] = []
    for line, sentence in clues:
        clue = _clue(sentence, lexicon, size, line)
        if clue is not None:
            told.append(clue)
        elif told:
            raise UnmaskError(f"line {line}: {_short(sentence)} names no value that is listed")
    puzzle = Puzzle(size, len(words), tuple(told))
    return Text(puzzle, tuple(words), _known(known, lexicon, puzzle))


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """Sentences with the number of their line; numbers in front of clues are left out, and questions."""
    for number, line in enumerate(text.splitlines(), start=1):
        for part in re.split(r"(?<=[.!?;])\s+", line.strip()):
            sentence = re.sub(r"^(?:[(*-]\s*)?(?:(?:clue )?\d+\s*[.):]\s*)?", "", part, count=1, flags=re.IGNORECASE)
            sentence = sentence.strip().rstrip(".!?;").strip()
            if sentence and not part.endswith("?"):  # "Who owns the zebra?" is no clue
                yield number, sentence


def _count(word: str, line: int) -> int:
    number = _NUMBERS.get(word.lower(), int(word) if word.isdigit() else 0)
    if not LEAST <= number <= MOST:
        raise UnmaskError(f"line {line}: there are {word} houses; expected {LEAST} to {MOST}")
    return number


def _listed(heading: str, values: str, line: int, heads: dict[str, int]) -> Attribute:
    """An attribute from its line."""
    names = _names(values)
    heading = heading.strip()
    if heading in heads:
        raise UnmaskError(f"line {line}: {heading} is listed a second time")
    heads[heading] = line
    known = next((word for word in WORDS if word.heading.lower() == heading.lower()), None)
    if known is not None:
        return Attribute(heading, names, known.person, known.has, known.lacks)
    return Attribute(heading, names)


def _names(listed: str) -> tuple[str, ...]:
    """The parts of "red, green and blue"."""
    last = r",(?:\s*and\b)?" if "," in listed else r"\band\b"
    parts = re.split(last, listed)
    if len(parts) > 1:
        parts[-1:] = re.split(r"\band\b", parts[-1])
    return tuple(name.strip() for name in parts if name.strip())


def _lexicon(words: list[Attribute], heads: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Every value, in lower case, as an operand."""
    found: dict[str, tuple[int, int]] = {}
    for attribute, word in enumerate(words):
        for value, name in enumerate(word.values):
            if name.lower() in found:
                raise UnmaskError(f"line {heads[word.heading]}: {name} is listed twice; each value needs its own name")
            found[name.lower()] = (attribute, value)
    return found


def _mentions(sentence: str, lexicon: dict[str, tuple[int, int]], size: int, line: int) -> tuple[list, str]:
    """The operands that a sentence names, with their places, and the sentence with blanks in their stead."""
    names = "|".join(re.escape(name) for name in sorted(lexicon, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\w)(?:{_BY_NUMBER}|(?P<name>{names})s?)(?!\w)", re.IGNORECASE)
    found = []
    for match in pattern.finditer(sentence):
        number, ordinal, name = match.group("number", "ordinal", "name")
        if name is not None:
            found.append((match.start(), lexicon[name.lower()]))
            continue
        house = int(number) - 1 if number else _ordinal(ordinal.lower(), size)
        if not 0 <= house < size:
            raise UnmaskError(f"line {line}: there is no {match.group()}; the puzzle has {size}")
        found.append((match.start(), (HOUSE, house)))
    return found, pattern.sub(lambda match: "_" * len(match.group()), sentence).lower()


def _ordinal(word: str, size: int) -> int:
    if word == "middle":
        return size // 2 if size % 2 else -1
    return size - 1 if word == "last" else _ORDINALS[word]


def _clue(sentence: str, lexicon: dict[str, tuple[int, int]], size: int, line: int) -> Clue | None:
    """What a sentence says; None if it names no value."""
    found, rest = _mentions(sentence, lexicon, size, line)
    operands = tuple(operand for _, operand in found)
    if not operands:
        return None
    doubt = UnmaskError(
        f"line {line}: cannot tell what {_short(sentence)} says of {len(operands)} value{'s' * (len(operands) != 1)}; "
        f"expected a clue such as 'The Dane lives next to the red house' (see unmask solve --help)"
    )
    negations, between = len(_NEGATED.findall(rest)), rest.find("between")
    side, beside, directly, end = (pattern.search(rest) for pattern in (_SIDE, _BESIDE, _DIRECTLY, _END))
    sides = len(_ANY_SIDE.findall(rest))
    relations = (between >= 0) + (sides > 0 or beside is not None) + (end is not None)
    unclear = _UNCLEAR.search(rest) or sides > (side is not None) or negations > 1 or (relations and negations)
    if unclear or relations > 1 or len(set(operands)) < len(operands) or (directly and not side and not beside):
        raise doubt
    if between >= 0 and len(operands) == 3:
        middle = 0 if found[0][0] < between else 2
        return Clue(BETWEEN, (operands[middle], *(o for i, o in enumerate(operands) if i != middle)))
    if end is not None and len(operands) == 1:
        return Clue(END, operands)
    if len(operands) != 2 or between >= 0 or end is not None:
        raise doubt
    if side is not None:
        if not found[0][0] < side.start() < found[1][0]:
            raise doubt
        order = operands if side.group() == "left" else operands[::-1]
        return Clue(DIRECTLY if directly or beside else LEFT, order)
    if beside is not None:
        return Clue(NEXT, operands)
    return Clue(DIFFERENT if negations else SAME, operands)


def _known(said: list[tuple[int, int, str]], lexicon: dict[str, tuple[int, int]], puzzle: Puzzle) -> Array:
    """What is known besides the clues, laid out like a solution."""
    grid = np.full((MOST, MOST), -1, dtype=np.int8)
    for line, house, names in said:
        if not 0 <= house < puzzle.houses:
            raise UnmaskError(f"line {line}: there is no house {house + 1}; the puzzle has {puzzle.houses}")
        for name in _names(names):
            if name.lower() not in lexicon:
                raise UnmaskError(f"line {line}: {name!r} is no value that is listed")
            attribute, value = lexicon[name.lower()]
            if grid[attribute, house] not in (-1, value) or (value in grid[attribute] and grid[attribute, house] < 0):
                raise UnmaskError(f"line {line}: {name} contradicts what is known of another value or house")
            grid[attribute, house] = value
    return grid


def _short(sentence: str) -> str:
    return repr(sentence if len(sentence) <= 80 else sentence[:77] + "...")
