"""Compiling the blocks of a net, where there is a compiler; and saying why, where there is none.

Only blocks are compiled, all alike: one compilation of some seconds serves every block and pass, and what changes its
shape from call to call (how much is asked) stays outside.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterable

import torch
from torch import nn

from unmask.errors import one_line


def compile_blocks(blocks: Iterable[nn.Module], device: torch.device) -> str | None:
    """Compile the blocks of a net for a device. None, or the reason why the net runs eagerly instead."""
    reason = why_not(device)
    if reason is None:
        for block in blocks:
            block.compile(dynamic=False)
    return reason


def why_not(device: torch.device) -> str | None:
    """Why nothing can be compiled for a device here; None where it can."""
    if device.type == "cpu":
        wished = os.environ.get("CXX")
        if not any(shutil.which(name) for name in ([wished] if wished else ["g++", "clang++"])):
            return "there is no C++ compiler"
    elif importlib.util.find_spec("triton") is None:
        return "triton is not installed"
    try:  # what is there may still not work: no headers, no linker, no room for what is compiled
        torch.compile(_trial)(torch.ones(8, device=device))
    except Exception as error:  # noqa: BLE001 - whatever it is, eager code runs all the same
        return f"the compiler failed ({one_line(error)[:120]})"
    return None


def _trial(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + 1
