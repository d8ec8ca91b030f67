"""Zebra puzzles in plain English, and back: a heading, the attributes with their values, one clue a sentence.

    There are 3 houses in a row, numbered from left to right.
    Colors: red, green, blue.
    Nationalities: Norwegian, Dane, Swede.
    1. The Dane lives in the red house.
    2. The person in the green house lives directly left of the Swede.

`write` makes such text; `reading.read` takes it, and much that people write besides. "House 2: red, Dane." says what is
known of a house besides the clues; that is also how answers are written.
"""

from __future__ import annotations

from dataclasses import dataclass

from unmask.tasks.zebra.clues import (
    DIFFERENT,
    DIRECTLY,
    END,
    HOUSE,
    LEFT,
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
    person: str = "{}"
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


@dataclass(frozen=True, eq=False)
class Text:
    """What was read: the puzzle, its words, and what is known besides the clues (as a solution; -1 where nothing)."""

    puzzle: Puzzle
    words: tuple[Attribute, ...]
    known: Array


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
