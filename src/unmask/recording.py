"""What every recorded number is written down with: the command, the date, the commit, the machine."""

from __future__ import annotations

import datetime
import json
import os
import platform
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

import unmask


def about(command: str, *, seed: int = 0, device: torch.device | str = "cpu") -> dict[str, Any]:
    """What a recorded number must be read with."""
    place = torch.device(device)
    gpu = f", {torch.cuda.get_device_name(place)}" if place.type == "cuda" else ""
    return {
        "command": command,
        "date": datetime.date.today().isoformat(),
        "commit": _commit(),
        "unmask": unmask.__version__,
        "torch": torch.__version__,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads{gpu}",
        "seed": seed,
    }


def command_line() -> str:
    """The command that runs, with the names of files and without their folders, which are a matter of the machine."""
    words = [Path(word).name if word.startswith(("/", "~")) else word for word in sys.argv[1:]]
    return shlex.join(["unmask", *words])


def _commit() -> str:
    """The commit of the sources that are run, with a + where they were changed; empty where there is no repository."""
    here = Path(__file__).parent
    told = []
    mine = ("ls-files", "--error-unmatch", Path(__file__).name)  # fails in the repository of somebody else
    for command in (mine, ("rev-parse", "--short", "HEAD"), ("status", "--porcelain", "--untracked-files=no", ".")):
        try:
            done = subprocess.run(["git", "-C", here, *command], capture_output=True, text=True, check=False)
        except OSError:  # no git
            return ""
        if done.returncode:
            return ""
        told.append(done.stdout.strip())
    return told[1] + ("+" if told[2] else "")


def write(path: Path, header: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """One JSON object a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(header | row) + "\n" for row in rows), encoding="utf-8")
