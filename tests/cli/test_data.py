"""`unmask data`: sets of both puzzles, made, looked at, drawn; interrupted and gone on with."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unmask.data.dataset import Dataset


@pytest.mark.parametrize("task", ["sudoku", "zebra"])
def test_a_set_is_made_once_and_its_histograms_are_shown(run, tmp_path: Path, task: str) -> None:
    out = tmp_path / "set"
    code, said, err = run("data", task, "--count", "300", "--out", str(out), "--processes", "1")
    assert (code, err) == (0, "")
    assert f"{out} is made" in said
    assert "easy-train" in said
    before = {file.name: file.stat().st_mtime_ns for file in out.iterdir()}
    assert "was there already" in run("data", task, "--count", "300", "--out", str(out))[1]
    assert {file.name: file.stat().st_mtime_ns for file in out.iterdir()} == before
    code, said, _ = run("data", "stats", str(out), "--json")
    told = json.loads(said)
    assert told["task"] == task
    assert sum(told["splits"].values()) <= 300
    for title in ("clues", "grade", "rounds"):
        assert sum(told["histograms"][title].values()) == sum(told["splits"].values())
    code, said, _ = run("data", "stats", str(out), "--split", "easy-train")
    assert "hard-train" in said
    assert "█" in said
    for kind in ("png", "svg", "pdf"):
        figure = tmp_path / f"figure.{kind}"
        assert run("data", "stats", str(out), "--figure", str(figure))[0] == 0
        assert figure.stat().st_size > 5000
    assert len(Dataset.open(out, "easy-train")) == told["splits"]["easy-train"]


def test_sizes_and_clues_can_be_wished_for(run, tmp_path: Path) -> None:
    assert (
        run("data", "zebra", "--count", "50", "--out", str(tmp_path / "z"), "--houses", "4", "--attributes", "3")[0]
        == 0
    )
    told = json.loads(run("data", "stats", str(tmp_path / "z"), "--json")[1])
    assert set(told["histograms"]["houses x attributes"]) == {"4 x 3"}
    assert run("data", "sudoku", "--count", "50", "--out", str(tmp_path / "s"), "--clues", "30")[0] == 0
    told = json.loads(run("data", "stats", str(tmp_path / "s"), "--json")[1])
    assert set(told["histograms"]["clues"]) == {"30"}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no POSIX signals on Windows")
def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    ask = [sys.executable, "-m", "unmask", "data", "zebra", "--count", "40000", "--out", str(tmp_path / "set")]
    process = subprocess.Popen(ask, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not list((tmp_path / "set").glob("making/*.sha256")) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    first, kept, last = err.splitlines()
    assert first.startswith("stopping: what is at work is finished first")
    assert kept.endswith("run the same command again to go on")
    assert 2000 <= int(kept.split()[0]) < 40000
    assert last == "unmask: interrupted"


WRONG = {
    ("data", "zebra", "--count", "10", "--out", "x", "--houses", "9"): "3 to 6 houses, not 9",
    ("data", "sudoku", "--count", "10", "--out", "x", "--side", "16"): "side 4 or 9, not 16",
    ("data", "sudoku", "--count", "10", "--out", "x", "--clues", "99"): "0 to 81 clues, not 99",
    ("data", "sudoku", "--count", "0", "--out", "x"): "expected at least 1 example",
    ("data", "sudoku", "--count", "99999999999999", "--out", "x"): "at most 1000000000",
    ("data", "sudoku", "--count", "many", "--out", "x"): "--count",
    ("data", "sudoku", "--count", "10"): "--out",
    ("data", "sodoku", "--count", "10"): "sudoku",
    ("data", "stats", "."): "has no dataset.json",
    ("data", "stats", "nowhere"): "is not a folder",
}


@pytest.mark.parametrize("arguments", list(WRONG), ids=" ".join)
def test_bad_input_is_one_line_and_exit_code_2(run, arguments, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert WRONG[arguments] in err
