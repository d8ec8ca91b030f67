"""Puzzles from arguments, a file, standard input, or the task itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.state import Rows
    from unmask.tasks import Task

_MOST = 1_000_000


def gather(task: Task, puzzles: Sequence[str], file: Path | None, sample: int | None, seed: int) -> Rows:
    """The puzzles that were asked for; each error names the puzzle that is wrong."""
    from unmask.state import Rows

    sources = [bool(puzzles), file is not None, sample is not None]
    if sum(sources) > 1:
        raise UnmaskError("puzzles come from one place: as arguments, with --file, or with --sample")
    if sample is not None:
        if not 1 <= sample <= _MOST:
            raise UnmaskError(f"--sample: expected a number from 1 to {_MOST}, got {sample}")
        return task.sample(sample, seed)
    if not any(sources):
        if sys.stdin.isatty():
            raise UnmaskError(
                f"no puzzle: give one as an argument ({task.length} cells, . for empty), a file with --file, "
                f"lines on standard input, or draw some with --sample 10"
            )
        file = Path("-")
    named = ((f"puzzle {n}", text) for n, text in enumerate(puzzles, start=1)) if file is None else _lines(file)
    found = []
    for name, text in named:
        try:
            found.append(task.parse(text))
        except UnmaskError as error:
            raise UnmaskError(f"{name}: {error}") from None
    if not found:
        raise UnmaskError(f"{'standard input' if str(file) == '-' else file} is empty; expected a puzzle on each line")
    import torch

    return Rows(
        torch.cat([rows.tokens for rows in found]),
        torch.cat([rows.given for rows in found]),
        torch.cat([rows.present for rows in found]),
        found[0].coordinates,
    )


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    """Every line that holds something, with where it stands; lines that begin with # are comments."""
    name = "standard input" if str(file) == "-" else str(file)
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        text = data.decode("utf-8")
    except IsADirectoryError:
        raise UnmaskError(f"{name} is a directory; expected a file with a puzzle on each line") from None
    except OSError as error:
        raise UnmaskError(f"cannot read {name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UnmaskError(f"{name} is not text (UTF-8); expected a puzzle on each line") from None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield f"{name}, line {number}", line
