"""9x9 Sudoku as plainly as it can be written: sets and loops, straight from the definitions.

It shares nothing with the package, is slow, and is what the package is checked and timed against.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations

Grid = list[int]
"""81 values 0 to 8, -1 where empty."""

Candidates = list[set[int]]
"""For each cell what it may still be; empty where a value stands."""

Marks = set[tuple[int, int]]
"""(cell, value) pairs."""

ROWS = [{9 * r + c for c in range(9)} for r in range(9)]
COLUMNS = [{9 * r + c for r in range(9)} for c in range(9)]
BOXES = [{9 * (3 * a + r) + 3 * b + c for r in range(3) for c in range(3)} for a in range(3) for b in range(3)]
UNITS = ROWS + COLUMNS + BOXES
PEERS = [set().union(*(unit for unit in UNITS if cell in unit)) - {cell} for cell in range(81)]


def read(text: str) -> Grid:
    return [-1 if sign in ".0" else int(sign) - 1 for sign in text]


def candidates_of(grid: Grid) -> Candidates:
    return [
        set() if value >= 0 else set(range(9)) - {grid[peer] for peer in PEERS[cell]} for cell, value in enumerate(grid)
    ]


# Search


def solutions(grid: Grid) -> Iterator[Grid]:
    """Every solution: try each candidate of a cell that has fewest."""
    options = candidates_of(grid)
    empty = [cell for cell in range(81) if grid[cell] < 0]
    if not empty:
        yield list(grid)
        return
    cell = min(empty, key=lambda c: len(options[c]))
    for value in sorted(options[cell]):
        grid[cell] = value
        yield from solutions(grid)
        grid[cell] = -1


def unique(grid: Grid) -> bool:
    found = solutions(list(grid))
    return next(found, None) is not None and next(found, None) is None


def minimal_puzzle(draw: random.Random) -> tuple[Grid, Grid]:
    """A random grid, and what is left when clues are taken away in random order while the solution stays unique."""
    first = [-1] * 81
    for value, cell in enumerate(draw.sample(range(9), 9)):
        first[cell] = value
    solution = next(solutions(first))
    names = draw.sample(range(9), 9)
    solution = [names[value] for value in solution]
    puzzle = list(solution)
    for cell in draw.sample(range(81), 81):
        puzzle[cell] = -1
        if not unique(puzzle):
            puzzle[cell] = solution[cell]
    return solution, puzzle


# The seven strategies: each names all that it finds, as marks to write or to take away.


def lone_singles(options: Candidates) -> Marks:
    return {(cell, value) for cell in range(81) for value in options[cell] if len(options[cell]) == 1}


def hidden_singles(options: Candidates) -> Marks:
    return {
        (cell, value)
        for unit in UNITS
        for value in range(9)
        for cell in unit
        if [other for other in unit if value in options[other]] == [cell]
    }


def naked(options: Candidates, size: int, narrow: bool) -> Marks:
    found = set()
    for unit in UNITS:
        open_cells = [cell for cell in unit if options[cell]]
        for group in combinations(open_cells, size):
            values = set().union(*(options[cell] for cell in group))
            twins = any(options[one] == options[other] for one, other in combinations(group, 2))
            if len(values) == size and (twins or not narrow):
                found |= {(cell, value) for cell in unit - set(group) for value in options[cell] & values}
    return found


def locked(options: Candidates, narrow: bool) -> Marks:
    found = set()
    for unit in UNITS:
        for value in range(9):
            places = {cell for cell in unit if value in options[cell]}
            if len(places) < 2 or (narrow and len(places) > 2):
                continue
            for other in UNITS:
                if other != unit and places <= other:
                    found |= {(cell, value) for cell in other - unit if value in options[cell]}
    return found


def wings(options: Candidates) -> Marks:
    found = set()
    for pivot in range(81):
        for one, other in combinations(sorted(PEERS[pivot]), 2):
            x_and_y, with_one, with_other = options[pivot], options[one], options[other]
            if not len(x_and_y) == len(with_one) == len(with_other) == 2:
                continue
            shared = with_one & with_other
            if len(shared) == 1 and not shared & x_and_y and x_and_y == (with_one | with_other) - shared:
                (z,) = shared
                found |= {(cell, z) for cell in PEERS[one] & PEERS[other] if z in options[cell]}
    return found


def rectangles(options: Candidates) -> Marks:
    found = set()
    for top, bottom in combinations(range(9), 2):
        for left, right in combinations(range(9), 2):
            corners = [9 * row + column for row in (top, bottom) for column in (left, right)]
            if len([box for box in BOXES if box & set(corners)]) != 2:
                continue
            for roof in corners:
                pairs = [options[corner] for corner in corners if corner != roof]
                if len(pairs[0]) == 2 and pairs[0] == pairs[1] == pairs[2] < options[roof]:
                    found |= {(roof, value) for value in pairs[0]}
    return found


def step(grid: Grid, options: Candidates, *, narrow: bool, rectangle: bool) -> tuple[str, Marks, Marks] | None:
    """The first strategy that finds something, with what it writes and what it takes away; None when stuck."""
    for name, find in (("lone single", lone_singles), ("hidden single", hidden_singles)):
        written = find(options)
        if written:
            return name, written, set()
    for name, removed in (
        ("naked pair", lambda: naked(options, 2, False)),
        ("naked triplet", lambda: naked(options, 3, narrow)),
        ("locked candidate", lambda: locked(options, narrow)),
        ("XY-wing", lambda: wings(options)),
        ("unique rectangle", lambda: rectangles(options) if rectangle else set()),
    ):
        marks = removed()
        if marks:
            return name, set(), marks
    return None


def apply(grid: Grid, options: Candidates, written: Marks, removed: Marks) -> None:
    for cell, value in written:
        grid[cell] = value
        options[cell] = set()
    for cell, value in written:
        for peer in PEERS[cell]:
            options[peer].discard(value)
    for cell, value in removed:
        options[cell].discard(value)


def deduce(
    puzzle: Grid, *, narrow: bool = False, rectangle: bool = True
) -> tuple[Grid, list[tuple[str, Marks, Marks]]]:
    """How far the strategies come, and the steps."""
    grid, options, taken = list(puzzle), candidates_of(puzzle), []
    while (found := step(grid, options, narrow=narrow, rectangle=rectangle)) is not None:
        apply(grid, options, *found[1:])
        taken.append(found)
    return grid, taken
