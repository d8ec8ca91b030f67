"""How the command line ends when something is in its way: one line, the right code, and no traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from unmask.cli import main
from unmask.decode import decode
from unmask.errors import UnmaskError
from unmask.exact.enumeration import Enumeration
from unmask.tasks import task
from unmask.trace import Trace, record

PUZZLE = "1... ..2. .3.. ...4"
HEAVY = ("decode", "sudoku4", PUZZLE, "--quiet", "--json", "--strategy")
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="there are no POSIX signals and devices on Windows")

OWN = """
from dataclasses import dataclass
from unmask import Oracle

@dataclass(frozen=True)
class Nothing(Oracle):
    pass

@dataclass(frozen=True)
class Fails(Oracle):
    def score(self, belief):
        raise ValueError("two\\nlines")

class Forgotten(Oracle):
    pass
"""


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Runs a command in this process and an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(3)", encoding="utf-8")

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        captured = capsys.readouterr()
        return int(stopped.value.code or 0), captured.out, captured.err

    return call


NINES = f"({'9, ' * 16})"
WRONG = {
    (*HEAVY, "margin, per_step(1" + "0" * 30 + "), greedy"): "k is too large",
    (*HEAVY, "margin, evenly(1" + "0" * 30 + "), greedy"): "steps is too large",
    (*HEAVY, "margin, evenly(9223372036854775807), greedy"): "steps is too large",
    (*HEAVY, "margin, per_step(1), greedy, blocks(9223372036854775807)"): "size is too large",
    (*HEAVY, "margin, per_step(1), sample(1e999)"): "temperature must be at least 0 and finite",
    (*HEAVY, "fixed((99999999999999,)), per_step(1), greedy"): "pi is too large",
    (*HEAVY, f"random, per_step(1), teacher(({NINES},))"): "the value 9 at place",
    (*HEAVY, f"random, per_step(1), teacher(({NINES.replace('9', '-1')},))"): "the value -1 at place",
    (*HEAVY, "margin, per_step(" + "-" * 20_000 + "1), greedy"): "nested too deeply",
    (*HEAVY, "margin" + ".a" * 20_000 + ", per_step(1), greedy"): "nested too deeply",
    (*HEAVY, "./own.py:Forgotten, per_step(1), greedy"): "@dataclass(frozen=True)",
    (*HEAVY, "./own.py:Nothing, per_step(1), greedy"): "without score(belief)",
    (*HEAVY, "./own.py:Fails, per_step(1), greedy"): "own.py:Fails: score raised ValueError: two lines",
    (*HEAVY, "./leaves.py:Mine, per_step(1), greedy"): "SystemExit: 3",
    ("demo", "--count", "1000000000000"): "--count from 1 to 1000000",
    ("trace", "show", "order.trace", "--most", "-1"): "--most: expected a number from 0, got -1",
    ("trace", "show", "two\nlines.trace"): "two lines.trace does not exist",
    ("decode", "sudoku4", "--file", "two\nlines"): "two lines",
}


@pytest.mark.parametrize("arguments", list(WRONG), ids=lambda arguments: " ".join(arguments)[:70])
def test_bad_input_is_one_line_and_exit_code_2(run, arguments):
    code, _, err = run(*arguments)
    assert code == 2
    assert err.count("\n") == 1
    assert WRONG[arguments] in err


@POSIX
def test_a_pipe_is_not_written_over(run):
    os.mkfifo("pipe")  # not a real device, which would be lost should this ever break
    code, _, err = run("decode", "sudoku4", PUZZLE, "--out", "pipe", "--quiet")
    assert code == 2
    assert err == "unmask: pipe is a device, a pipe or a socket; expected the name of a file to write\n"
    assert Path("pipe").is_fifo()


def test_no_more_candidates_are_kept_than_there_are(run):
    assert (
        run("decode", "sudoku4", PUZZLE, "--candidates", "1000000000000000", "--out", "order.trace", "--quiet")[0] == 0
    )
    assert Trace.load("order.trace").top_values.shape[1] == 4


def _trace(**about: str) -> Trace:
    problem = task("sudoku4")
    model = Enumeration(problem.support())  # type: ignore[attr-defined]
    made = record(decode(model, problem.parse(PUZZLE).start(), "margin, per_step(1), greedy"))
    return replace(made, about=about)


@pytest.mark.parametrize("name", ["sudoku", "zebra", "sudoku5", "", "sudoku4"])
def test_a_trace_whose_task_does_not_fit_is_drawn_without_its_picture(run, name):
    made = _trace(task=name)
    if name == "sudoku4":
        made = replace(made, tokens=made.tokens + 90)
    made.save("order.trace")
    code, out, err = run("trace", "show", "order.trace")
    assert (code, err) == (0, "")
    assert "shown first" in out
    assert "│" not in out


def process(*arguments: str, **options) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-m", "unmask", *arguments], text=True, **options)


PRINTING = [("strategies",), ("--help",), ("decode", "--help"), ("trace", "show", "order.trace")]


@POSIX
@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_reader_that_has_gone_is_no_error(tmp_path, arguments):
    _trace(task="sudoku4").save(tmp_path / "order.trace")
    ours, theirs = os.pipe()
    os.close(ours)  # gone before the first line
    started = process(*arguments, stdout=theirs, stderr=subprocess.PIPE, cwd=tmp_path)
    os.close(theirs)
    _, err = started.communicate(timeout=60)
    assert (started.returncode, err) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("arguments", [*PRINTING, (*HEAVY, "llada")], ids=" ".join)
def test_a_full_disk_is_one_line(tmp_path, arguments):
    _trace(task="sudoku4").save(tmp_path / "order.trace")
    with Path("/dev/full").open("w") as full:
        started = process(*arguments, stdout=full, stderr=subprocess.PIPE, cwd=tmp_path)
        _, err = started.communicate(timeout=60)
    assert started.returncode == 2
    assert err == "unmask: standard output: No space left on device\n"


def test_an_interrupt_that_comes_out_as_another_error_is_one(run, monkeypatch):
    def interrupted():
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise RuntimeError("Error calling __set_name__")  # noqa: B904 - as libraries do

    monkeypatch.setattr("unmask.cli.application", interrupted)
    assert run("strategies") == (130, "", "unmask: interrupted\n")


@POSIX
def test_an_interrupt_that_a_library_swallowed_is_not_forgotten(run, monkeypatch):
    def swallowed():
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        except KeyboardInterrupt:
            pass
        raise UnmaskError("the library cannot be loaded")

    monkeypatch.setattr("unmask.cli.application", swallowed)
    assert run("strategies") == (130, "", "unmask: interrupted\n")


LOADING = """
import importlib.abc, os, signal, sys, time

class Interrupts(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            try:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(1)
            except KeyboardInterrupt:
                raise SystemError("as C++ code would")
        return None

from unmask.cli import main
sys.meta_path.insert(0, Interrupts())
main({arguments!r})
"""


@POSIX
@pytest.mark.parametrize("module", ["cyclopts", "rich.padding", "torch"])
def test_ctrl_c_while_a_library_is_loaded_is_one_line(module):
    code = LOADING.format(module=module, arguments=("strategies",))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "unmask: interrupted\n")


@POSIX
def test_what_ignores_ctrl_c_goes_on_ignoring_it():
    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    started = process("strategies", "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=ignore)
    time.sleep(0.5)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert (started.returncode, err) == (0, "")
    assert json.loads(out.splitlines()[0])


def test_a_mistake_of_ours_is_not_hidden(run, monkeypatch):
    def broken():
        raise RuntimeError("ours")

    monkeypatch.setattr("unmask.cli.application", broken)
    with pytest.raises(RuntimeError, match="ours"):
        main(["strategies"])
