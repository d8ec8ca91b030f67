"""Order as shades: grids in the terminal, early positions dark, late ones bright, given ones plain and bold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.style import Style
from rich.text import Text

_SHADES = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
"""The viridis map at five points: it rises evenly in brightness, for colour-blind readers and in grey."""


@dataclass(frozen=True)
class Cell:
    """One position of a picture: its sign, and when it was shown (None: given, or not shown). Its shade is `share`, or
    when it was shown."""

    sign: str
    step: int | None = None
    given: bool = False
    share: float | None = None


def colour(share: float) -> tuple[int, int, int]:
    """Red, green and blue of a position shown at this share of the way."""
    place = min(max(share, 0.0), 1.0) * (len(_SHADES) - 1)
    low = min(int(place), len(_SHADES) - 2)
    red, green, blue = (round(a + (b - a) * (place - low)) for a, b in zip(_SHADES[low], _SHADES[low + 1], strict=True))
    return red, green, blue


def shade(share: float) -> Style:
    """That colour as a background, with a readable sign on it."""
    red, green, blue = colour(share)
    dark = 0.3 * red + 0.6 * green + 0.1 * blue < 128
    return Style.parse(f"{'bright_white' if dark else 'black'} on rgb({red},{green},{blue})")


def grid(cells: Sequence[Cell], columns: int, last: int, *, steps: bool = False) -> Text:
    """The cells in lines of `columns`, boxes set apart; `steps` draws the number of the step instead of the sign."""
    signs = [_sign(cell, steps) for cell in cells]
    width = max((len(sign) for sign in signs), default=1)
    box = math.isqrt(columns) if math.isqrt(columns) ** 2 == columns and len(cells) == columns**2 else 0
    picture = Text()
    for number, (cell, sign) in enumerate(zip(cells, signs, strict=True)):
        row, column = divmod(number, columns)
        if column == 0 and row:
            picture.append("\n")
            if box and row % box == 0:
                rule = ("─" * ((width + 2) * box) + "┼") * (columns // box)
                picture.append(rule[:-1] + "\n", "dim")
        elif box and column and column % box == 0:
            picture.append("│", "dim")
        picture.append(f" {sign:>{width}} ", _style(cell, last))
    return picture


def legend(last: int) -> Text:
    """What the shades of steps mean."""
    return _bar("shown first ", f" last (step {last}); given in bold")


def legend_of_certainty() -> Text:
    """What the shades of certainty mean."""
    return _bar("unsure ", " sure; given in bold")


def _bar(before: str, behind: str) -> Text:
    bar = Text(before)
    for part in range(12):
        bar.append("  ", shade(part / 11))
    return bar.append(behind)


def _sign(cell: Cell, steps: bool) -> str:
    if not steps:
        return cell.sign
    return "" if cell.given else "." if cell.step is None else str(cell.step)


def _style(cell: Cell, last: int) -> Style:
    if cell.given:
        return Style(bold=True)
    if cell.step is None:
        return Style(dim=True)
    return shade(cell.step / max(last, 1) if cell.share is None else cell.share)
