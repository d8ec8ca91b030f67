"""Checkpoints come back as they were written; whatever else is given for one is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from small_run import CONFIG

from unmask import checkpoint
from unmask.errors import UnmaskError
from unmask.nets.transformer import Transformer
from unmask.state import State


@pytest.fixture
def written(tmp_path: Path) -> Path:
    file = tmp_path / "net.safetensors"
    weights = {f"weights.{name}": weight for name, weight in Transformer(CONFIG.net).state_dict().items()}
    checkpoint.write(file, weights, {"config": CONFIG.about, "step": 5, "passes": 3})
    return file


def test_a_net_comes_back(written: Path) -> None:
    net = checkpoint.load(written)
    assert net.config == CONFIG.net
    assert not net.training
    assert net.passes == 3
    assert net.about["step"] == 5
    state = State.start(
        torch.zeros((1, 81), dtype=torch.int64),
        torch.ones((1, 81), dtype=torch.bool),
        coordinates=torch.zeros((81, 3), dtype=torch.int64),
    )
    assert net(state, state.hidden).shape == (81, 9)


def test_nothing_but_tensors_and_text_is_in_the_file(written: Path) -> None:
    size = int.from_bytes(written.read_bytes()[:8], "little")
    header = json.loads(written.read_bytes()[8 : 8 + size])
    assert json.loads(header["__metadata__"]["about"])["config"]["task"] == "sudoku"


def changed(file: Path, **metadata: str) -> None:
    """The same file, saying something else."""
    size = int.from_bytes(file.read_bytes()[:8], "little")
    header = json.loads(file.read_bytes()[8 : 8 + size])
    header["__metadata__"] |= metadata
    again = json.dumps(header).encode()
    file.write_bytes(len(again).to_bytes(8, "little") + again + file.read_bytes()[8 + size :])


def test_what_was_cut_short_is_refused(written: Path) -> None:
    whole = written.read_bytes()
    for count in (0, 5, 100, len(whole) // 2, len(whole) - 1):
        written.write_bytes(whole[:count])
        with pytest.raises(UnmaskError, match="truncated"):
            checkpoint.load(written)


def test_what_was_changed_is_refused(written: Path) -> None:
    whole = bytearray(written.read_bytes())
    whole[-3] ^= 1
    written.write_bytes(whole)
    with pytest.raises(UnmaskError, match="not what was written"):
        checkpoint.load(written)


def test_what_is_said_about_it_is_protected_too(written: Path) -> None:
    about = {"config": {**CONFIG.about, "task": "zebra"}, "step": 5}
    changed(written, about=json.dumps(about))
    with pytest.raises(UnmaskError, match="not what was written"):
        checkpoint.load(written)


def test_a_newer_format_is_told(written: Path) -> None:
    changed(written, format_version="2", unmask="9.1")
    with pytest.raises(UnmaskError, match=r"format 2, from unmask 9.1.*install a newer unmask"):
        checkpoint.load(written)


def test_a_config_that_this_version_does_not_know_is_told(written: Path, tmp_path: Path) -> None:
    saved = checkpoint.read(written)
    for change, told in (({"depth": 3}, "depth"), ({"width": 15}, "multiple")):
        about = {"config": {**CONFIG.about, "net": {**CONFIG.about["net"], **change}}}
        checkpoint.write(tmp_path / "other.safetensors", saved.tensors, about)
        with pytest.raises(UnmaskError, match=f"other.safetensors.*{told}"):
            checkpoint.load(tmp_path / "other.safetensors")
    for about in ({"step": 5}, {"config": {"net": [], "task": "sudoku"}}, {"config": {"net": {}}}):
        checkpoint.write(tmp_path / "none.safetensors", saved.tensors, about)
        with pytest.raises(UnmaskError, match="does not say what net it holds"):
            checkpoint.load(tmp_path / "none.safetensors")
    for passes in ("8", 0, None):
        checkpoint.write(tmp_path / "none.safetensors", saved.tensors, {**saved.about, "passes": passes})
        with pytest.raises(UnmaskError, match="passes must be"):
            checkpoint.load(tmp_path / "none.safetensors")


def test_weights_of_another_net_are_told(written: Path, tmp_path: Path) -> None:
    saved = checkpoint.read(written)
    fewer = {name: tensor for name, tensor in saved.tensors.items() if "head" not in name}
    for tensors in (fewer, {**saved.tensors, "weights.more": torch.zeros(1)}):
        checkpoint.write(tmp_path / "other.safetensors", tensors, saved.about)
        with pytest.raises(UnmaskError, match="weights of another net"):
            checkpoint.load(tmp_path / "other.safetensors")


def test_what_is_no_checkpoint_is_told(tmp_path: Path) -> None:
    save_file({"a": torch.zeros(2)}, tmp_path / "a.safetensors")
    with pytest.raises(UnmaskError, match="no checkpoint of unmask"):
        checkpoint.load(tmp_path / "a.safetensors")
    with pytest.raises(UnmaskError, match="there is no file"):
        checkpoint.load(tmp_path / "b.safetensors")
    with pytest.raises(UnmaskError, match="is a folder"):
        checkpoint.load(tmp_path)
    (tmp_path / "pickle.pt").write_bytes(b"\x80\x04.")
    with pytest.raises(UnmaskError, match="no safetensors"):
        checkpoint.load(tmp_path / "pickle.pt")


@pytest.mark.parametrize("name", checkpoint.shipped())
def test_what_ships_is_small_half_precision_and_has_a_card(name: str) -> None:
    file = checkpoint.shipped()[name]
    assert file.stat().st_size < 5_000_000
    assert file.with_suffix(".md").is_file()
    saved = checkpoint.read(file)
    assert {tensor.dtype for tensor in saved.tensors.values()} == {torch.float16}
    assert sum(tensor.numel() for tensor in saved.tensors.values()) < 2_500_000
    assert saved.about["config"]["task"] == name
    checkpoint.load(name)
