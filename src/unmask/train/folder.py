"""The folder of a run: what is written there, and what is read back from it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from unmask import checkpoint
from unmask.checkpoint import Checkpoint
from unmask.errors import UnmaskError
from unmask.files import write_whole
from unmask.train.config import TrainConfig, from_about

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

if TYPE_CHECKING:
    from unmask.train.loop import Report


class Folder:
    """Where a run of a config lives. Refuses a folder in which another run does."""

    def __init__(self, path: Path, config: TrainConfig) -> None:
        self.path, self.config = path, config
        try:
            path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise UnmaskError(f"{path} is a file; expected a folder for the run") from None
        except OSError as error:
            raise UnmaskError(f"cannot write to {path}: {error.strerror}") from error

    def read_run(self, data: Mapping[str, Any]) -> Checkpoint | None:
        """What there is to go on with; None where nothing was saved yet. Refuses what is not this run on these data."""
        file = self.path / "run.safetensors"
        if not file.is_file():
            return None
        saved = checkpoint.read(file)
        try:
            theirs = from_about(saved.about["config"], str(file)).about  # as it would be written today
            wanted, found = self.plain(data), _plain(theirs, saved.about["data"])
        except KeyError as error:
            raise UnmaskError(f"{file} was written by an older version: it does not say its {error}") from None
        differs = sorted(name for name in wanted if wanted[name] != found.get(name))
        if differs:
            told = "; ".join(f"{name}: {found.get(name)} there, {wanted[name]} wanted" for name in differs)
            raise UnmaskError(f"{self.path} holds another run ({told}); choose another folder, or ask for the same")
        return saved

    def write_run(self, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
        """All there is to go on with, in the precision it has."""
        checkpoint.write(self.path / "run.safetensors", tensors, {"config": self.config.about, **about})

    def write_weights(self, name: str, weights: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
        """Weights to use, or to start another run from, in half precision."""
        half = {f"weights.{key}": weight.to(torch.float16) for key, weight in weights.items()}
        checkpoint.write(self.path / f"{name}.safetensors", half, {"config": self.config.about, **about})

    def log(self, report: Report) -> None:
        """One more line in the log."""
        line = {key: value for key, value in dataclasses.asdict(report).items() if value != {}}
        try:
            with (self.path / "log.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise UnmaskError(f"cannot write {self.path / 'log.jsonl'}: {error.strerror}") from error

    def lines(self) -> list[dict[str, Any]]:
        """The log; a line that was cut short by a crash is left out."""
        file = self.path / "log.jsonl"
        found = []
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else ():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return found

    def forget_after(self, step: int) -> None:
        """Leave out of the log what a run did that is lost."""
        kept = [line for line in self.lines() if line["step"] <= step]
        write_whole(self.path / "log.jsonl", "".join(json.dumps(line) + "\n" for line in kept).encode())

    def plain(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """All that the run is a matter of, by name."""
        return _plain(self.config.about, data)

    @contextlib.contextmanager
    def alone(self) -> Generator[None]:
        """While it lasts, no other process may work in the folder; what a killed one left half written is removed."""
        try:
            with (self.path / "lock").open("w") as file:
                if fcntl is not None:
                    try:
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except BlockingIOError:
                        raise UnmaskError(f"another process is at work in {self.path}; wait, or stop it") from None
                for left in self.path.glob("*.partial"):
                    left.unlink(missing_ok=True)
                yield
        except OSError as error:
            raise UnmaskError(f"cannot write to {self.path}: {error.strerror or error}") from error


def _plain(about: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Options by name, those of the net with `net.` before it, and the data; as JSON says them."""
    plain = json.loads(json.dumps({**about, "data": data}))
    net = {f"net.{name}": value for name, value in plain.pop("net").items()}
    return plain | net
