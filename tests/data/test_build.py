"""Data sets: the same bytes whatever interrupts their making, splits that do not overlap, damage that is named."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
import torch
from counting import Counting
from hypothesis import Phase, given, settings
from hypothesis import strategies as some

from unmask.data import build as building
from unmask.data.build import CHUNK, build, part_of
from unmask.data.dataset import MANIFEST, Dataset, manifest
from unmask.data.histograms import histograms
from unmask.errors import UnmaskError
from unmask.tasks.sudoku import SudokuRecipe

COUNT = 2 * CHUNK + 700


def digests(path: Path) -> dict[str, str]:
    """Every file of a folder, by name."""
    return {
        str(f.relative_to(path)): hashlib.sha256(f.read_bytes()).hexdigest() for f in path.rglob("*") if f.is_file()
    }


def rows_of(path: Path) -> dict[str, dict[str, torch.Tensor]]:
    found = {}
    for name in manifest(path)["splits"]:
        split = Dataset.open(path, name)
        found[name] = split.batch(torch.arange(len(split))) if len(split) else {}
    return found


@pytest.fixture
def made(tmp_path: Path) -> Path:
    build(Counting(), COUNT, tmp_path / "made")
    return tmp_path / "made"


# Splits


def test_rows_go_where_their_group_says_and_none_gets_lost(made: Path) -> None:
    recipe = Counting()
    columns = recipe.make(0, COUNT)
    part = part_of(columns["group"])
    seen: set[tuple[int, int]] = set()
    expected: dict[str, list[int]] = {f"{kind}-{part}": [] for kind in recipe.kinds for part in building.PARTS}
    for number in range(COUNT):
        group = int(columns["group"][number])
        home = f"{recipe.kinds[columns['kind'][number]]}-{building.PARTS[part[number]]}"
        if part[number] == 0 or (group, int(columns["value"][number])) not in seen:
            expected[home].append(number)
        if part[number] > 0:
            seen.add((group, int(columns["value"][number])))
    found = rows_of(made)
    assert {name: rows["number"].tolist() if rows else [] for name, rows in found.items()} == expected
    for rows in found.values():
        if rows:
            assert set(rows) == {"value", "number"}
            assert rows["value"].tolist() == (rows["number"] * 7 % 1900).tolist()


def test_parts_share_no_group_and_have_their_sizes(made: Path) -> None:
    found = rows_of(made)
    values: dict[str, set[int]] = {part: set() for part in building.PARTS}
    for name, rows in found.items():
        values[name.split("-")[1]] |= set(rows["value"].tolist()) if rows else set()
    assert not values["train"] & values["test"]
    assert not values["train"] & values["validation"]
    assert not values["validation"] & values["test"]
    shares = np.bincount(part_of(np.random.default_rng(0).integers(-(2**62), 2**62, 400_000)), minlength=3) / 400_000
    assert shares == pytest.approx([30 / 32, 1 / 32, 1 / 32], abs=0.001)


def test_the_manifest_says_how_it_was_made(made: Path) -> None:
    about = manifest(made)
    assert about["task"] == "counting"
    assert about["recipe"] == {"step": 7}
    assert about["count"] == COUNT
    assert sorted(file.name for file in made.iterdir()) == sorted(
        [MANIFEST, "plan.json", *(shard["file"] for entry in about["splits"].values() for shard in entry["shards"])]
    )


def test_large_splits_are_several_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Path) -> None:
    monkeypatch.setattr(building, "SHARD", 900)
    build(Counting(), COUNT, tmp_path / "small")
    about = manifest(tmp_path / "small")
    sizes = [shard["rows"] for shard in about["splits"]["even-train"]["shards"]]
    assert len(sizes) > 2
    assert set(sizes[:-1]) == {900}
    for one, other in zip(rows_of(made).values(), rows_of(tmp_path / "small").values(), strict=True):
        assert all(torch.equal(one[name], other[name]) for name in one)


# The same bytes


def test_processes_make_the_same_bytes(tmp_path: Path, made: Path) -> None:
    watched: list[int] = []
    build(Counting(), COUNT, tmp_path / "by two", processes=2, watch=watched.append)
    assert digests(tmp_path / "by two") == digests(made)
    assert watched[0] == 0
    assert watched[-1] == COUNT
    assert watched == sorted(watched)


def test_what_is_made_is_not_made_again(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digests(made)
    monkeypatch.setattr(Counting, "make", never)
    assert build(Counting(), COUNT, made) == manifest(made)
    assert digests(made) == before


def never(*_: Any) -> NoReturn:
    raise AssertionError("this was there already")


def test_interrupted_anywhere_it_goes_on(tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A chunk writes two files, a split one for each shard, and the manifest is last: stop before every one of them.
    writes = 0
    whole = building.write_whole
    stop_at = 0

    def stopping(path: Path, data: bytes) -> None:
        nonlocal writes
        writes += 1
        if writes == stop_at:
            raise KeyboardInterrupt
        whole(path, data)

    monkeypatch.setattr(building, "write_whole", stopping)
    monkeypatch.setattr("unmask.data.shards.write_whole", stopping)
    build(Counting(), COUNT, tmp_path / "counted")
    total = writes
    assert total == 1 + 2 * 3 + 6 + 1
    for place in range(1, total + 1):
        out = tmp_path / str(place)
        writes, stop_at = 0, place
        with pytest.raises(KeyboardInterrupt):
            build(Counting(), COUNT, out)
        if place < total:
            assert not (out / MANIFEST).exists()
            with pytest.raises(UnmaskError, match=r"is not finished; run the command|has no dataset.json"):
                Dataset.open(out, "even-train")
        stop_at = 0
        build(Counting(), COUNT, out)
        assert digests(out) == digests(made)


@pytest.mark.parametrize("damage", ["truncated", "changed", "no checksum"])
def test_a_damaged_chunk_is_made_again(
    tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    out = tmp_path / "damaged"
    with monkeypatch.context() as patched:
        patched.setattr(building, "_assemble", never)
        with pytest.raises(AssertionError):
            build(Counting(), COUNT, out)
    chunk = sorted((out / "making").glob("*.safetensors"))[1]
    if damage == "truncated":
        chunk.write_bytes(chunk.read_bytes()[:-9])
    elif damage == "changed":
        data = bytearray(chunk.read_bytes())
        data[-3] ^= 1
        chunk.write_bytes(data)
    else:
        chunk.with_suffix(".sha256").unlink()
    build(Counting(), COUNT, out)
    assert digests(out) == digests(made)


@settings(deadline=None, max_examples=4, phases=[Phase.generate])  # to shrink would take minutes
@given(chunks=some.integers(0, 3), wait=some.floats(0, 0.4), processes=some.sampled_from([1, 2]), last=some.booleans())
def test_killed_it_goes_on(
    tmp_path_factory: pytest.TempPathFactory, chunks: int, wait: float, processes: int, last: bool
) -> None:
    """kill -9 of the command, at any moment: no child is left behind, and the next run ends with the same bytes."""
    out = tmp_path_factory.mktemp("killed") / "set"
    run = subprocess.Popen(asking(out, processes), start_new_session=True)
    while run.poll() is None and len(list(out.glob("making/*.sha256"))) < chunks:
        time.sleep(0.01)
    time.sleep(wait)
    run.send_signal(signal.SIGKILL)
    run.wait()
    until = time.monotonic() + 20
    while alive(run.pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(run.pid)
    subprocess.run(asking(out, 2 if last else 1), check=True)
    assert digests(out) == undisturbed()


def asking(out: Path, processes: int) -> list[str]:
    ask = [sys.executable, "-m", "unmask", "data", "sudoku", "--quiet", "--count", str(3 * CHUNK + 50)]
    return [*ask, "--out", str(out), "--processes", str(processes)]


def alive(session: int) -> bool:
    """Whether any process of that session is left, zombies aside."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has just ended
        if fields[0] != "Z" and int(fields[3]) == session:
            return True
    return False


