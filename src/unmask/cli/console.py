"""What all commands share: their common options, where they print, and which device they use."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from unmask.errors import UnmaskError, one_line

if TYPE_CHECKING:
    import torch
    from rich.console import Console


@Parameter(name="*")
@dataclass(frozen=True)
class Output:
    """How to print."""

    json: Annotated[bool, Parameter(negative="")] = False
    """Print data only, as JSON lines; all else goes to stderr."""
    quiet: Annotated[bool, Parameter(negative="")] = False
    """Print results only: no progress, no summary."""

    def data(self, value: Any) -> None:
        """One JSON line on stdout."""
        sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
        sys.stdout.flush()

    def problem(self, line: str) -> None:
        """One line on stderr, where a command goes on with what is not affected."""
        sys.stderr.write(f"unmask: {one_line(line)}\n")
        sys.stderr.flush()

    @property
    def out(self) -> Console:
        """Where results go; without colour when that is no terminal, or where NO_COLOR is set."""
        from rich.console import Console

        return Console(highlight=False, soft_wrap=True)

    @property
    def side(self) -> Console:
        """Where progress and summaries go."""
        from rich.console import Console

        return Console(stderr=True, highlight=False, quiet=self.quiet, soft_wrap=True)


@Parameter(name="*")
@dataclass(frozen=True)
class Compute:
    """What to compute with."""

    seed: int = 0
    """The seed of all noise: the same seed gives the same trace."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to compute: auto takes a GPU if there is one."""

    def place(self) -> torch.device:
        """The device; refuses cuda where there is none."""
        import torch

        if self.device == "cuda" and not torch.cuda.is_available():
            raise UnmaskError("--device cuda: no CUDA device is available here; use --device cpu or auto")
        wanted = ("cuda" if torch.cuda.is_available() else "cpu") if self.device == "auto" else self.device
        return torch.device(wanted)
