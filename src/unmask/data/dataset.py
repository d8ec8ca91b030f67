"""Dataset: a split of a data set on disk, as columns that can be looked at anywhere.

A folder holds `dataset.json` - the recipe, and for every split its shards with their checksums - and the shards. It
is complete if `dataset.json` is there: that is written last.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from unmask.data import shards
from unmask.errors import UnmaskError

FORMAT = "unmask data 1"
MANIFEST = "dataset.json"
_KEYS = {"task": str, "recipe": dict, "count": int, "splits": dict}


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows of one split, or of several in a row; `about` is what `dataset.json` says."""

    path: Path
    split: str
    about: Mapping[str, Any]
    shards: tuple[Mapping[str, Tensor], ...]

    @staticmethod
    def open(path: Path | str, split: str, *, check: bool = True) -> Dataset:
        """A split by its name, such as "easy-train"; "easy-train+hard-train" is both. Checks every shard's checksum
        first (about a second for a gigabyte), so that nothing is trained on damaged data."""
        path = Path(path)
        about = manifest(path)
        found = []
        for name in split.split("+"):
            if name not in about["splits"]:
                raise UnmaskError(f"{path} has no split {name!r}; there are {', '.join(about['splits'])}")
            for shard in about["splits"][name]["shards"]:
                file = path / shard["file"]
                if check:
                    shards.verify(file, shard["sha256"], shard["bytes"])
                found.append(shards.read(file))
        return Dataset(path, split, about, tuple(found))

    def __len__(self) -> int:
        return sum(_count(shard) for shard in self.shards)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(sorted({name for shard in self.shards for name in shard}))

    def __getitem__(self, number: int) -> dict[str, Tensor]:
        """One row, for those who go by rows (a DataLoader, say); `batch` is much quicker."""
        if not -len(self) <= number < len(self):
            raise IndexError(f"row {number} of {self.split}: it has {len(self)}")
        return {name: column[0] for name, column in self.batch(torch.tensor([number % len(self)])).items()}

    def batch(self, index: Int[Tensor, " n"] | Sequence[int]) -> dict[str, Tensor]:
        """The rows of these numbers, in their order. Shuffle the numbers, and it is a training loop's batch."""
        index = torch.as_tensor(index).reshape(-1)
        ends = torch.tensor([0, *(_count(shard) for shard in self.shards)]).cumsum(0)
        wrong = index[(index < 0) | (index >= ends[-1])]
        if len(wrong):
            rows = f"there are rows 0 to {int(ends[-1]) - 1}" if ends[-1] else "it is empty"
            raise UnmaskError(f"row {int(wrong[0])} of {self.split}: {rows}")
        home = torch.searchsorted(ends, index, right=True) - 1
        found: dict[str, Tensor] = {}
        for number in home.unique().tolist():
            here = home == number
            for name, column in self.shards[number].items():
                rows = column[index[here] - ends[number]]
                found.setdefault(name, rows.new_zeros((len(index), *rows.shape[1:])))[here] = rows
        return found

    def in_order(self, size: int) -> Iterator[dict[str, Tensor]]:
        """All rows, `size` at a time; the last ones may be fewer."""
        if size < 1:
            raise UnmaskError(f"in_order: expected at least 1 row at a time, got {size}")
        for begin in range(0, len(self), size):
            yield self.batch(torch.arange(begin, min(begin + size, len(self))))


def manifest(path: Path) -> dict[str, Any]:
    """What `dataset.json` says; refuses a folder that is no data set, or not a whole one."""
    file = path / MANIFEST
    try:
        is_folder, is_whole, is_begun = path.is_dir(), file.is_file(), (path / "plan.json").is_file()
    except OSError as error:
        raise UnmaskError(f"cannot read {path}: {error.strerror}") from error
    if not is_folder:
        raise UnmaskError(f"{path} is not a folder; expected a data set, as `unmask data` writes it")
    if not is_whole:
        if is_begun:
            raise UnmaskError(f"{path} is not finished; run the command that began it again, and it goes on")
        raise UnmaskError(f"{path} has no {MANIFEST}; expected a data set, as `unmask data` writes it")
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnmaskError(f"{file} cannot be read: {error}") from error
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        found = about.get("format") if isinstance(about, dict) else None
        raise UnmaskError(f"{file} has the format {found!r}; this version reads {FORMAT!r}")
    missing = [name for name, kind in _KEYS.items() if not isinstance(about.get(name), kind)]
    if missing:
        raise UnmaskError(f"{file} does not say its {missing[0]}: it was changed; make the data set again")
    return about


def missing_shard(path: Path, about: Mapping[str, Any]) -> Path | None:
    """The first shard that is not there or has another size: a quick look, before any checksum."""
    for entry in about["splits"].values():
        for shard in entry["shards"]:
            file = path / shard["file"]
            if not file.is_file() or file.stat().st_size != shard["bytes"]:
                return file
    return None


def _count(shard: Mapping[str, Tensor]) -> int:
    return next(iter(shard.values())).shape[0]
