"""Shapes are checked here, and only here: jaxtyping annotations by beartype, on every call into the package."""

import os
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
