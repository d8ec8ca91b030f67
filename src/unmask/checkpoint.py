"""Checkpoints: nets on disk, as safetensors with everything that is needed to use them in the metadata. Never pickle.

A file is written whole or not at all, says what it is (`format`, the config of the net and of its training, the task,
the step), and carries a checksum of its tensors, so that one that was cut short or changed is refused by name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

import unmask
from unmask.errors import UnmaskError, one_line
from unmask.files import write_whole
from unmask.nets.transformer import Transformer, TransformerConfig

FORMAT = "unmask checkpoint"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Tensors by name, and what is said about them."""

    path: Path
    about: Mapping[str, Any]
    tensors: Mapping[str, Tensor]

    def part(self, name: str) -> dict[str, Tensor]:
        """The tensors whose names begin with `name.`, without it."""
        start = f"{name}."
        return {key[len(start) :]: tensor for key, tensor in self.tensors.items() if key.startswith(start)}


def write(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write a checkpoint; `about` is plain values that JSON can say."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in sorted(tensors.items())}
    metadata = {
        "format": FORMAT,
        "format_version": str(VERSION),
        "unmask": unmask.__version__,
        "about": json.dumps(about, ensure_ascii=False),
    }
    write_whole(path, save(plain, {**metadata, "sha256": _checksum(plain, metadata["about"])}))


def read(path: Path | str) -> Checkpoint:
    """Read a checkpoint; one clear line where it is none, not whole, changed, or of a later version."""
    path = Path(path)
    if path.is_dir():
        raise UnmaskError(f"{path} is a folder; expected a checkpoint in it, such as {path / 'weights.safetensors'}")
    if not path.is_file():
        raise UnmaskError(f"there is no file {path}; expected a checkpoint, as `unmask train` writes it")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            _expect(path, metadata)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except (OSError, SafetensorError) as error:
        raise UnmaskError(f"{path} cannot be read ({one_line(error)}): it is truncated, or no safetensors") from None
    if metadata.get("sha256") != _checksum(tensors, metadata.get("about", "")):
        raise UnmaskError(f"{path} is not what was written: its checksum does not fit; get the file again")
    return Checkpoint(path, _about(path, metadata.get("about", "")), tensors)


def _about(path: Path, text: str) -> dict[str, Any]:
    """What is said about a checkpoint: a net and its task at least."""
    try:
        about = json.loads(text)
    except ValueError:
        about = {}
    config = about.get("config") if isinstance(about, dict) else None
    if not (isinstance(config, dict) and isinstance(config.get("net"), dict) and isinstance(config.get("task"), str)):
        raise UnmaskError(f"{path} does not say what net it holds, and of which task")
    return about


def _expect(path: Path, metadata: Mapping[str, str]) -> None:
    """Refuse what is no checkpoint, or a later one, before its tensors are read."""
    if metadata.get("format") != FORMAT:
        raise UnmaskError(f"{path} is safetensors, but no checkpoint of unmask: its metadata do not say so")
    found = metadata.get("format_version", "")
    if not found.isdecimal() or int(found) > VERSION:
        raise UnmaskError(
            f"{path} has the format {found or 'without a number'}, from unmask {metadata.get('unmask')}; this is "
            f"unmask {unmask.__version__}, which reads formats up to {VERSION}: install a newer unmask"
        )


def _checksum(tensors: Mapping[str, Tensor], about: str) -> str:
    """SHA-256 of the names, types, shapes and bytes of all tensors and of what is said about them."""
    total = hashlib.sha256(about.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        total.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        total.update(tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return total.hexdigest()


def load(source: Path | str, device: torch.device | str = "cpu") -> Transformer:
    """The net of a checkpoint, ready to decode with: a path, or the name of one that comes with the package."""
    saved = read(shipped().get(str(source), Path(source)))
    try:
        config = TransformerConfig(**saved.about["config"]["net"])
    except UnmaskError as error:
        raise UnmaskError(f"{saved.path}: {error}") from None
    net = Transformer(config)
    fill(net, saved)
    net.passes = saved.about.get("passes", config.passes)
    if not (isinstance(net.passes, int) and net.passes >= 1):
        raise UnmaskError(f"{saved.path}: passes must be a whole number from 1, got {net.passes!r}")
    net.about = saved.about
    return net.to(device).eval()


def shipped() -> dict[str, Path]:
    """The checkpoints that come with the package, by name."""
    return {file.stem: file for file in sorted((Path(__file__).parent / "models").glob("*.safetensors"))}


def fill(net: nn.Module, saved: Checkpoint) -> None:
    """Put the weights of a checkpoint into a net; one line where they are another net's."""
    weights, own = saved.part("weights"), net.state_dict()
    wrong = [name for name in own if name not in weights or weights[name].shape != own[name].shape]
    wrong += [name for name in weights if name not in own]
    if wrong:
        raise UnmaskError(f"{saved.path} holds the weights of another net: {wrong[0]} is not what this one has")
    net.load_state_dict({name: weight.to(own[name].dtype) for name, weight in weights.items()})
