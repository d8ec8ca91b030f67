"""Files that are there whole or not at all: what every writer in the house uses."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from unmask.errors import UnmaskError


def write_whole(path: Path, data: bytes) -> None:
    """Write under another name, then rename: a reader, or a crash at any moment, never sees half a file."""
    partial = Path(f"{path}.{os.getpid()}.partial")
    try:
        if path.is_dir():
            raise UnmaskError(f"{path} is a directory; expected the name of a file to write")
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise UnmaskError(f"cannot write {path}: {error.strerror}") from error
