"""The loss over steps as a figure, with what validation found beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unmask import figures


def draw(lines: Sequence[dict[str, Any]], title: str, file: Path) -> None:
    """Draw a run's log to a file: .png, .svg or .pdf."""
    figure = figures.blank(7.0, 4.0)
    left = figure.subplots()
    left.plot(
        [line["step"] for line in lines],
        [line["loss"] for line in lines],
        color="#3b528b",
        lw=1,
        label="training, mean over passes",
    )
    left.set(xlabel="step", ylabel="loss, nats a row", title=title, yscale="log")
    held_out = [line for line in lines if "found" in line]
    if held_out:
        steps = [line["step"] for line in held_out]
        left.plot(
            steps,
            [line["found"]["loss"] for line in held_out],
            "o-",
            ms=3,
            color="#21918c",
            label="validation, last pass",
        )
        if "solved" in held_out[0]["found"]:
            right = left.twinx()
            right.plot(steps, [100 * line["found"]["solved"] for line in held_out], "s-", ms=3, color="#d95f02")
            right.set(ylabel="solved, % of validation puzzles", ylim=(0, 102))
            right.yaxis.label.set_color("#d95f02")
    left.legend(loc="upper right", frameon=False)
    left.spines[["top"]].set_visible(False)
    figures.save(figure, file)
