"""Plain English: what is written reads back as the same clues; other words are understood, or refused by their line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from any_clues import Raw, made, raw
from hypothesis import assume, given, settings
from hypothesis import strategies as some

from unmask.errors import UnmaskError
from unmask.tasks.zebra.clues import BETWEEN, DIFFERENT, DIRECTLY, END, HOUSE, LEFT, NEXT, SAME, Clue, Puzzles
from unmask.tasks.zebra.english import houses, write
from unmask.tasks.zebra.generate import generate
from unmask.tasks.zebra.reading import _NOT, _PLAIN, _RELATIONS, read
from unmask.tasks.zebra.search import search

HEAD = """There are 3 houses.
Colors: red, green, blue
People: Dane, Swede, Old Greek
Drinks: tea, orange juice and milk
"""
RED, GREEN, BLUE = (0, 0), (0, 1), (0, 2)
DANE, SWEDE, GREEK = (1, 0), (1, 1), (1, 2)
TEA, JUICE, MILK = (2, 0), (2, 1), (2, 2)


def test_two_thousand_puzzles_read_back_as_the_same_clues() -> None:
    puzzles, solutions = generate(8, 0, 2000)
    for number in range(2000):
        puzzle = puzzles[number]
        lines = write(puzzle)
        assert read("\n".join(lines)).puzzle == puzzle
        text = read(" ".join(lines + houses(solutions[number], puzzle)))
        assert text.puzzle == puzzle
        assert (text.known == solutions[number]).all()


@settings(deadline=None, max_examples=200)
@given(raw(), some.data())
def test_any_clues_read_back(numbers: Raw, data: some.DataObject) -> None:
    # House numbers in every place, values of one attribute in one clue: also what no generator makes.
    puzzle = made(numbers)
    known = np.full((6, 6), -1, dtype=np.int8)
    for attribute in range(puzzle.attributes):
        order = data.draw(some.permutations(range(puzzle.houses)))
        shown = data.draw(some.integers(0, puzzle.houses))
        known[attribute, :shown] = order[:shown]
    text = read("\n".join([*write(puzzle), *houses(known, puzzle)]))
    assert text.puzzle == puzzle
    assert (text.known == known).all()


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The Dane lives in the red house.", Clue(SAME, (DANE, RED))),
        ("(4) the dane LIVES in the RED house", Clue(SAME, (DANE, RED))),
        ("- The Dane drinks orange juice!", Clue(SAME, (DANE, JUICE))),
        ("Clue 7: Teas are drunk by the Old Greek.", Clue(SAME, (TEA, GREEK))),
        ("The Swede lives in house number 2.", Clue(SAME, (SWEDE, (HOUSE, 1)))),
        ("Milk is drunk in the middle house.", Clue(SAME, (MILK, (HOUSE, 1)))),
        ("The Dane lives in the last house.", Clue(SAME, (DANE, (HOUSE, 2)))),
        ("The Swede does not live in the blue house.", Clue(DIFFERENT, (SWEDE, BLUE))),
        ("The Swede doesn't drink milk.", Clue(DIFFERENT, (SWEDE, MILK))),
        ("The Dane is in one of the end houses.", Clue(END, (DANE,))),
        ("Tea is drunk at one end.", Clue(END, (TEA,))),
        ("Tea is drunk at an end.", Clue(END, (TEA,))),
        ("The green house is immediately to the right of the blue house.", Clue(DIRECTLY, (BLUE, GREEN))),
        ("The green house is directly left of the blue house.", Clue(DIRECTLY, (GREEN, BLUE))),
        ("The Dane lives next to the Swede, to the left.", None),
        ("The man who drinks tea lives right next to the Swede.", Clue(NEXT, (TEA, SWEDE))),
        ("The Dane and the Swede are neighbours.", Clue(NEXT, (DANE, SWEDE))),
        ("The Dane lives somewhere to the right of the Swede.", Clue(LEFT, (SWEDE, DANE))),
        ("The Old Greek lives somewhere left of house 3.", Clue(LEFT, (GREEK, (HOUSE, 2)))),
        ("The Old Greek lives left of house 3.", None),
        ("The Dane lives between the Swede and the red house.", Clue(BETWEEN, (DANE, SWEDE, RED))),
        ("Between the Swede and the red house lives the Dane.", Clue(BETWEEN, (DANE, SWEDE, RED))),
        ("The Dane is not next to the Swede.", None),
        ("The Dane lives two houses left of the Swede.", None),
        ("The Dane lives one house left of the Swede.", None),
        ("The one who drinks tea is somewhere left of the one in the red house.", Clue(LEFT, (TEA, RED))),
        ("The second house from the left is red.", None),
        ("The Dane's left neighbour is the Swede.", None),
        ("On the Dane's right is the green house.", None),
        ("Left of the Dane lives the Swede.", None),
        ("The Dane has the Swede on his left.", None),
        ("The Dane lives on the left side of the Swede.", None),
        ("The Dane lives to the immediate left of the Swede.", Clue(DIRECTLY, (DANE, SWEDE))),
        ("The Dane lives in the house directly to the right of the Swede.", Clue(DIRECTLY, (SWEDE, DANE))),
        ("The Dane lives next to and left of the Swede.", Clue(DIRECTLY, (DANE, SWEDE))),
        ("The Dane lives directly between the Swede and the red house.", None),
        ("The Dane lives in a different house than the Swede.", None),
        ("The Dane cannot drink tea.", Clue(DIFFERENT, (DANE, TEA))),
        ("It is not true that the Dane doesn't drink tea.", None),
        ("The Dane dislikes tea.", None),
        ("The Dane drinks anything but tea.", None),
        ("The Dane lives next door but one to the Swede.", None),
        ("The Dane lives at the left end.", None),
        ("The Dane lives at the end.", None),
        ("The person next to the Dane drinks tea.", Clue(NEXT, (DANE, TEA))),
        ("The person left of the Dane drinks tea.", None),
        ("The Dane drinks tea or milk.", None),
        ("Either the Dane drinks tea or the Swede drinks milk.", None),
        ("The Dane drinks neither tea nor milk.", None),
        ("The Dane is the Dane.", None),
        ("The Dane.", None),
        ("The Dane lives directly.", None),
        ("On the left, the Dane drinks tea.", None),
        ("If the Dane drinks tea, the Swede does not.", None),
    ],
)
def test_sentences(sentence: str, expected: Clue | None) -> None:
    if expected is None:
        with pytest.raises(UnmaskError, match=r"^line 5: cannot tell what .* says of [1-4] values?; .*expected a clue"):
            read(HEAD + sentence)
    else:
        assert read(HEAD + sentence).puzzle.clues == (expected,)


REFUSED = """
The Dane doesnt drink tea | The Dane wont drink tea | The Dane isn`t in the red house | The Dane rarely drinks tea
It is false that the Dane drinks tea | The Dane differs from the tea drinker | The Dane and the tea drinker are distinct
The Dane never fails to drink tea | The Dane lives nowhere left of the Swede | The Dane lives nowhere near the Swede
The Dane lives near the Swede | The Dane lives close to the Swede | The Dane lives by the Swede
The Dane lives alongside the Swede | The red house borders the blue house | The Dane shares a wall with the Swede
The Dane and the Swede live side by side | The Dane and the Swede are consecutive | The Dane follows the Swede
The Dane lives on one side of the Swede | The Dane precedes the Swede | The Dane lives east of the Swede
The Dane lives 2 houses left of the Swede | The Dane lives 1 house left of the Swede
The Dane lives a house left of the Swede | The Dane lives one door left of the Swede
The Dane lives one place to the left of the Swede | The Dane lives one to the left of the Swede
The Dane lives second to the left of the Swede | The Dane lives first to the left of the Swede
The Dane lives several houses left of the Swede | The Dane lives a couple of houses left of the Swede
The Dane lives in the second to last house | The Dane lives in the second-to-last house
The Dane lives in the next-to-last house | The Dane lives in the next to last house
The Dane lives in the first/last house | The Dane lives in house 1/3
The Dane lives in the 2nd of the houses, which is blue, red | The Dane lives in the leftmost house of the Swedes
The Dane lives in the end house next to the red house | The Dane lives at the end
The red and the green house have the Dane between them | The Dane has the Swede between himself and the red house
The red house has between it and the green house the Dane | The Dane and the Swede have the red house between them
The milk-white house is of the Dane | The Dane has 2.1 | The dark red house is of the Dane
The Dane's brother drinks tea | The Dane wishes to drink tea | The Dane is allergic to tea
The Dane used to drink tea | The Dane envies the owner of the red house | The Dane visits the red house
The Dane would drink tea | The Dane can drink tea | Nobody but the Dane drinks tea | The Dane may drink tea
All but the Dane drink tea | The Dane drinks tea sometimes | The Dane drinks tea every day but milk
"""


@pytest.mark.parametrize("sentence", [one.strip() for one in REFUSED.replace("\n", "|").split("|") if one.strip()])
def test_what_could_be_misread_is_refused(sentence: str) -> None:
    with pytest.raises(UnmaskError, match=r"^line 5: "):
        read(HEAD + sentence)


@settings(deadline=None, max_examples=300)
@given(some.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=9), some.integers(0, 5))
def test_a_word_that_is_not_known_is_never_passed_over(word: str, place: int) -> None:
    known = _PLAIN | _RELATIONS | {*_NOT, "colors", "color", "people", "peoples", "drinks", "drink"}
    assume(word not in known and word not in ("red", "green", "blue", "dane", "swede", "tea", "milk"))
    assume(word.removesuffix("s") not in ("red", "green", "blue", "dane", "swede", "tea", "milk"))
    words = ["The", "Dane", "lives", "in", "the", "red", "house"]
    with pytest.raises(UnmaskError, match=r"is no word for clues|there is no \w+ house"):
        read(HEAD + " ".join([*words[: place + 1], word, *words[place + 1 :]]))


def test_introductions_are_passed_over_only_before_the_attributes() -> None:
    assert read("In a street, long ago.\n" + HEAD + "The Dane drinks tea.").puzzle.clues == (Clue(SAME, (DANE, TEA)),)
    for text, message in (
        (HEAD + "The Dahne lives there.\nThe Dane drinks tea.", "line 5: 'The Dahne lives there' names no value"),
        (HEAD + "Teas are drunk by or near the Dane.", "line 5: cannot tell what"),
        (HEAD.replace("3 houses", "3 people, and the Dane drinks tea"), "line 1: cannot tell what"),
        (HEAD + "There are 4 houses.", "line 5: there are 4 houses here, and 3 in line 1"),
    ):
        with pytest.raises(UnmaskError) as caught:
            read(text)
        assert str(caught.value).startswith(message)


def test_words_of_ones_own_are_written_so_that_they_read_back(root: Path) -> None:
    told = read((root / "examples" / "zebra.txt").read_text(encoding="utf-8").split("\n", 1)[1])
    again = read("\n".join(write(told.puzzle, told.words)))
    assert again.puzzle == told.puzzle
    assert [word.values for word in again.words] == [word.values for word in told.words]


def test_a_riddle_in_words_of_its_own() -> None:
    text = read(
        """There are five houses in a row. Everybody keeps another animal.
        Colors: red, green, ivory, yellow, blue
        From: England, Spain, Ukraine, Norway, Japan
        Animals: dog, snail, fox, horse, zebra
        Drinks: coffee, tea, milk, orange juice, water
        Smokes: Old Gold, Kool, Chesterfield, Lucky Strike, Parliament

        Red is the house of the man from England. The dog lives with the man from Spain.
        Coffee is had in the green house.
        Tea goes with Ukraine.
        Green stands immediately to the right of ivory.
        Old Gold and the snails are in the same house.
        Kool is smoked in the yellow house.
        Milk is for the middle house.
        The first house is of the man from Norway.
        Chesterfield is smoked next to the fox.
        Kool is smoked next to the horse.
        Lucky Strike goes with orange juice.
        The man from Japan smokes Parliament.
        Norway is next to blue.
        Who has the zebra? Who drinks water?
        """
    )
    assert len(text.puzzle.clues) == 14
    found = search(Puzzles.of([text.puzzle]), limit=5)
    assert found.count[0] == 1
    answer = houses(found.grids[0, 0], text.puzzle, text.words)
    assert answer[0].startswith("House 1: yellow, Norway, fox, water")
    assert "Japan, zebra" in answer[4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no attributes: expected lines such as"),
        ("There are 9 houses.", "line 1: there are 9 houses; expected 3 to 6"),
        ("There are many houses.", "line 1: there are many houses; expected 3 to 6"),
        (HEAD.replace("3", "4"), "line 2: Colors has 3 values; expected 4, one for each house"),
        (HEAD + "Pets: cat, dog", "line 5: Pets has 2 values; expected 3"),
        (HEAD + "Pets: cat, dog, red", "line 5: red is listed twice"),
        (HEAD + "Colors: cyan, pink, black", "line 5: Colors is listed a second time"),
        ("\n\nA: a1, a2, a3\nB: b1, b2, b3", "a Zebra puzzle has 3 to 6 attributes, not 2"),
        ("A: a1, a2\nB: b1, b2\nC: c1, c2", "a Zebra puzzle has 3 to 6 houses, not 2"),
        (HEAD + "The Dane drinks tea.\n\nThe zebra is missing.", "line 7: 'The zebra is missing' names no value"),
        (HEAD + "The Dane lives in house 4.", "line 5: there is no house 4; the puzzle has 3"),
        (HEAD + "The Dane lives in the fifth house.", "line 5: there is no fifth house; the puzzle has 3"),
        (HEAD + "House 4: red.", "line 5: there is no house 4; the puzzle has 3"),
        (HEAD + "House 1: rde.", "line 5: 'rde' is no value that is listed"),
        (HEAD + "House 1: red. House 1: blue.", "line 5: blue contradicts what is known"),
        (HEAD + "House 1: red.\nHouse 2: red.", "line 6: red contradicts what is known"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, message: str) -> None:
    with pytest.raises(UnmaskError) as caught:
        read(text)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
