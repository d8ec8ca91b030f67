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


ONE = "from unmask.tasks.compiled import kernel\n\n@kernel\ndef one():\n    return {}\n"
TWO = """from unmask.tasks.compiled import kernel
from unmask.tasks.one import one

@kernel
def two():
    return one() + 1
"""
ASK = "from unmask.tasks.two import two; print(two(), len(two.stats.cache_hits))"


@pytest.fixture
def source(root: Path, tmp_path: Path) -> Path:
    """A copy of the package with two kernels more, one of which calls the other."""
    shutil.copytree(root / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    tasks = tmp_path / "src" / "unmask" / "tasks"
    (tasks / "one.py").write_text(ONE.format(1), encoding="utf-8")
    (tasks / "two.py").write_text(TWO, encoding="utf-8")
    return tmp_path / "src"


def test_a_change_of_one_kernel_reaches_those_that_call_it(source: Path) -> None:
    assert drawn(source, ASK) == "2 0"
    assert drawn(source, ASK) == "2 1"  # kept, and found again
    assert list((source / "unmask" / "tasks" / "__pycache__").glob("kernels-*/*/*.nbi"))
    (source / "unmask" / "tasks" / "one.py").write_text(ONE.format(41), encoding="utf-8")
    assert drawn(source, ASK) == "42 0"


@pytest.mark.skipif(sys.platform == "win32", reason="permissions work in another way on Windows")
def test_where_nothing_can_be_written_kernels_are_compiled_for_the_process(source: Path, tmp_path: Path) -> None:
    # A file stands where the folders would be made, which stops even root.
    (source / "unmask" / "tasks" / "__pycache__").write_text("", encoding="utf-8")
    blocked = tmp_path / "blocked"
    blocked.write_text("", encoding="utf-8")
    nowhere = {"HOME": str(blocked), "XDG_CACHE_HOME": str(blocked), "LOCALAPPDATA": str(blocked)}
    assert drawn(source, ASK, **nowhere) == "2 0"
    assert drawn(source, ASK, **nowhere) == "2 0"
    assert drawn(source, ASK, NUMBA_CACHE_DIR=str(tmp_path / "here")) == "2 0"
    assert list((tmp_path / "here").glob("kernels-*"))
