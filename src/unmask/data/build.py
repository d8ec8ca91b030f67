"""Making a data set: in chunks, by several processes, interrupted and resumed without loss, the same bytes always.

A chunk is the examples of a fixed range of numbers. Each is made by one process and written whole into `making/`; what
is there when a run begins is not made again. At the end, rows are sorted into splits: kind by the recipe, part
(train, validation, test) by a hash of the row's group, so that rows which are the same but for symmetry are always in
the same part, whatever else is in the set. Of those in validation or test, only the first is kept.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import multiprocessing
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import unmask
from unmask.data import Columns, Recipe, shards
from unmask.data.dataset import FORMAT, MANIFEST, manifest, missing_shard
from unmask.errors import UnmaskError
from unmask.files import write_whole

CHUNK = 2_000
"""Examples that are made at once: a second of work for Sudoku, some more for Zebra."""

MOST = 1_000_000_000
"""Examples of a data set: they fit neither the disk nor the time, long before a number of chunks fits no memory."""

SHARD = 1 << 18
"""Rows in a file, at most."""

PARTS = ("train", "validation", "test")
HELD_OUT = 1 / 32
"""The share of groups that are in validation, and in test."""

_log = logging.getLogger(__name__)

Watch = Callable[[int], None]
"""Told how many examples are there, whenever it has become more."""


def build(recipe: Recipe, count: int, out: Path, *, processes: int = 1, watch: Watch | None = None) -> dict[str, Any]:
    """Make `count` examples into the folder `out`, or go on with what is there; the manifest."""
    if count < 1 or processes < 1:
        raise UnmaskError(f"expected at least 1 example and 1 process, got {count} and {processes}")
    if count > MOST:
        raise UnmaskError(f"{count} examples are more than a data set has: at most {MOST}")
    plan = {
        "format": FORMAT,
        "version": unmask.__version__,
        "task": recipe.task,
        "recipe": dataclasses.asdict(recipe),
        "count": count,
        "chunk": CHUNK,
    }
    making = out / "making"
    if _begin(out, making, plan):
        about = manifest(out)
        if (shard := missing_shard(out, about)) is not None:
            raise UnmaskError(f"the shard {shard} is missing or truncated; remove the folder, and make the set again")
        return about
    chunks = [(begin, min(begin + CHUNK, count)) for begin in range(0, count, CHUNK)]
    missing = [chunk for chunk in chunks if _finished(making, chunk) is None]
    done = count - sum(end - begin for begin, end in missing)
    watch = watch or (lambda _: None)
    watch(done)
    for made in _make_all(recipe, making, missing, processes):
        done += made
        watch(done)
    about = plan | {"splits": _assemble(recipe, out, making, chunks)}
    write_whole(out / MANIFEST, _json(about))
    shutil.rmtree(making)
    return about


def _begin(out: Path, making: Path, plan: dict[str, Any]) -> bool:
    """Make the folder ready. True: the data set is already there. Refuses a folder with something else in it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        written = out / "plan.json"
        if not written.is_file():
            if any(out.iterdir()):
                raise UnmaskError(f"{out} is not empty, and holds something else; choose another folder")
            write_whole(written, _json(plan))
        _refuse_another(written, making, plan)
        if (out / MANIFEST).is_file():
            shutil.rmtree(making, ignore_errors=True)
            return True
        making.mkdir(exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise UnmaskError(f"{out} is a file; expected a folder to write the data set to") from None
    except OSError as error:
        raise UnmaskError(f"cannot write to {out}: {error.strerror}") from error
    return False


def _refuse_another(written: Path, making: Path, plan: dict[str, Any]) -> None:
    """A folder goes on only with what it was begun with, unless nothing came of that."""
    try:
        other = json.loads(written.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UnmaskError(f"{written} cannot be read ({error}); remove the folder and begin anew") from None
    if not isinstance(other, dict):
        raise UnmaskError(f"{written} is not what was written there; remove the folder and begin anew")
    if other == plan:
        return
    if not (written.parent / MANIFEST).is_file() and not any(making.glob("*.safetensors")):
        write_whole(written, _json(plan))
    else:
        differs = [name for name in plan if other.get(name) != plan[name]]
        told = "; ".join(f"{name}: {other.get(name)} there, {plan[name]} wanted" for name in differs)
        raise UnmaskError(f"{written.parent} holds another data set ({told}); choose another folder, or remove it")


# Chunks


def _file(making: Path, chunk: tuple[int, int]) -> Path:
    return making / f"{chunk[0]:012d}.safetensors"


def _finished(making: Path, chunk: tuple[int, int]) -> Path | None:
    """The chunk's file, if it is there and is what was written; one that is damaged is made again."""
    file, note = _file(making, chunk), _file(making, chunk).with_suffix(".sha256")
    if file.is_file() and note.is_file() and shards.checksum(file) == note.read_text(encoding="ascii"):
        return file
    return None


def _make(recipe: Recipe, making: Path, chunk: tuple[int, int]) -> int:
    """Make one chunk and write it; how many examples it has. Runs in a process of its own."""
    begin, end = chunk
    columns = dict(recipe.make(begin, end))
    columns["number"] = np.arange(begin, end, dtype=np.int64)
    digest = shards.write(_file(making, chunk), columns)
    write_whole(_file(making, chunk).with_suffix(".sha256"), digest.encode("ascii"))
    return end - begin


def _make_all(recipe: Recipe, making: Path, chunks: list[tuple[int, int]], processes: int) -> Iterator[int]:
    """Make the chunks, `processes` at a time; yields the examples of each as it is finished."""
    if processes == 1 or len(chunks) < 2:
        for chunk in chunks:
            yield _make(recipe, making, chunk)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(processes, len(chunks)), context, initializer=_live_with_parent)
    todo = iter(chunks)
    running: set[Future[int]] = set()
    try:
        while True:
            while len(running) < 2 * processes and (chunk := next(todo, None)) is not None:
                running.add(pool.submit(_make, recipe, making, chunk))
            if not running:
                return
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                yield future.result()
    except BrokenProcessPool:
        raise UnmaskError(
            "a process was killed, perhaps for want of memory; run the command again to go on, with fewer --processes"
        ) from None
    except KeyboardInterrupt:
        _log.warning("stopping: what is at work is finished first, and kept")
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _live_with_parent() -> None:
    """Ctrl-C is the parent's affair; and when the parent is gone, however it went, so are we."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


# Splits


def _assemble(recipe: Recipe, out: Path, making: Path, chunks: list[tuple[int, int]]) -> dict[str, Any]:
    """Sort the rows of all chunks into splits and write their shards."""
    names = [f"{kind}-{part}" for kind in recipe.kinds for part in PARTS]
    files = [_file(making, chunk) for chunk in chunks]
    heads = [shards.read(file) for file in files]
    group = np.concatenate([head["group"].numpy() for head in heads])
    kind = np.concatenate([head["kind"].numpy() for head in heads]).astype(np.int64)
    part = part_of(group)
    keep = ~_repeated(recipe, files, group, part)
    split = np.where(keep, kind * len(PARTS) + part, -1)
    begins = [begin for begin, _ in chunks]
    return {name: _write_split(out, name, files, begins, split == number) for number, name in enumerate(names)}


def part_of(group: NDArray[np.int64]) -> NDArray[np.int64]:
    """The part of each group: 0 train, 1 validation, 2 test. A matter of the group alone."""
    word = group.view(np.uint64) ^ np.uint64(0xA0761D6478BD642F)
    for shift, factor in ((32, 0xE7037ED1A0B428DB), (29, 0x8EBC6AF09C88C6E3)):
        word = (word ^ (word >> np.uint64(shift))) * np.uint64(factor)
    share = (word >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.where(share < HELD_OUT, 2, np.where(share < 2 * HELD_OUT, 1, 0))


def _repeated(
    recipe: Recipe, files: list[Path], group: NDArray[np.int64], part: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which rows of validation and test are, but for symmetry, one that came before."""
    repeated = np.zeros(len(group), dtype=np.bool_)
    held_out = np.flatnonzero(part > 0)
    order = held_out[np.argsort(group[held_out], kind="stable")]
    starts = np.flatnonzero(np.r_[True, group[order][1:] != group[order][:-1]])
    for begin, end in zip(starts, np.r_[starts[1:], len(order)], strict=True):
        kept: list[Columns] = []
        for number in order[begin:end] if end - begin > 1 else ():
            row = {name: column.numpy() for name, column in _row(files, int(number)).items()}
            repeated[number] = any(recipe.same(row, other) for other in kept)
            if not repeated[number]:
                kept.append(row)
    return repeated


def _row(files: list[Path], number: int) -> dict[str, Any]:
    columns = shards.read(files[number // CHUNK])
    return {name: column[number % CHUNK : number % CHUNK + 1] for name, column in columns.items()}


def _write_split(
    out: Path, name: str, files: list[Path], begins: list[int], chosen: NDArray[np.bool_]
) -> dict[str, Any]:
    """The shards of one split, its rows in the order of their numbers."""
    written: list[dict[str, Any]] = []
    waiting: list[Columns] = []

    def flush(rows: int) -> None:
        columns = {name: np.concatenate([part[name] for part in waiting]) for name in waiting[0]}
        file = f"{name}-{len(written):05d}.safetensors"
        digest = shards.write(out / file, {key: column[:rows] for key, column in columns.items()})
        written.append({"file": file, "rows": rows, "bytes": (out / file).stat().st_size, "sha256": digest})
        waiting[:] = [{key: column[rows:] for key, column in columns.items()}]

    count = 0
    for file, begin in zip(files, begins, strict=True):
        columns = {key: column.numpy() for key, column in shards.read(file).items() if key not in ("kind", "group")}
        mine = chosen[begin : begin + len(columns["number"])]
        waiting.append({key: column[mine] for key, column in columns.items()})
        count += int(mine.sum())
        while count >= SHARD:
            flush(SHARD)
            count -= SHARD
    if count:
        flush(count)
    return {"rows": sum(shard["rows"] for shard in written), "shards": written}


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
