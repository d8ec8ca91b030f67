"""Sudoku of side 4: its grids by brute force, puzzles that need every clue, texts in and out, 972 puzzles of others."""

from __future__ import annotations

import dataclasses
import itertools
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from unmask.decode import decode
from unmask.errors import UnmaskError
from unmask.exact.enumeration import Enumeration
from unmask.state import Rows
from unmask.tasks.sudoku import Sudoku
from unmask.tasks.sudoku.search import search

TASK = Sudoku(4)
SOLVED = "1234 3412 2143 4321"
Grid = tuple[int, ...]


def brute_units() -> list[list[int]]:
    """Rows, columns and boxes, spelt out by where a cell is."""
    place = [(cell // 4, cell % 4) for cell in range(16)]
    found = []
    for number in range(4):
        found.append([cell for cell, (row, _) in enumerate(place) if row == number])
        found.append([cell for cell, (_, column) in enumerate(place) if column == number])
        found.append([cell for cell, (row, column) in enumerate(place) if row // 2 * 2 + column // 2 == number])
    return found


@cache
def brute_grids() -> list[Grid]:
    """All ways to put four permutations under each other, kept where every unit has every value."""
    permutations = list(itertools.permutations(range(4)))
    every = {0, 1, 2, 3}
    stacked = (tuple(itertools.chain(*rows)) for rows in itertools.product(permutations, repeat=4))
    units = brute_units()
    return [grid for grid in stacked if all({grid[cell] for cell in unit} == every for unit in units)]


def agreeing(clues: list[int]) -> list[Grid]:
    known = [(cell, value) for cell, value in enumerate(clues) if value >= 0]
    return [grid for grid in brute_grids() if all(grid[cell] == value for cell, value in known)]


def clues_of(tokens: Tensor, given: Tensor) -> list[int]:
    return [value if known else -1 for value, known in zip(tokens.tolist(), given.tolist(), strict=True)]


def rows_of(*lines: Grid | list[int]) -> Rows:
    tokens = torch.tensor([list(line) for line in lines])
    return Rows(tokens, torch.zeros_like(tokens, dtype=torch.bool), torch.ones_like(tokens, dtype=torch.bool))


def cells(text: str) -> list[int]:
    return [-1 if character in ".0_" else int(character) - 1 for character in text if not character.isspace()]


# Grids


def test_there_are_288_grids() -> None:
    found = brute_grids()
    assert len(found) == 288
    assert TASK.support().tolist() == [list(grid) for grid in sorted(found)]
    assert TASK.support().dtype == torch.int64


def test_units_and_peers() -> None:
    assert sorted(map(sorted, TASK.geometry.units.tolist())) == sorted(brute_units())
    for cell in range(16):
        expected = {other for unit in brute_units() if cell in unit for other in unit} - {cell}
        assert set(TASK.geometry.peers[cell].tolist()) == expected
        assert len(expected) == 7


def test_coordinates_are_row_column_box() -> None:
    expected = [[cell // 4, cell % 4, cell // 4 // 2 * 2 + cell % 4 // 2] for cell in range(16)]
    assert TASK.coordinates().tolist() == expected
    for unit in brute_units():
        shared = TASK.coordinates()[unit]
        assert bool((shared == shared[0]).all(0).any())


def test_two_equal_cells_of_a_unit_are_refused_by_place() -> None:
    for first, second in itertools.combinations(range(16), 2):
        line = ["."] * 16
        line[first] = line[second] = "3"
        if any(first in unit and second in unit for unit in brute_units()):
            (r1, c1), (r2, c2) = divmod(first, 4), divmod(second, 4)
            place = rf"\(row {r1 + 1}, column {c1 + 1} and row {r2 + 1}, column {c2 + 1}\)"
            with pytest.raises(UnmaskError, match=place):
                TASK.cells("".join(line))
        else:
            assert TASK.cells("".join(line)).count(2) == 2


def count(clues: list[int], limit: int = 400) -> int:
    return int(search(np.array([clues], dtype=np.int8), 4, limit).count[0])


def test_search_counts_the_grids_that_agree() -> None:
    assert count([-1] * 16) == 288
    assert count([0] + [-1] * 15) == 72
    assert count(list(brute_grids()[5])) == 1
    assert count([0, 0] + [-1] * 14) == 0
    assert count([-1] * 16, limit=7) == 7
    clues = cells("1... ..2. .... ...3")
    assert count(clues) == len(agreeing(clues)) > 1


# Samples


def test_samples_have_one_solution_and_need_every_clue() -> None:
    rows = TASK.sample(60, seed=1)
    for tokens, given in zip(rows.tokens, rows.given, strict=True):
        assert agreeing(clues_of(tokens, given)) == [tuple(tokens.tolist())]
        for cell in given.nonzero().flatten().tolist():
            spared = given.clone()
            spared[cell] = False
            assert len(agreeing(clues_of(tokens, spared))) > 1
    assert {4, 5} <= set(rows.given.sum(1).tolist()) <= {4, 5, 6}


def test_samples_are_rows_of_the_task() -> None:
    rows = TASK.sample(3)
    assert rows.tokens.shape == rows.given.shape == rows.present.shape == (3, 16)
    assert rows.tokens.dtype == torch.int64
    assert bool(rows.present.all())
    assert torch.equal(rows.coordinates, TASK.coordinates())
    assert TASK.measure(rows)["solved"].tolist() == [True] * 3


def test_samples_are_the_same_for_the_same_seed() -> None:
    one, again, other = TASK.sample(20, 5), TASK.sample(20, 5), TASK.sample(20, 6)
    assert torch.equal(one.tokens, again.tokens)
    assert torch.equal(one.given, again.given)
    assert not torch.equal(one.tokens, other.tokens)
    assert torch.equal(TASK.sample(20).tokens, TASK.sample(20, 0).tokens)


@pytest.mark.parametrize("n", [1, 7, 19])
def test_samples_begin_the_same_however_many(n: int) -> None:
    few, many = TASK.sample(n, 5), TASK.sample(20, 5)
    assert torch.equal(few.tokens, many.tokens[:n])
    assert torch.equal(few.given, many.given[:n])


def test_sample_of_none() -> None:
    rows = TASK.sample(0)
    assert rows.tokens.shape == (0, 16)
    assert rows.tokens.dtype == torch.int64


def test_samples_never_change() -> None:
    rows = TASK.sample(2, seed=0)
    drawn = [TASK.line(row) for row in rows.tokens.masked_fill(~rows.given, -1)]
    assert drawn == ["....2...3..2..4.", "....3...4..3..1."]


def test_samples_are_spread_over_the_grids() -> None:
    drawn = {tuple(grid) for grid in TASK.sample(300, seed=2).tokens.tolist()}
    # 300 draws from 288 meet 186.5 of them in the mean, with a standard deviation of about 5.
    assert 160 < len(drawn) < 213


def test_what_is_hidden_is_not_solved_and_not_drawn() -> None:
    # Hidden tokens are 0 in a State, which is also a digit.
    state = TASK.rows(torch.tensor([brute_grids()[0]]), torch.zeros(1, 16, dtype=torch.bool)).start()
    ones = (torch.tensor([brute_grids()[0]]) == 0) & torch.tensor([[True] * 8 + [False] * 8])
    draft = dataclasses.replace(state, tokens=torch.tensor([brute_grids()[0]]).masked_fill(ones, 0), hidden=ones)
    assert not bool(TASK.measure(draft.rows)["solved"].any())
    assert TASK.line(draft.rows.tokens[0]).count(".") == int(ones.sum()) == 2
    assert TASK.line(TASK.sample(1, 0).puzzle[0]).count(".") > 8


# Texts


def test_parse_reads_a_puzzle() -> None:
    rows = TASK.parse("1.3. / 3412 / ..../4.2.".replace("/", "\n"))
    expected = cells("1.3. 3412 .... 4.2.")
    assert rows.tokens.tolist() == [[max(value, 0) for value in expected]]
    assert rows.given.tolist() == [[value >= 0 for value in expected]]
    assert bool(rows.present.all())
    assert torch.equal(rows.coordinates, TASK.coordinates())


@pytest.mark.parametrize(
    "text",
    [
        "1... 3412 .... ....",
        "1000341200000000",
        "1___3412________",
        "1 . | . .\n3 4 | 1 2\n----+----\n. . | . .\n. . | . .",
        "\t1...\r\n3412\r\n....\r\n....\r\n",
    ],
)
def test_parse_skips_spaces_and_rules(text: str) -> None:
    rows = TASK.parse(text)
    assert clues_of(rows.tokens[0], rows.given[0]) == cells("1... 3412 .... ....")


def test_parse_reads_the_empty_puzzle_and_the_full_one() -> None:
    assert not TASK.parse("." * 16).given.any()
    assert TASK.parse(SOLVED).tokens.tolist() == [cells(SOLVED)]
    assert bool(TASK.parse(SOLVED).given.all())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"^the puzzle has 0 cells; sudoku4 has 16$"),
        ("." * 15, r"^the puzzle has 15 cells; sudoku4 has 16$"),
        ("." * 17, r"^the puzzle has 17 cells; sudoku4 has 16$"),
        ("12a.............", r"^'a' in cell 3 is not a value of sudoku4; use digits 1 to 4, and \. or 0 for empty "),
        ("5" + "." * 15, r"^'5' in cell 1 is not a value of sudoku4"),
        ("." * 15 + "9", r"^'9' in cell 16 is not a value of sudoku4"),
        ("٣" + "." * 15, r"^'٣' in cell 1 is not a value of sudoku4"),
        ("³" + "." * 15, r"^'³' in cell 1 is not a value of sudoku4"),
        ("１" + "." * 15, r"^'１' in cell 1 is not a value of sudoku4"),
        ("\u2028" + "." * 15, r"^'\\u2028' in cell 1 is not a value of sudoku4"),
        ("*" + "." * 15, r"^'\*' in cell 1 is not a value of sudoku4"),
        ("1..1............", r"hold 1 \(row 1, column 1 and row 1, column 4\)$"),
        (".2...........2..", r"hold 2 \(row 1, column 2 and row 4, column 2\)$"),
        ("..........3....3", r"hold 3 \(row 3, column 3 and row 4, column 4\)$"),
        ("12....34........", r"^the puzzle contradicts itself: no grid has these clues$"),
    ],
)
def test_parse_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(UnmaskError, match=message) as caught:
        TASK.parse(text)
    assert "\n" not in str(caught.value)


def test_render_draws_the_boxes() -> None:
    drawn = TASK.render(torch.tensor(cells("1234 .41. 2... 4321")))
    assert drawn == "1 2 | 3 4\n. 4 | 1 .\n----+----\n2 . | . .\n4 3 | 2 1"


def test_rendered_is_parsed_back() -> None:
    rows = TASK.sample(20, seed=3)
    for tokens, given in zip(rows.tokens, rows.given, strict=True):
        hidden = tokens.masked_fill(~given, -1)
        for text in (TASK.render(hidden), TASK.line(hidden)):
            parsed = TASK.parse(text)
            assert torch.equal(parsed.given[0], given)
            assert torch.equal(parsed.tokens[0][given], tokens[given])
    assert TASK.line(torch.tensor(cells("1234 .41. 2... 4321"))) == "1234.41.2...4321"


# Measures


def test_every_grid_is_solved() -> None:
    measured = TASK.measure(rows_of(*brute_grids()))
    assert bool(measured["solved"].all())
    assert not measured["conflicts"].any()


def test_no_other_row_is_solved() -> None:
    draw = torch.Generator().manual_seed(0)
    lines = torch.randint(0, 4, (2000, 16), generator=draw).tolist()
    for grid in brute_grids()[::12]:
        lines += [[*grid[:cell], (grid[cell] + 1) % 4, *grid[cell + 1 :]] for cell in range(16)]
    stacked = itertools.product(itertools.permutations(range(4)), repeat=4)
    lines += [list(itertools.chain(*rows)) for rows in itertools.islice(stacked, 0, None, 4001)]
    measured = TASK.measure(rows_of(*lines))
    for line, solved, conflicts in zip(lines, measured["solved"].tolist(), measured["conflicts"].tolist(), strict=True):
        assert solved == (tuple(line) in brute_grids())
        assert conflicts == sum(4 - len({line[cell] for cell in unit}) for unit in brute_units())
    assert measured["solved"].sum() < 20


@pytest.mark.parametrize("stranger", [4, 7, -1])
@pytest.mark.parametrize("value", [0, 3])
def test_a_value_that_is_no_digit_solves_nothing(value: int, stranger: int) -> None:
    grid = [stranger if cell == value else cell for cell in brute_grids()[0]]
    measured = TASK.measure(rows_of(grid))
    assert measured["solved"].tolist() == [False]
    assert measured["conflicts"].tolist() == [12]


@pytest.mark.parametrize("side", [0, 3, 8, 25, -4])
def test_other_sides_are_refused(side: int) -> None:
    with pytest.raises(UnmaskError, match=rf"^Sudoku\(side\): expected one of 4, 9, 16, got {side}$"):
        Sudoku(side)


# The puzzles of others


def test_exact_beliefs_solve_all_puzzles_of_others(data: Path) -> None:
    files = sorted((data / "sudoku4x4").glob("*.jsonl"))
    puzzles = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert len(puzzles) == 972
    parsed = [TASK.parse(puzzle["input"]) for puzzle in puzzles]
    tokens = torch.cat([rows.tokens for rows in parsed])
    given = torch.cat([rows.given for rows in parsed])
    expected = torch.tensor([cells(puzzle["output"]) for puzzle in puzzles])
    assert torch.equal(tokens[given], expected[given])
    rows = Rows(tokens, given, torch.ones_like(given), TASK.coordinates())
    end = decode(Enumeration(TASK.support()), rows.start(), "margin, per_step(1), greedy").finish()
    assert int((end.tokens == expected).all(1).sum()) == 972
    assert bool(TASK.measure(end.rows)["solved"].all())
    assert [TASK.parse(TASK.render(row)).tokens[0].tolist() for row in end.tokens[:50]] == expected[:50].tolist()
