"""Zebra puzzles read from plain English: a sentence is a clue if it names one, two or three values and says no more
than how they are related.

The words for attributes and values are the text's own. Around them stand small words and verbs (`_PLAIN`, and the
headings' own words), and for all kinds but two a phrase that names the relation ("next to", "directly left of"). The
sentence as a whole must match one of `_FORMS`: any other word could turn what it means ("rarely", "near", "two houses
left of"), so it is refused, by its line, rather than misread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

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
from unmask.tasks.zebra.english import WORDS, Attribute, Text

_NUMBERS = {"three": 3, "four": 4, "five": 5, "six": 6}
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5}
_COUNT = re.compile(r"there are (\w+)(?: \w+)? (?:houses|people|persons|homes)\b", re.IGNORECASE)
HEADING = re.compile(rf"\s*{_COUNT.pattern}", re.IGNORECASE)
"""How a puzzle begins, in a file that has several."""
_LISTED = re.compile(r"([^:]+):\s*(.+)$", re.DOTALL)
_KNOWN = re.compile(r"house (?:number )?(\d+)$", re.IGNORECASE)
_HOUSE = (
    r"house (?:number |#)?(?P<number>\d+)|(?P<nth>\d)(?:st|nd|rd|th) house|"
    rf"(?<!to )(?<!to-)(?P<ordinal>{'|'.join(_ORDINALS)}|middle|last) house"
)

_PLAIN = frozenset(
    """
    a also and are as at be been color colored colour coloured do does did door for from goes had has have he her
    his home house houses human in inhabitant into is it its lady live lived lives living man men named of on owner
    owners people person resident same she so somebody someone street the their them there they to too
    very was were where which whichever who whoever whose with woman belong belongs built called came come comes
    cook cooks dance dances drank drink drinker drinking drinks drive driven driver drives drunk eat eaten eater
    eats employed enjoy enjoys favorite favored favourite found go grow grown grows held hold holds keep keeper
    keeping keeps kept like liked likes love loved loves made make maker makes own owned owns paint painted paints
    play played player playing plays practice practices prefer preferred prefers prove proved proven proves raise
    raised raises read reader reads ride rides served smoke smoked smoker smokes speak speaker speaks spoken stand
    standing stands stay stays studied studies study teach teaches travel travels uses wear wears work worked worker
    works worn write writes written
    """.split()  # noqa: SIM905 - a page of words
)
"""Words that may stand around the values of a clue, and do not turn what it says."""
_DONE = "drunk eaten held kept liked loved made owned played read smoked used worn".split()  # noqa: SIM905
"""Words that may have "by" behind them; elsewhere it says near."""
_NOT = ("not", "never", "no")
_RELATIONS = frozenset(
    """
    adjacent an and anywhere at beside between corner directly door each edge edges end ends hand house houses immediate
    immediately just left neighbor neighbors neighbour neighbours next of on one other outer right row side somewhere
    street the to
    """.split()  # noqa: SIM905 - a page of words
)
"""Words of the phrases below."""
_NEAR = r"(?:directly |immediately |right |just )?"
_SIDE = r"(?:(?:to|on) the )?(?P<side>left|right)(?: hand)?(?: side)? of"
_BESIDE = rf"{_NEAR}(?:next to|next door to|adjacent to|beside|(?:the |a )?neighbou?r of|neighbou?rs?)"
_ENDS = (
    r"(?:at )?(?:one of the (?:ends|edges)|one of the (?:end|edge|corner|outer) houses|(?:an|one) (?:end|edge)"
    r"(?: house)?(?: of the (?:row|street))?|an outer house|a corner house)"
)
_FORMS = (
    (SAME, r"~@ ~@ ~"),
    (END, rf"~@ ~{_ENDS} ~"),
    (DIRECTLY, rf"~@ ~(?:directly|immediately|just|next to and) {_SIDE} ~@ ~"),
    (DIRECTLY, rf"~@ ~(?:to|on) the immediate {_SIDE} ~@ ~"),
    (LEFT, rf"~@ ~(?:somewhere|anywhere) {_SIDE} ~@ ~"),
    (NEXT, rf"~@ ~{_BESIDE} ~@ ~"),
    (NEXT, rf"~{_BESIDE} ~@ ~@ ~"),
    (NEXT, r"~@ ~@ ~(?:neighbou?rs|next to each other|adjacent(?: to each other)?|beside each other) ~"),
    (BETWEEN, r"~@ ~(?:somewhere )?between ~@ ~and ~@ ~"),
    (BETWEEN, r"between ~@ ~and ~@ ~(?P<last>@) ~"),
)
"""Whole sentences, with a blank behind every word: @ is a value, ~ any number of plain words."""


def read(text: str) -> Text:
    """A puzzle from text. Errors begin with the line that is wrong."""
    counted: tuple[int, int] | None = None
    words: list[Attribute] = []
    sentences: list[tuple[int, str]] = []
    before: list[tuple[int, str]] = []
    known: list[tuple[int, int, str]] = []
    heads: dict[str, int] = {}
    for line, sentence in _sentences(text):
        listed, count = _LISTED.match(sentence), _COUNT.match(sentence)
        if listed and (house := _KNOWN.match(listed.group(1).strip())):
            known.append((line, int(house.group(1)) - 1, listed.group(2)))
        elif listed:
            words.append(_listed(listed.group(1), listed.group(2), line, heads))
        elif count:
            number = _count(count.group(1), line)
            if counted is not None and counted[0] != number:
                raise UnmaskError(f"line {line}: there are {number} houses here, and {counted[0]} in line {counted[1]}")
            counted = (number, line)
            before.append((line, sentence))
        elif words:
            sentences.append((line, sentence))
        else:
            before.append((line, sentence))
    if not words:
        raise UnmaskError("no attributes: expected lines such as 'Colors: red, green, blue.'")
    size = len(words[0].values) if counted is None else counted[0]
    for word in words:
        if len(word.values) != size:
            where = f"line {heads[word.heading]}: {word.heading} has {len(word.values)} values"
            raise UnmaskError(f"{where}; expected {size}, one for each house")
    lexicon = _lexicon(words, heads)
    around = _PLAIN | _words_of(heads)
    # The heading, and what stands before the attributes, are an introduction if they name no value.
    sentences = [(line, one) for line, one in before if _spelt(one, lexicon, size, line)[0]] + sentences
    clues = tuple(_clue(sentence, lexicon, around, size, line) for line, sentence in sentences)
    puzzle = Puzzle(size, len(words), clues)
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


def _words_of(heads: dict[str, int]) -> frozenset[str]:
    """The words of headings, and what they are in a sentence: Pets, pet; Drinks, drinks; Jobs, job."""
    words = {word for heading in heads for word in re.findall(r"[a-z]+", heading.lower())} - {*_RELATIONS}
    return frozenset(words | {word.removesuffix("s") for word in words} | {word + "s" for word in words})


def _spelt(
    sentence: str, lexicon: dict[str, tuple[int, int]], size: int, line: int
) -> tuple[tuple[tuple[int, int], ...], list[str]]:
    """The operands that a sentence names, and its words, with @ in their stead; signs other than commas are words."""
    names = "|".join(re.escape(name) for name in sorted(lexicon, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w-])(?<!\d\.)(?:{_HOUSE}|(?P<name>{names})s?)(?![\w-])(?!\.\d)", re.IGNORECASE)
    operands = []
    for match in pattern.finditer(sentence):
        number, nth, ordinal, name = match.group("number", "nth", "ordinal", "name")
        if name is not None:
            operands.append(lexicon[name.lower()])
            continue
        house = _ordinal(ordinal.lower(), size) if ordinal else int(number or nth) - 1
        if not 0 <= house < size:
            raise UnmaskError(f"line {line}: there is no {match.group()}; the puzzle has {size}")
        operands.append((HOUSE, house))
    rest = pattern.sub(" @ ", sentence).lower().replace("’", "'")
    rest = re.sub(r"@\s+'s\b|@\s+'(?!\w)", "@", rest).replace("cannot", "not")
    rest = re.sub(r"\b(is|are|was|does|do|did|has|have|had)n't\b", r"\1 not", rest)
    rest = re.sub(r"\bthe ones?\b(?= (?:who|whose|in|with|that|from|of)\b)", "the person", rest)
    rest = re.sub(r"\b(left|right)-hand\b", r"\1 hand", rest)
    return tuple(operands), re.findall(r"[a-z]+|[^\sa-z,()\"]+", rest)


@cache
def _compiled(around: frozenset[str]) -> tuple[tuple[int, re.Pattern[str]], ...]:
    words = [*sorted(around), *(f"{word} by" for word in _DONE)]
    plain = rf"(?:(?:{'|'.join(words)}) )*"
    return tuple((kind, re.compile(form.replace("~", plain))) for kind, form in _FORMS)


def _ordinal(word: str, size: int) -> int:
    if word == "middle":
        return size // 2 if size % 2 else -1
    return size - 1 if word == "last" else _ORDINALS[word]


def _clue(sentence: str, lexicon: dict[str, tuple[int, int]], around: frozenset[str], size: int, line: int) -> Clue:
    """What a sentence says."""
    operands, words = _spelt(sentence, lexicon, size, line)
    if not operands:
        raise UnmaskError(f"line {line}: {_short(sentence)} names no value that is listed; expected a clue")
    negations = sum(word in _NOT for word in words)
    plain = "".join(f"{word} " for word in words if word not in _NOT)
    for kind, form in _compiled(around):
        match = form.fullmatch(plain)
        if match is None or negations > (kind == SAME) or len({*operands}) < len(operands):
            continue
        if kind in (DIRECTLY, LEFT):
            return Clue(kind, operands if match.group("side") == "left" else operands[::-1])
        if kind == BETWEEN and match.groupdict().get("last"):
            return Clue(BETWEEN, (operands[2], *operands[:2]))
        return Clue(DIFFERENT if negations else kind, operands)
    unknown = [word for word in words if word not in around and word not in _RELATIONS and word not in ("@", *_NOT)]
    why = f"; {unknown[0]!r} is no word for clues" if unknown else ""
    if not unknown and re.search(r"\b(left|right)\b", plain):  # in some riddles it means the one, in some the other
        why = "; say 'somewhere left of' or 'directly left of'"
    raise UnmaskError(
        f"line {line}: cannot tell what {_short(sentence)} says of {len(operands)} value{'s' * (len(operands) != 1)}"
        f"{why}; expected a clue such as 'The Dane lives next to the red house' (docs/zebra.md)"
    )


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
