"""Figures: made and saved in one place, so that the want of matplotlib and a wrong name are told alike everywhere."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError
from unmask.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def blank(width: float, height: float) -> Figure:
    """A new figure, of a size in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UnmaskError("a figure needs matplotlib: pip install 'unmask[plot]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: Path) -> None:
    """Write a figure, whole or not at all: .png, .svg or .pdf."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in ("png", "svg", "pdf"):
        raise UnmaskError(f"{path}: expected the name of a figure, ending in .png, .svg or .pdf")
    drawn = io.BytesIO()
    figure.savefig(drawn, format=kind, dpi=150)
    write_whole(path, drawn.getvalue())
