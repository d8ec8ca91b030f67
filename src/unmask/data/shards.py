"""One shard: a safetensors file of columns, written whole, read through the memory map, known by its SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save
from torch import Tensor

from unmask.data import Columns
from unmask.errors import UnmaskError
from unmask.files import write_whole

_PIECE = 1 << 22


def write(path: Path, columns: Columns) -> str:
    """Write the columns to one file; its checksum. The same columns are the same bytes."""
    data = save({name: np.ascontiguousarray(columns[name]) for name in sorted(columns)})
    write_whole(path, data)
    return hashlib.sha256(data).hexdigest()


def checksum(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    total = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            total.update(piece)
    return total.hexdigest()


def verify(path: Path, expected: str, size: int) -> None:
    """Refuse a shard that is not what was written, by its name."""
    advice = "make the data set again: remove its folder, then unmask data"
    if not path.is_file():
        raise UnmaskError(f"the shard {path} is missing; {advice}")
    try:
        found = path.stat().st_size
        if found != size:
            raise UnmaskError(f"the shard {path} is truncated: {found} bytes, expected {size}; {advice}")
        if checksum(path) != expected:
            raise UnmaskError(f"the shard {path} is damaged: its checksum is not the one it was written with; {advice}")
    except OSError as error:
        raise UnmaskError(f"cannot read the shard {path}: {error.strerror}") from error


def read(path: Path) -> Mapping[str, Tensor]:
    """The columns, mapped into memory: bytes are read from the disk when they are looked at."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except (OSError, SafetensorError) as error:
        raise UnmaskError(f"cannot read the shard {path}: {' '.join(str(error).split())}") from error
