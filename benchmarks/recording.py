"""What every recorded number of a benchmark is written down with."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
from pathlib import Path

import torch

import unmask


def about(command: str) -> dict:
    """What a recorded number must be read with."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout
    return {
        "command": command,
        "date": datetime.date.today().isoformat(),
        "commit": commit.strip(),
        "unmask": unmask.__version__,
        "torch": torch.__version__,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads",
        "seed": 0,
    }


def write(path: Path, header: dict, rows: list[dict]) -> None:
    """One JSON object a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(header | row) + "\n" for row in rows), encoding="utf-8")
