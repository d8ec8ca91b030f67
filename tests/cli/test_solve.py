"""`unmask solve`: both puzzles, both solvers, from everywhere; and everything that is no puzzle, by file and line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from unmask.tasks.sudoku import SudokuRecipe
from unmask.tasks.sudoku.search import search

EASY = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
ANSWER = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"
ZEBRA = """There are 3 houses in a row.
Colors: red, green, blue
Nationalities: Dane, Swede, German
Drinks: tea, milk, water
The Dane lives next to the red house.
The tea is drunk directly left of the green house.
The Swede lives in the middle house.
The person in the blue house drinks water.
The Dane lives somewhere right of the Swede.
"""
HOUSES = "House 1: blue, German, water. House 2: red, Swede, tea. House 3: green, Dane, milk."


@pytest.mark.parametrize("by", ["search", "strategies"])
def test_a_sudoku_is_solved_and_its_steps_are_shown(run, by: str) -> None:
    code, out, err = run("solve", "--with", by, EASY)
    assert (code, err) == (0, "")
    assert "5 3 4 | 6 7 8 | 9 1 2" in out
    assert ("lone single" in out) == (by == "strategies")
    code, out, err = run("solve", "--with", by, EASY, "--json")
    (told,) = map(json.loads, out.splitlines())
    assert (code, err, told["answer"], told["solved"]) == (0, "", ANSWER, True)
    assert told["steps"][0]["rule"] == ("lone single" if by == "strategies" else "search")
    assert run("solve", "--with", by, EASY, "--quiet")[1].count("\n") == 11


@pytest.mark.parametrize("by", ["search", "strategies"])
def test_a_zebra_in_english_is_solved_in_english(run, tmp_path: Path, by: str) -> None:
    file = tmp_path / "riddle.txt"
    file.write_text(ZEBRA, encoding="utf-8")
    code, out, err = run("solve", "--with", by, "--file", str(file))
    assert (code, err) == (0, "")
    assert "4. The person in the blue house drinks water." in out
    assert "Nationalities  German  Swede  Dane" in out
    code, out, _ = run("solve", "--with", by, ZEBRA, "--json")
    assert json.loads(out)["answer"] == HOUSES


def test_several_riddles_in_a_file(run, tmp_path: Path) -> None:
    file = tmp_path / "riddles.txt"
    file.write_bytes(("# two\r\n" + ZEBRA + "\r\n\r" + ZEBRA).encode())
    code, out, err = run("solve", "--file", str(file), "--json")
    assert code == 0
    assert [json.loads(line)["answer"] for line in out.splitlines()] == [HOUSES] * 2
    assert err == "2 of 2 solved\n"


def test_a_sudoku_that_strategies_do_not_solve_is_shown_as_far_as_they_come(run) -> None:
    made = SudokuRecipe(0).make(0, 20)
    number = int(made["kind"].argmax())
    hard = "".join(
        str(value + 1) if known else "."
        for value, known in zip(made["solution"][number], made["given"][number], strict=True)
    )
    left = int((~made["given"][number] & (made["round"][number] < 0)).sum())
    code, out, _ = run("solve", "--with", "strategies", hard)
    assert code == 0
    assert f"not solved by the seven strategies: {left} cells are left (--with search finds them)" in out
    assert json.loads(run("solve", "--with", "strategies", hard, "--json")[1])["solved"] is False
    assert run("solve", "--with", "search", hard)[0] == 0


@pytest.mark.parametrize("by", ["search", "model"])
def test_files_of_others_with_their_line_endings_and_comments(run, tmp_path: Path, by: str) -> None:
    file = tmp_path / "puzzles.txt"
    file.write_bytes(f"# comments\r\n{EASY}\r\n\r\n{EASY} # the same\n  {EASY.replace('.', '0')}  \r{EASY}".encode())
    code, out, err = run("solve", "--with", by, "--file", str(file), "--json")
    assert code == 0
    assert [json.loads(line)["answer"] for line in out.splitlines()] == [ANSWER] * 4
    assert [json.loads(line)["puzzle"].split(", ")[1] for line in out.splitlines()] == [
        f"line {n}" for n in (2, 4, 5, 6)
    ]
    assert err.startswith("4 of 4 solved")


SUDOKU_WRONG = {
    EASY[:-1]: "the puzzle has 80 cells; sudoku has 81",
    EASY + "1": "the puzzle has 82 cells; sudoku has 81",
    "x" + EASY[1:]: "'x' in cell 1 is not a value of sudoku",
    "5" + EASY[:1] + EASY[2:]: "two cells of one unit hold 5 (row 1, column 1 and row 1, column 2)",
    "12345678........9" + "." * 64: "the puzzle has no solution",
    EASY.replace("5", ".").replace("8", "."): "the puzzle has more than one solution, among them",
    "." * 81: "the puzzle has more than one solution, among them",
}


@pytest.mark.parametrize("by", ["search", "strategies"])
@pytest.mark.parametrize("wrong", list(SUDOKU_WRONG))
def test_what_is_no_sudoku_is_one_line_that_names_file_and_line(run, tmp_path: Path, wrong: str, by: str) -> None:
    file = tmp_path / "puzzles.txt"
    file.write_text(f"# first\n{EASY}\n{wrong}\n", encoding="utf-8")
    code, out, err = run("solve", "--with", by, "--file", str(file), "--json")
    assert code == 2
    problem, summary = err.splitlines()
    assert problem.startswith(f"unmask: {file}, line 3: ")
    assert SUDOKU_WRONG[wrong] in problem
    assert summary == "1 of 2 solved, 1 could not be read or have no single solution"
    assert json.loads(out)["answer"] == ANSWER  # the other is solved all the same
    code, out, err = run("solve", "--with", by, wrong)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert SUDOKU_WRONG[wrong] in err


def test_the_model_is_what_solves_unless_told(run) -> None:
    code, out, err = run("solve", EASY, "--plain")
    assert (code, out) == (0, ANSWER + "\n")
    assert "1 of 1 solved (margin, per_step(1), greedy)" in err
    code, out, _ = run("solve", "12345678........9" + "." * 64, "--with", "model", "--json")
    assert (code, json.loads(out)["solved"]) == (0, False)


def test_two_of_many_solutions_are_shown(run) -> None:
    _, _, err = run("solve", "--with", "search", EASY.replace("5", ".").replace("8", "."))
    one, other = (word for word in err.replace(";", " ").split() if len(word) == 81)
    assert one != other
    clues = [(cell, sign) for cell, sign in enumerate(EASY.replace("5", ".").replace("8", ".")) if sign != "."]
    for line in (one, other):
        assert all(line[cell] == sign for cell, sign in clues)


WRONG = {
    (
        "solve",
        ZEBRA.replace("The Swede lives in the middle house.\n", ""),
    ): "more than one solution, among them: House 1:",
    ("solve", ZEBRA + "The Dane drinks tea."): "the puzzle has no solution: the clues contradict each other",
    ("solve", ZEBRA + "The Dane likes elephants."): "line 10: cannot tell what 'The Dane likes elephants' says",
    ("solve", "--task", "zebra", EASY): "no attributes: expected lines such as 'Colors: red, green, blue.'",
    ("solve", "--task", "sudoku", ZEBRA): "'T' in cell 1 is not a value of sudoku",
    ("solve", "--task", "sodoku", EASY): "did you mean 'sudoku'?",
    ("solve", "--task", "sudoku4", "." * 81): "the puzzle has 81 cells; sudoku4 has 16",
    ("solve", "--task", "sudoku16", "1... ..2. .3.. ...4"): "the puzzle has 16 cells; sudoku16 has 256",
    ("solve", "--with", "serach", EASY): "did you mean 'search'?",
    ("solve", "--file", os.devnull): "is empty",
    ("solve", "--file", "."): "is a directory",
    ("solve", "--file", "nowhere.txt"): "cannot read nowhere.txt: No such file or directory",
    ("solve", "--file", "nowhere.txt", EASY): "puzzles come from one place",
    ("solve",): "standard input is empty",
}


@pytest.mark.parametrize("arguments", list(WRONG), ids=lambda a: " ".join(a)[-40:].strip())
def test_bad_input_is_one_line_and_exit_code_2(run, arguments, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments, typed=b"")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert WRONG[arguments] in err


def test_a_riddle_without_a_heading_and_with_numbers_after_a_sign(run, tmp_path: Path) -> None:
    file = tmp_path / "riddle.txt"
    text = ZEBRA.replace("There are 3 houses in a row.", "Three houses stand in a row.")
    file.write_text(text.replace("the middle house.", "house #2.  # the one in the middle"), encoding="utf-8")
    assert json.loads(run("solve", "--task", "zebra", "--file", str(file), "--json")[1])["answer"] == HOUSES


def test_a_wrong_clue_in_a_file_is_told_by_its_own_line(run, tmp_path: Path) -> None:
    file = tmp_path / "riddles.txt"
    file.write_text(ZEBRA + "\n# another\n" + ZEBRA + "The Dane likes elephants.\n", encoding="utf-8")
    code, out, err = run("solve", "--file", str(file), "--json")
    assert code == 2
    assert len(out.splitlines()) == 1
    assert err.startswith(f"unmask: {file}, line 21: cannot tell what 'The Dane likes elephants'")


def test_the_puzzles_of_others_that_have_several_solutions_are_found(run, tmp_path: Path, wheel) -> None:
    # 1,000 "very easy" puzzles of the package jumanji: 40 have more than one solution.
    puzzles = np.load(wheel("jumanji", "1.1.2", "jumanji/environments/logic/sudoku/data/1000_very_easy_puzzles.npy"))
    assert puzzles.shape == (1000, 9, 9)
    counts = search((puzzles.reshape(1000, 81) - 1).astype(np.int8), 9, limit=2).count
    assert (counts == 2).sum() == 40
    assert (counts == 1).sum() == 960
    file = tmp_path / "easy.txt"
    file.write_text("\n".join("".join(map(str, p)) for p in puzzles.reshape(1000, 81).tolist()), encoding="utf-8")
    code, out, err = run("solve", "--with", "search", "--file", str(file), "--json")
    *problems, summary = err.splitlines()
    assert code == 2
    assert len(out.splitlines()) == 960
    assert summary == "960 of 1000 solved, 40 could not be read or have no single solution"
    assert all("more than one solution" in problem for problem in problems)
    lines = {int(problem.split("line ")[1].split(":")[0]) for problem in problems}
    assert lines == {int(number) + 1 for number in np.flatnonzero(counts == 2)}
