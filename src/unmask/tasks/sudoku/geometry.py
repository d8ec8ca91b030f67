"""Where the cells of a Sudoku are: units, peers, and the masks of the solvers. Any side that is a square, up to 16."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.int64]
SIDES = (4, 9, 16)
"""Sides that there are tables and digits for: a band of 16x16 fills a word of 64 bits."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """Tables of a grid of `side` x `side` cells, counted left to right and top to bottom; `box` is a box's side.

    `units` [3 side, side]: the cells of all rows, then columns, then boxes. `peers` [cells, P]: the other cells that
    share a unit. `coordinates` [cells, 3]: row, column and box. `sees` [cells, bands] holds the peers as bit masks, a
    word for each band of `box` rows, in which bit i is the band's i-th cell.
    """

    side: int
    box: int
    units: Table
    peers: Table
    coordinates: Table
    sees: Table


@cache
def geometry(side: int) -> Geometry:
    """The tables for one side, one of SIDES."""
    box = math.isqrt(side)
    cell = np.arange(side * side)
    row, column = cell // side, cell % side
    coordinates = np.stack([row, column, row // box * box + column // box], axis=1)
    units = np.stack([cell[coordinates[:, kind] == number] for kind in range(3) for number in range(side)])
    shared = (coordinates[:, None, :] == coordinates[None, :, :]).any(2) & (cell[:, None] != cell)
    peers = np.stack([cell[shared[c]] for c in cell])
    band, bit = row // box, row % box * side + column
    sees = np.zeros((side * side, box), dtype=np.uint64)
    for c in cell:
        for peer in peers[c]:
            sees[c, band[peer]] |= np.uint64(1) << np.uint64(bit[peer])
    return Geometry(side, box, units, peers, coordinates, sees.view(np.int64))
