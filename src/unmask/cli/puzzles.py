"""Puzzles from arguments, a file, standard input, or the task itself."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError

if TYPE_CHECKING:
    from torch import Tensor

    from unmask.state import Rows
    from unmask.tasks import Task

_MOST = 1_000_000
_COMMENT = re.compile(r"(?:^|\s)#(?!\d).*")
"""From # to the end; house #2 is no comment."""


def gather(task: Task, puzzles: Sequence[str], file: Path | None, sample: int | None, seed: int) -> Rows:
    """The puzzles that were asked for; each error names the puzzle that is wrong."""
    if sample is not None:
        if puzzles or file is not None:
            raise UnmaskError(_ONE_PLACE)
        if not 1 <= sample <= _MOST:
            raise UnmaskError(f"--sample: expected a number from 1 to {_MOST}, got {sample}")
        return task.sample(sample, seed)
    found = []
    for name, text in texts(puzzles, file, "draw some with --sample 10", task.begins):
        try:
            found.append(task.parse(text))
        except UnmaskError as error:
            raise UnmaskError(at(name, error)) from None
    return stacked(found)


def stacked(found: Sequence[Rows]) -> Rows:
    """Rows of several puzzles of a task under each other."""
    import torch

    from unmask.state import Rows

    return Rows(
        torch.cat([rows.tokens for rows in found]),
        torch.cat([rows.given for rows in found]),
        torch.cat([rows.present for rows in found]),
        _together([rows.coordinates for rows in found]),
    )


def _together(coordinates: Sequence[Tensor | None]) -> Tensor | None:
    """Where positions are: the same for all puzzles, or told for each."""
    import torch

    told = [one for one in coordinates if one is not None]
    return torch.cat(told) if told and told[0].dim() == 3 else told[0] if told else None


def texts(
    puzzles: Sequence[str],
    file: Path | None,
    hint: str,
    heading: re.Pattern[str] | None = None,
    *,
    always: bool = True,
) -> Iterator[tuple[str, str]]:
    """Puzzles as text, at least one, each with its name for error messages (see `at`).

    A file has a puzzle on each line; or with a heading, a puzzle from each line that matches it to the next, and where
    none does, just one (with `always` false, a puzzle on each line all the same). What follows # is a comment. Before
    the text of several lines go as many empty ones as were before it in the file, so that the number of a line is the
    same in both.
    """
    if puzzles and file is not None:
        raise UnmaskError(_ONE_PLACE)
    if puzzles:
        yield from ((f"puzzle {n}", text) for n, text in enumerate(puzzles, start=1))
        return
    if file is None and sys.stdin.isatty():
        raise UnmaskError(f"no puzzle: give one as an argument, or a file with --file, or {hint}")
    name, lines = _read(file or Path("-"))
    if not any(lines):
        raise UnmaskError(f"{name} is empty; expected a puzzle on each line")
    begins = [n for n, line in enumerate(lines) if heading is not None and heading.match(line)]
    if heading is not None and (begins or always):
        begins = begins or [0]
        begins[0] = next(n for n, line in enumerate(lines) if line)  # what stands before it belongs to it
        for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
            yield f"{name}, line {begin + 1}", "\n" * begin + "\n".join(lines[begin:end])
    else:
        yield from ((f"{name}, line {n}", line) for n, line in enumerate(lines, start=1) if line)


def at(name: str, error: UnmaskError) -> str:
    """An error with the name of its puzzle; a line that the error names is told instead of the puzzle's."""
    if str(error).startswith("line "):
        return f"{re.sub(r', line [0-9]+$', '', name)}, {error}"
    return f"{name}: {error}"


_ONE_PLACE = "puzzles come from one place: as arguments, with --file, or with --sample"


def _read(file: Path) -> tuple[str, list[str]]:
    """The file's name for error messages, and its lines without comments; lines may end as they like."""
    name = "standard input" if str(file) == "-" else str(file)
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        text = data.decode("utf-8-sig")
    except IsADirectoryError:
        raise UnmaskError(f"{name} is a directory; expected a file with a puzzle on each line") from None
    except OSError as error:
        raise UnmaskError(f"cannot read {name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UnmaskError(f"{name} is not text (UTF-8); expected a puzzle on each line") from None
    return name, [_COMMENT.sub("", line).strip() for line in re.split(r"\r\n|\r|\n", text)]
