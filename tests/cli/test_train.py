"""`unmask train`, and what becomes of its checkpoints: evaluate, decode, solve."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unmask.data.build import build
from unmask.tasks.sudoku import SudokuRecipe

EASY = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
TINY = ("--preset", "tiny", "--no-compile")
SHORT = ("steps=20", "validate_every=20", "batch=8", "micro=4")


@pytest.fixture(scope="module")
def puzzles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("puzzles") / "data"
    build(SudokuRecipe(seed=5), 600, folder)
    return folder


@pytest.fixture(scope="module")
def trained(puzzles: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained") / "run"
    command = [sys.executable, "-m", "unmask", "train", "sudoku", *SHORT, *TINY, "--data", str(puzzles)]
    done = subprocess.run([*command, "--out", str(out)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "13,008 weights, any_order" in done.stderr
    assert done.stdout.strip() == f"{out}/weights.safetensors: step 20 of 20"
    return out


def test_a_run_leaves_weights_a_log_and_a_figure(trained: Path) -> None:
    names = {file.name for file in trained.iterdir()}
    assert {"run.safetensors", "weights.safetensors", "best.safetensors", "log.jsonl", "loss.png"} <= names
    assert (trained / "loss.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_command_goes_on_and_resume_needs_no_options(run, trained: Path, puzzles: Path) -> None:
    before = (trained / "weights.safetensors").read_bytes()
    code, _, _ = run("train", "sudoku", *SHORT, *TINY, "--data", str(puzzles), "--out", str(trained))
    assert (code, (trained / "weights.safetensors").read_bytes()) == (0, before)
    code, _, err = run("train", "sudoku", "--resume", "--no-compile", "--data", str(puzzles), "--out", str(trained))
    assert code == 0
    assert "going on at step 20" in err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no POSIX signals on Windows")
def test_ctrl_c_keeps_what_was_reached(run, puzzles: Path, tmp_path: Path) -> None:
    command = ["train", "sudoku", "steps=100000", "validate=0", *TINY, "--data", str(puzzles), "--out", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "unmask", *command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the same command again to go on" in err
    assert err.strip().endswith("unmask: interrupted")
    code, _, err = run(*command, "--json", "--minutes", "0.001")
    assert code == 0
    assert re.search(r"going on at step [1-9][0-9]+", err)


def test_evaluate_counts_with_an_interval(run, trained: Path, puzzles: Path, tmp_path: Path) -> None:
    weights = str(trained / "weights.safetensors")
    some = ("--data", str(puzzles), "--split", "hard-test", "--count", "4")
    code, out, err = run("evaluate", weights, *some, "-s", "random, evenly(2), greedy", "--json", "--passes", "3")
    (told,) = map(json.loads, out.splitlines())
    assert (code, err) == (0, "")
    assert (told["solved"], told["of"], told["calls"], told["passes"]) == (0, 4, 2.0, 3)
    assert told["interval"][0] == 0
    assert told["interval"][1] == pytest.approx(48.99, abs=0.01)
    assert {"command", "date", "commit", "machine", "seed"} <= told.keys()
    file = tmp_path / "puzzles.txt"
    file.write_text(f"{EASY}\n{EASY}\n", encoding="utf-8")
    code, out, _ = run("evaluate", weights, "--puzzles", str(file), "-s", "margin, evenly(2), greedy")
    assert code == 0
    assert "0.00 %" in out
    code, out, _ = run("evaluate", "exact", "--sample", "5", "-s", "margin, per_step(1), greedy", "--json")
    assert json.loads(out)["percent"] == 100


def test_decode_and_solve_take_a_checkpoint(run, trained: Path) -> None:
    weights = str(trained / "weights.safetensors")
    code, out, err = run("decode", "sudoku", EASY, "--model", weights, "-s", "margin, evenly(3), greedy", "--json")
    told = json.loads(out)
    assert (code, told["calls"], told["solved"]) == (0, 3, False)
    code, out, err = run("solve", EASY, EASY, "--with", weights, "--plain", "-s", "margin, evenly(3), greedy")
    assert code == 0
    assert [len(line) for line in out.splitlines()] == [81, 81]
    assert all(sign == "." or sign == filled for sign, filled in zip(EASY, out, strict=False))
    assert "0 of 2 solved" in err
    code, out, _ = run("solve", EASY, "--with", weights, "--compare", "random,margin", "--json")
    assert [json.loads(line)["strategy"] for line in out.splitlines()] == [
        "random, per_step(1), greedy",
        "margin, per_step(1), greedy",
    ]


WRONG = {
    ("train", "sudoku"): "--out",
    ("train", "sudoko", "--out", "run"): "'sudoku'",
    ("train", "sudoku", "--out", "run", "--preset", "tny"): "'tiny'",
    ("train", "sudoku", "stepz=5", "--out", "run"): "steps",
    ("train", "sudoku", "net.width=5", "--out", "run"): "multiple of 6 heads",
    ("train", "sudoku", "--out", "run", "--data", "nowhere"): "nowhere is not a folder",
    ("train", "sudoku", "--out", "run", "--resume"): "there is no run in run",
    ("train", "sudoku", "--out", "run", "--minutes", "0"): "--minutes",
    ("train", "sudoku", "--out", "run", "--device", "tpu"): "--device",
    ("train", "sudoku4", "--out", "run"): "give them with --data",
    ("evaluate", "nowhere.safetensors"): "there is no file",
    ("evaluate", "sudokuu"): "no model is named",
    ("evaluate", "exact", "--sample", "0"): "--sample",
    ("evaluate", "exact", "--sample", "3", "--batch", "0"): "--batch",
    ("evaluate", "exact", "--sample", "3", "--puzzles", "a"): "come from one place",
    ("decode", "sudoku4", "--sample", "1", "--model", "nowhere/x"): "there is no file",
    ("decode", "sudoku", "--sample", "1", "--model", "exact"): "too many",
    ("decode", "zebra", "--sample", "1"): "no model for zebra",
    ("solve", EASY, "--with", "serch"): "'search'",
    ("solve", EASY, "--with", "search", "--compare", "margin"): "orders for a model",
}


@pytest.mark.parametrize("arguments", list(WRONG), ids=" ".join)
def test_bad_input_is_one_line_and_exit_code_2(run, arguments, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments, typed=b"")
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert WRONG[arguments] in err
    assert "Traceback" not in err


def test_bad_input_to_a_trained_model(run, trained: Path, puzzles: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    weights = str(trained / "weights.safetensors")
    for arguments, told in {
        ("decode", "sudoku4", "--sample", "1", "--model", weights): "is a model of sudoku; expected one of sudoku4",
        ("decode", "sudoku", EASY, "--model", weights, "--passes", "0"): "--passes",
        ("evaluate", weights, "--data", str(puzzles), "--split", "easy"): "has no split 'easy'",
        ("evaluate", weights, "--task", "zebra"): "expected one of zebra",
        ("solve", EASY, "--with", weights, "--speed", "0"): "--speed",
        ("solve", EASY, "--with", weights, "--compare", "margn"): "margin",
        ("solve", "11" + EASY[2:], "--with", weights): "contradicts itself",
        ("train", "sudoku", *TINY, "--data", str(puzzles), "--out", str(trained)): "holds another run",
        ("train", "sudoku", *TINY, "--data", str(puzzles), "--out", "run", "--from", "none"): "there is no file",
        ("train", "zebra", "--resume", "--out", str(trained)): "is about sudoku, not zebra",
    }.items():
        code, out, err = run(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert told in err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals on Windows")
def test_in_a_terminal_orders_are_watched_side_by_side(trained: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    weights = str(trained / "weights.safetensors")
    command = ["solve", EASY, "--with", weights, "--compare", "random,margin", "--speed", "1000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "unmask", *command],
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"},
    )
    os.close(theirs)
    shown = b""
    began = time.monotonic()
    while time.monotonic() - began < 60:
        try:
            shown += os.read(ours, 65536)
        except OSError:  # the other side is gone
            break
    assert process.wait() == 0
    assert b"random" in shown
    assert b"margin" in shown
    assert b"51 calls" in shown
    assert b"there is a solution, and it was missed by" in shown
