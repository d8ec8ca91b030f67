"""Running commands in this process."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from unmask.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command: (exit code, stdout, stderr). `typed` is what stands on standard input."""

    def call(*arguments: str, typed: bytes | None = None) -> tuple[int, str, str]:
        if typed is not None:
            monkeypatch.setattr("sys.stdin", _Typed(typed))
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        captured = capsys.readouterr()
        return int(stopped.value.code or 0), captured.out, captured.err

    return call


class _Typed:
    """Standard input that is no terminal."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)

    def isatty(self) -> bool:
        return False
