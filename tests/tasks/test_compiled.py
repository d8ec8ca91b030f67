"""Kernels are compiled anew when any of them has changed, and where nothing can be written they work all the same."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def drawn(source: Path, code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        env=os.environ | {"PYTHONPATH": str(source)} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def source(root: Path, tmp_path: Path) -> Path:
    """A copy of the package, to be changed."""
    shutil.copytree(root / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "src"


SHUFFLED = """
import numpy as np
from unmask.tasks.drawing import start, below
state = start(np.int64(3), 4)
print([below(state, 100) for _ in range(5)])
"""


def test_a_change_of_one_kernel_reaches_those_that_call_it(source: Path) -> None:
    before = drawn(source, SHUFFLED)
    assert drawn(source, SHUFFLED) == before
    assert list((source / "unmask" / "tasks" / "__pycache__").glob("kernels-*/*/*.nbi"))
    rules = source / "unmask" / "tasks" / "zebra" / "rules.py"
    code = """
import numpy as np
from unmask.tasks.zebra.search import search
from unmask.tasks.zebra.clues import Clue, Puzzle, Puzzles
print(search(Puzzles.of([Puzzle(3, 3, (Clue(3, ((0, 0), (0, 1))),))]), limit=500).count[0])
"""
    assert drawn(source, code) == "72"  # in 2 of 6 orders of an attribute one value is directly left of another
    text = rules.read_text(encoding="utf-8")
    changed = text.replace("left[0], left[1] = x & (y >> 1), y & (x << 1)", "left[0], left[1] = x, y")
    assert changed != text
    rules.write_text(changed, encoding="utf-8")
    assert drawn(source, code) == "216"  # the clue says nothing now; `search`, in another file, calls it


@pytest.mark.skipif(sys.platform == "win32", reason="permissions work in another way on Windows")
def test_where_nothing_can_be_written_kernels_are_compiled_for_the_process(source: Path, tmp_path: Path) -> None:
    # A file stands where the folders would be made, which stops even root.
    (source / "unmask" / "tasks" / "__pycache__").write_text("", encoding="utf-8")
    blocked = tmp_path / "blocked"
    blocked.write_text("", encoding="utf-8")
    nowhere = {"HOME": str(blocked), "XDG_CACHE_HOME": str(blocked), "LOCALAPPDATA": str(blocked)}
    assert drawn(source, SHUFFLED, **nowhere) == drawn(source, SHUFFLED, NUMBA_CACHE_DIR=str(tmp_path / "here"))
    assert list((tmp_path / "here").glob("kernels-*"))
