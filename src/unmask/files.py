"""Files that are there whole or not at all: what every writer in the house uses."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from unmask.errors import UnmaskError


def write_whole(path: Path, data: bytes) -> None:
    """Write under another name, then rename: a reader, or a crash at any moment, never sees half a file.

    A symlink stays one: what it points to is written. Devices and pipes cannot be renamed over, and are refused.
    """
    partial = None
    try:
        if path.is_dir():
            raise UnmaskError(f"{path} is a directory; expected the name of a file to write")
        if path.exists() and not path.is_file():
            raise UnmaskError(f"{path} is a device, a pipe or a socket; expected the name of a file to write")
        target = path.resolve()
        if target.is_symlink():  # Python 3.13 resolves a circle to itself; before, it refused
            raise UnmaskError(f"cannot write {path}: its symlinks go in a circle")
        partial = Path(f"{target}.{os.getpid()}.partial")
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
    except (OSError, RuntimeError, ValueError) as error:  # symlinks in a circle; a name that no file can have
        if isinstance(error, UnmaskError):
            raise
        if partial is not None:
            with contextlib.suppress(OSError):
                partial.unlink()
        raise UnmaskError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from error