@cache
def undisturbed() -> dict[str, str]:
    """What the command makes when it is left alone."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(asking(Path(folder) / "set", 1), check=True)
        return digests(Path(folder) / "set")


# What is refused


def test_another_data_set_is_not_touched(made: Path) -> None:
    before = digests(made)
    with pytest.raises(UnmaskError, match=r"another data set \(recipe: .*; count: 4700 there, 10 wanted\); choose"):
        build(Counting(step=3), 10, made)
    assert digests(made) == before


def test_a_folder_with_something_else_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UnmaskError, match="is not empty, and holds something else"):
        build(Counting(), 10, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_plan_from_which_nothing_came_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        build(Counting(step=0), 10, tmp_path)
    build(Counting(), 10, tmp_path)
    assert manifest(tmp_path)["recipe"] == {"step": 7}


@pytest.mark.parametrize(("count", "processes"), [(0, 1), (-3, 1), (5, 0)])
def test_numbers_that_make_nothing(tmp_path: Path, count: int, processes: int) -> None:
    with pytest.raises(UnmaskError, match="expected at least 1 example and 1 process"):
        build(Counting(), count, tmp_path / "none", processes=processes)
    assert not (tmp_path / "none").exists()


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for out in (tmp_path / "file", tmp_path / "file" / "under"):
        with pytest.raises(UnmaskError, match="is a file; expected a folder"):
            build(Counting(), 5, out)


def test_an_error_in_another_process_is_told(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        build(Counting(step=0), COUNT, tmp_path / "x", processes=2)


# Reading


def test_any_rows_in_any_order(made: Path) -> None:
    split = Dataset.open(made, "even-train+odd-train")
    whole = torch.cat([batch["number"] for batch in split.in_order(1000)])
    assert len(whole) == len(split)
    assert split.columns == ("number", "value")
    index = torch.tensor([len(split) - 1, 0, 5, 5, len(split) // 2])
    assert torch.equal(split.batch(index)["number"], whole[index])
    for wrong in (-1, len(split)):
        with pytest.raises(UnmaskError, match=f"row {wrong} of .*: there are rows 0 to"):
            split.batch(torch.tensor([3, wrong]))


def test_damage_is_named_before_anything_is_read(made: Path) -> None:
    about = manifest(made)
    file = made / about["splits"]["odd-train"]["shards"][0]["file"]
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    with pytest.raises(UnmaskError, match=rf"{file.name} is truncated: {len(whole) - 1} bytes, expected {len(whole)}"):
        Dataset.open(made, "odd-train")
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(UnmaskError, match=rf"{file.name} is damaged: its checksum"):
        Dataset.open(made, "odd-train")
    assert len(Dataset.open(made, "odd-train", check=False)) > 0
    file.unlink()
    with pytest.raises(UnmaskError, match=rf"{file.name} is missing"):
        Dataset.open(made, "odd-train")
    assert len(Dataset.open(made, "even-train")) > 0


def test_what_is_no_data_set_is_refused(made: Path, tmp_path: Path) -> None:
    with pytest.raises(UnmaskError, match=r"has no split 'even-trian'; there are even-train, even-validation"):
        Dataset.open(made, "even-trian")
    with pytest.raises(UnmaskError, match="is not a folder; expected a data set"):
        Dataset.open(tmp_path / "nothing", "x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnmaskError, match=r"has no dataset.json; expected a data set"):
        Dataset.open(tmp_path / "empty", "x")
    for text, message in (("{", "cannot be read"), ("[]", "has the format None"), ('{"format": 3}', "the format 3")):
        (made / MANIFEST).write_text(text)
        with pytest.raises(UnmaskError, match=message):
            Dataset.open(made, "even-train")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": None}, "does not say its task"),
        ({"splits": None}, "does not say its splits"),
        ({"recipe": []}, "does not say its recipe"),
    ],
)
def test_a_manifest_that_was_changed_is_refused(made: Path, change: dict[str, Any], message: str) -> None:
    about = json.loads((made / MANIFEST).read_text()) | change
    (made / MANIFEST).write_text(json.dumps(about))
    for look in (lambda: manifest(made), lambda: build(Counting(), COUNT, made)):
        with pytest.raises(UnmaskError, match=message):
            look()


def test_a_recipe_of_another_version_is_refused(tmp_path: Path) -> None:
    build(SudokuRecipe(0, 4), 10, tmp_path / "set")
    about = json.loads((tmp_path / "set" / MANIFEST).read_text())
    about["recipe"]["flavour"] = "salty"
    (tmp_path / "set" / MANIFEST).write_text(json.dumps(about))
    with pytest.raises(UnmaskError, match="recipe is none that this version knows"):
        histograms(tmp_path / "set")


def test_a_plan_that_is_none_is_refused(made: Path) -> None:
    (made / "plan.json").write_text("[]")
    with pytest.raises(UnmaskError, match="is not what was written there; remove the folder"):
        build(Counting(), COUNT, made)


@pytest.mark.parametrize("damage", ["missing", "truncated"])
def test_a_finished_set_that_is_damaged_is_not_called_finished(made: Path, damage: str) -> None:
    shard = made / manifest(made)["splits"]["odd-train"]["shards"][0]["file"]
    if damage == "missing":
        shard.unlink()
    else:
        shard.write_bytes(shard.read_bytes()[:100])
    with pytest.raises(UnmaskError, match=rf"{shard.name} is missing or truncated; remove the folder"):
        build(Counting(), COUNT, made)


def test_the_manifest_is_json_that_ends_in_a_line(made: Path) -> None:
    text = (made / MANIFEST).read_text()
    assert text.endswith("}\n")
    assert list(json.loads(text)["splits"]) == [f"{k}-{p}" for k in ("even", "odd") for p in building.PARTS]
