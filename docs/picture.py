"""Draws docs/order.svg: one model, one grid, three orders; and what each order gets right over 2,000 grids.

python docs/picture.py [FILE]        (or: make picture)        a few seconds
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from unmask import Enumeration, Rows, decode, record
from unmask.cli.draw import colour
from unmask.tasks.sudoku import Sudoku

ORDERS = (
    ("random, ancestral(4), sample", "four random steps"),
    ("entropy, entropy_bound(0.3), sample", "while doubt is small"),
    ("entropy, per_step(1), sample", "surest first, one by one"),
)
GRIDS, SEED, SHOWN = 2000, 0, 8
CELL, GAP, LEFT, TOP = 52, 60, 24, 64


def main(file: Path) -> None:
    """Decode, and write the picture."""
    sudoku = Sudoku(4)
    support = sudoku.support()
    model = Enumeration(support, values=4, impossible="closest")
    draw = torch.Generator().manual_seed(SEED)
    tokens = support[torch.randint(len(support), (GRIDS,), generator=draw)]
    given = torch.rand((GRIDS, 16), generator=draw).argsort(1).argsort(1) < 2
    start = Rows(tokens, given, torch.ones_like(given), sudoku.coordinates()).start(SEED)

    width = LEFT * 2 + 3 * 4 * CELL + 2 * GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TOP + 4 * CELL + 116}" '
        f'font-family="ui-sans-serif, system-ui, sans-serif" role="img" aria-label="One model, three orders">',
        f'<rect width="{width}" height="{TOP + 4 * CELL + 116}" rx="8" fill="#ffffff"/>',
    ]
    for number, (text, title) in enumerate(ORDERS):
        trace = record(decode(model, start, text))
        right = sudoku.measure(Rows(trace.tokens, trace.given, trace.present))["solved"].double().mean()
        left = LEFT + number * (4 * CELL + GAP)
        parts += _panel(trace, left, title, text)
        share, calls = f"{right:.1%}", f"{trace.calls.double().mean():.1f}"
        below = TOP + 4 * CELL + 26
        parts.append(_text(left, below, f"{share} right", 19, "#111", weight=600))
        parts.append(_text(left, below + 22, f"{GRIDS:,} grids, {calls} model calls each", 13, "#444"))
    legend = TOP + 4 * CELL + 74
    parts.append(_text(LEFT, legend + 14, "shown first", 13, "#444"))
    for step in range(14):
        parts.append(
            f'<rect x="{LEFT + 80 + 16 * step}" y="{legend}" width="16" height="18" fill="{_hex(step / 13)}"/>'
        )
    parts.append(_text(LEFT + 314, legend + 14, "shown last; grey: given; red frame: breaks a rule", 13, "#444"))
    file.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def _panel(trace, left: int, title: str, text: str) -> list[str]:
    parts = [_text(left, 26, title, 16, "#111", weight=600), _text(left, 48, text, 11.5, "#555", mono=True)]
    values, steps = trace.tokens[SHOWN].tolist(), trace.step[SHOWN].tolist()
    last = max(1, *steps)
    for cell in range(16):
        row, column = divmod(cell, 4)
        x, y = left + column * CELL, TOP + row * CELL
        fill = "#e8e8e8" if steps[cell] < 0 else _hex(steps[cell] / last)
        ink = "#111" if steps[cell] < 0 or _light(steps[cell] / last) else "#fff"
        frame = 'stroke="#d7191c" stroke-width="4"' if _broken(values, cell) else 'stroke="#fff" stroke-width="2"'
        inset = 3 if _broken(values, cell) else 1
        size = CELL - 2 * inset
        parts.append(f'<rect x="{x + inset}" y="{y + inset}" width="{size}" height="{size}" fill="{fill}" {frame}/>')
        parts.append(_text(x + CELL / 2, y + CELL / 2 + 8, str(values[cell] + 1), 22, ink, anchor="middle", weight=600))
        if steps[cell] >= 0:
            parts.append(_text(x + CELL - 8, y + CELL - 8, str(steps[cell] + 1), 10, ink, anchor="end"))
    middle = 2 * CELL
    parts.append(
        f'<path d="M{left + middle} {TOP}v{4 * CELL}M{left} {TOP + middle}h{4 * CELL}" stroke="#111" stroke-width="2"/>'
    )
    return parts


def _broken(values: list[int], cell: int) -> bool:
    return any(values[peer] == values[cell] for peer in Sudoku(4).geometry.peers[cell])


def _hex(share: float) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour(share))


def _light(share: float) -> bool:
    red, green, blue = colour(share)
    return 0.3 * red + 0.6 * green + 0.1 * blue >= 128


def _text(x, y, text: str, size: float, fill: str, *, anchor="start", weight=400, mono=False) -> str:
    family = ' font-family="ui-monospace, monospace"' if mono else ""
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" fill="{fill}" text-anchor="{anchor}" '
        f'font-weight="{weight}"{family}>{text}</text>'
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("order.svg"))
