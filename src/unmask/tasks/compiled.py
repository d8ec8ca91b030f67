"""Kernels: loops over small integers that numba compiles on the user's machine, once, and keeps.

By itself numba looks at a kernel's own file to see whether what it kept is still good, and goes on with the old code
where a kernel in another file, which this one calls, has changed. Here all kernels are kept under one name that is a
checksum of all files that have any. Where nothing can be written, they are compiled anew for every process.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numba
from numba import njit

_HERE = Path(__file__).parent
_CONFIG: Any = numba.config


def kernel(function: Callable[..., Any] | None = None, *, inline: Literal["never", "always"] = "never") -> Any:
    """Compile a function at its first call: `@kernel`, or `@kernel(inline="always")`."""
    if function is None:
        return lambda one: kernel(one, inline=inline)
    folder = _folder()
    if folder is None:
        return njit(inline=inline)(function)
    # Numba reads the folder while it decorates, and then no more: other packages' kernels stay where they were.
    before = _CONFIG.CACHE_DIR
    _CONFIG.CACHE_DIR = str(folder)
    try:
        return njit(cache=True, inline=inline)(function)
    finally:
        _CONFIG.CACHE_DIR = before


@cache
def _folder() -> Path | None:
    """Where compiled kernels are kept: where NUMBA_CACHE_DIR says, beside the sources, or in the user's own cache."""
    sources = sorted(_HERE.rglob("*.py"))
    name = "kernels-" + hashlib.sha256(b"\0".join(file.read_bytes() for file in sources)).hexdigest()[:16]
    wished = os.environ.get("NUMBA_CACHE_DIR")
    homes = [Path(wished)] if wished else [_HERE / "__pycache__", *_user_caches()]
    return next((home / name for home in homes if _writable(home / name)), None)


def _user_caches() -> list[Path]:
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return [Path(base) / "unmask" if base else Path.home() / ".cache" / "unmask"]
    except RuntimeError:  # nobody's home
        return []


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
