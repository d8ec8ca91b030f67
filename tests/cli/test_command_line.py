"""The command line, by running it: what goes to stdout, what to stderr, and which code it exits with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unmask.cli import application
from unmask.strategies import LITERATURE
from unmask.strategy import names

PUZZLE = "1... ..2. .3.. ...4"
ANSWER = "1243342143122134"


def command(*arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "unmask", *arguments], capture_output=True, text=True, **options)


def test_help_is_quick_and_needs_no_torch():
    began = time.perf_counter()
    times = []
    for _ in range(5):
        began = time.perf_counter()
        done = command("--help")
        times.append(time.perf_counter() - began)
    assert done.returncode == 0
    assert "decode" in done.stdout
    assert min(times) < 0.5
    imports = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "unmask", "--help"], capture_output=True, text=True, check=True
    )
    assert " torch" not in imports.stderr


def test_version_is_the_metadata_s():
    from importlib.metadata import version

    import unmask

    done = command("--version")
    assert done.stdout.strip() == version("unmask") == unmask.__version__


def test_a_puzzle_as_an_argument(run):
    code, out, err = run("decode", "sudoku4", PUZZLE)
    assert code == 0
    assert "1  2 │ 4  3" in out
    assert "1 of 1 solved" in err


def test_json_is_data_only_and_quiet_says_nothing_else(run):
    code, out, err = run("decode", "sudoku4", PUZZLE, "--json", "--quiet")
    assert (code, err) == (0, "")
    (row,) = map(json.loads, out.splitlines())
    assert row["answer"] == ANSWER
    assert row["solved"] is True
    assert sorted(row["step"]) == [-1] * 4 + list(range(12))


def test_puzzles_from_a_file_and_from_standard_input(run, tmp_path):
    file = tmp_path / "puzzles.txt"
    file.write_bytes(b"# two puzzles\r\n\r\n1.....2..3.....4\r\n1.....2..3.....4\n")
    code, out, _ = run("decode", "sudoku4", "--file", str(file), "--json")
    assert code == 0
    assert [json.loads(line)["answer"] for line in out.splitlines()] == [ANSWER] * 2
    code, out, _ = run("decode", "sudoku4", "--json", typed=b"1.....2..3.....4\n")
    assert [json.loads(line)["answer"] for line in out.splitlines()] == [ANSWER]
    code, out, _ = run("decode", "sudoku4", "--file", "-", "--json", typed=b"1.....2..3.....4\n")
    assert json.loads(out)["answer"] == ANSWER


def test_many_puzzles_are_a_line_each(run):
    code, out, _ = run("decode", "sudoku4", "--sample", "20", "--strategy", "fast_dllm")
    lines = out.splitlines()
    assert code == 0
    assert len(lines) == 20
    assert all(len(line) == 16 and set(line) <= set("1234") for line in lines)


def test_the_same_seed_gives_the_same_lines(run):
    ask = ("decode", "sudoku4", "." * 16, "--strategy", "random, per_step(1), sample", "--json", "--seed")
    first, again, other = run(*ask, "1")[1], run(*ask, "1")[1], run(*ask, "2")[1]
    assert first == again != other


def test_a_part_of_ones_own(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(
        "from dataclasses import dataclass\nfrom unmask import Oracle\n\n@dataclass(frozen=True)\n"
        "class Mine(Oracle):\n    k: int = 1\n\n    def score(self, belief):\n"
        "        return belief.place.double() * self.k\n",
        encoding="utf-8",
    )
    code, out, _ = run("decode", "sudoku4", PUZZLE, "--json", "-s", "./mine.py:Mine(k=2), per_step(1), greedy")
    assert code == 0
    assert json.loads(out)["step"][-2] == 0  # the last hidden cell first


def test_a_trace_is_written_and_drawn(run, tmp_path):
    file = tmp_path / "order.trace"
    assert run("decode", "sudoku4", PUZZLE, "--out", str(file), "--candidates", "3", "--quiet")[0] == 0
    code, out, _ = run("trace", "show", str(file))
    assert code == 0
    assert "margin, per_step(1), greedy" in out
    assert "shown first" in out
    code, out, _ = run("trace", "show", str(file), "--json")
    header, row = map(json.loads, out.splitlines())
    assert header["about"] == {"task": "sudoku4"}
    assert len(row["candidates"][0]["values"]) == 3


def test_a_trace_is_drawn_whole_whatever_the_terminal_is_wide(run, tmp_path, monkeypatch):
    import unmask

    monkeypatch.setenv("COLUMNS", "40")
    sudoku = unmask.task("sudoku4")
    model = unmask.Enumeration(sudoku.support())
    steps = unmask.decode(model, sudoku.parse(PUZZLE).start(), "margin, per_step(1), greedy")
    unmask.record(steps).save(tmp_path / "plain.trace")  # of no task: values in a row, as many as there is room for
    _, out, _ = run("trace", "show", str(tmp_path / "plain.trace"))
    assert all(f" {step} " in out for step in range(12))
    picture = [line for line in out.splitlines()[3:] if "shown first" not in line]
    assert max(map(len, picture)) <= 40
    code, out, _ = run("trace", "show", str(tmp_path / "plain.trace"), "--task", "sudoku4")
    assert code == 0
    assert "1  2 │ 4  3" in out
    code, _, err = run("trace", "show", str(tmp_path / "plain.trace"), "--task", "sudoku")
    assert code == 2
    assert "rows of 16 positions" in err


def test_strategies_lists_every_name_and_every_part(run):
    code, out, _ = run("strategies")
    assert code == 0
    assert all(name in out for name in [*LITERATURE, *names()])
    code, out, _ = run("strategies", "--json")
    assert [json.loads(line)["name"] for line in out.splitlines()] == list(LITERATURE)


def test_demo_counts_what_each_order_got_right(run):
    code, out, err = run("demo", "sudoku4", "--count", "200", "--json")
    rows = {row["label"]: row for row in map(json.loads, out.splitlines())}
    assert (code, err) == (0, "")
    assert rows["margin, 1 a step"]["right"] == rows["random, 1 a step"]["right"] == 200
    assert rows["margin, 1 a step"]["calls"] == 14
    assert rows["vanilla, 4 steps"]["right"] < 120
    code, out, _ = run("demo", "sudoku4", "--count", "10", "--clues", "0")
    assert "nothing given" in out


WRONG = {
    ("decode", "sudoku5", PUZZLE): "'sudoku",
    ("decode", "sudoku4", "123"): "the puzzle has 3 cells; sudoku4 has 16",
    ("decode", "sudoku4", PUZZLE, "5" + "." * 15): "puzzle 2: '5' in cell 1",
    ("decode", "sudoku4", "11" + "." * 14): "contradicts itself",
    ("decode", "sudoku4", "123....4........"): "no grid has these clues",
    ("decode", "sudoku4", PUZZLE, "-s", "margn, per_step(1), greedy"): "'margin'",
    ("decode", "sudoku4", PUZZLE, "-s", "margin, per_step(q=1), greedy"): "no option 'q'",
    ("decode", "sudoku4", PUZZLE, "-s", "fast_dlm"): "'fast_dllm'",
    ("decode", "sudoku4", PUZZLE, "-s", "margin, per_step(1), greedy, lowest"): "needs a pace with a number of steps",
    ("decode", "sudoku4", PUZZLE, "--seed", "one"): "--seed",
    ("decode", "sudoku4", PUZZLE, "--sead", "1"): "--seed",
    ("decode", "sudoku4", PUZZLE, "--candidates", "-1"): "--candidates",
    ("decode", "sudoku4", PUZZLE, "--sample", "3"): "come from one place",
    ("decode", "sudoku4", "--sample", "0"): "from 1 to",
    ("decode", "sudoku4", "--file", "nowhere.txt"): "nowhere.txt",
    ("decode", "sudoku4", "--file", "."): "is a directory",
    ("decode", "sudoku4", "--file", os.devnull): "is empty",
    ("decode", "sudoku4", PUZZLE, "--out", "nowhere/order.trace"): "nowhere",
    ("decode", "sudoku4", PUZZLE, "--out", "."): "is a directory",
    ("decode",): "TASK",
    ("dcode",): "decode",
    ("trace", "show", "."): "is a directory",
    ("trace", "show", "nowhere.trace"): "does not exist",
    ("trace", "show", os.devnull): "is empty",
    ("trace", "show", __file__): "is not a trace",
    ("demo", "--clues", "17"): "--clues from 0 to 16",
}


@pytest.mark.parametrize("arguments", list(WRONG), ids=" ".join)
def test_bad_input_is_one_line_and_exit_code_2(run, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments, typed=b"")
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert str(WRONG[arguments]) in err
    assert "Traceback" not in err


def test_a_file_that_is_wrong_names_the_line(run, tmp_path):
    file = tmp_path / "puzzles.txt"
    file.write_text("1.....2..3.....4\n\n1.....2..3.....\n", encoding="utf-8")
    code, _, err = run("decode", "sudoku4", "--file", str(file))
    assert code == 2
    assert f"{file}, line 3: the puzzle has 15 cells" in err
    file.write_bytes(b"\xff\xfe\x00")
    assert "is not text" in run("decode", "sudoku4", "--file", str(file))[2]


def test_cuda_where_there_is_none_is_said_so(run, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    code, _, err = run("decode", "sudoku4", PUZZLE, "--device", "cuda")
    assert code == 2
    assert "--device cpu" in err


def test_a_truncated_trace_is_said_so(run, tmp_path):
    file = tmp_path / "order.trace"
    run("decode", "sudoku4", PUZZLE, "--out", str(file), "--quiet")
    file.write_bytes(file.read_bytes()[:-100])
    code, _, err = run("trace", "show", str(file))
    assert code == 2
    assert "truncated" in err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no POSIX signals on Windows")
def test_ctrl_c_exits_130_with_one_line():
    process = subprocess.Popen(
        [sys.executable, "-m", "unmask", "demo", "sudoku4", "--count", "1000000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(6)
    assert process.poll() is None, "it should still be at work"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip() == "unmask: interrupted"


def test_no_colour_and_no_bar_where_there_is_no_terminal():
    done = command("demo", "sudoku4", "--count", "5")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals on Windows")
def test_in_a_terminal_there_is_colour_unless_it_is_unwanted():
    import pty

    def in_terminal(**environment: str) -> bytes:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "unmask", "decode", "sudoku4", PUZZLE],
            stdout=theirs,
            stderr=theirs,
            env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"} | environment,
        )
        os.close(theirs)
        seen = b""
        while chunk := _read(ours):
            seen += chunk
        assert process.wait() == 0
        return seen

    assert b"\x1b[" in in_terminal()
    assert b";2;" not in in_terminal(NO_COLOR="1")
    assert b"48;5;" not in in_terminal(NO_COLOR="1")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other end has closed
        return b""


def test_a_reader_that_has_had_enough_is_no_error():
    process = subprocess.Popen(
        [sys.executable, "-m", "unmask", "decode", "sudoku4", "--sample", "2000", "--json", "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait() == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete_commands(shell):
    script = application().generate_completion(shell=shell)
    assert "decode" in script
    assert "strategies" in script
