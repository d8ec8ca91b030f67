"""The grids of a small Sudoku: all of them, and puzzles that have just one solution."""

from __future__ import annotations

import math
import random
from functools import cache


@cache
def units(side: int) -> tuple[tuple[int, ...], ...]:
    """Rows, columns and boxes, as cell numbers."""
    box = math.isqrt(side)
    rows = [tuple(r * side + c for c in range(side)) for r in range(side)]
    columns = [tuple(r * side + c for r in range(side)) for c in range(side)]
    boxes = [
        tuple((top * box + r) * side + left * box + c for r in range(box) for c in range(box))
        for top in range(box)
        for left in range(box)
    ]
    return (*rows, *columns, *boxes)


@cache
def peers(side: int) -> tuple[frozenset[int], ...]:
    """For every cell, the others that share a unit with it."""
    return tuple(
        frozenset(other for unit in units(side) if cell in unit for other in unit) - {cell} for cell in range(side**2)
    )


@cache
def all_grids(side: int) -> tuple[tuple[int, ...], ...]:
    """Every complete grid, values from 0, in lexicographic order: 288 for side 4 (for side 9, far too many)."""
    grid: list[int] = []
    found = []

    def extend() -> None:
        if len(grid) == side**2:
            found.append(tuple(grid))
            return
        taken = {grid[peer] for peer in peers(side)[len(grid)] if peer < len(grid)}
        for value in range(side):
            if value not in taken:
                grid.append(value)
                extend()
                grid.pop()

    extend()
    return tuple(found)


def clash(grid: list[int], side: int) -> tuple[int, int] | None:
    """Two cells of one unit with the same value (negative values are empty), or None."""
    for unit in units(side):
        seen: dict[int, int] = {}
        for cell in unit:
            if grid[cell] >= 0 and grid[cell] in seen:
                return seen[grid[cell]], cell
            seen[grid[cell]] = cell
    return None


def solutions(clues: list[int], side: int) -> int:
    """How many grids agree with the clues (negative values are empty)."""
    known = [(cell, value) for cell, value in enumerate(clues) if value >= 0]
    return sum(all(grid[cell] == value for cell, value in known) for grid in all_grids(side))


def minimal_clues(grid: tuple[int, ...], side: int, draw: random.Random) -> list[bool]:
    """Clues left after taking them away in random order as long as the solution stays unique."""
    kept = [True] * side**2
    for cell in draw.sample(range(side**2), side**2):
        kept[cell] = False
        if solutions([v if k else -1 for v, k in zip(grid, kept, strict=True)], side) > 1:
            kept[cell] = True
    return kept
