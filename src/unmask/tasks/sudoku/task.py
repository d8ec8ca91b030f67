"""The Sudoku task: rows of cells, left to right and top to bottom; digit d is value d - 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from unmask.errors import UnmaskError
from unmask.state import Rows
from unmask.tasks.sudoku.generate import generate, grids_of
from unmask.tasks.sudoku.geometry import SIDES, Geometry, geometry
from unmask.tasks.sudoku.search import search

DIGITS = "123456789ABCDEFG"
_EMPTY = ".0_"
_SPACING = " \t\r\n|+-"
_NODES = 100_000
"""Steps of the search that `parse` spends on whether a puzzle has a solution; 9x9 puzzles take a few hundred."""


@dataclass(frozen=True)
class Sudoku:
    """Sudoku of side 4, 9 or 16. Samples are minimal puzzles: one solution, and none of their clues can be spared."""

    side: int = 9

    def __post_init__(self) -> None:
        if self.side not in SIDES:
            raise UnmaskError(f"Sudoku(side): expected one of {', '.join(map(str, SIDES))}, got {self.side}")

    @property
    def name(self) -> str:
        return "sudoku" if self.side == 9 else f"sudoku{self.side}"

    @property
    def length(self) -> int:
        return self.side**2

    @property
    def values(self) -> int:
        return self.side

    @property
    def columns(self) -> int:
        return self.side

    @property
    def board(self) -> range:
        return range(self.length)

    @property
    def begins(self) -> None:
        return None

    @property
    def geometry(self) -> Geometry:
        return geometry(self.side)

    def coordinates(self) -> Int[Tensor, "L 3"]:
        """Row, column and box of every cell."""
        return torch.from_numpy(self.geometry.coordinates.copy())

    def support(self) -> Int[Tensor, "S L"]:
        """Every complete grid, in lexicographic order: 288 for side 4 (for the others, far too many)."""
        if self.side != 4:
            raise UnmaskError(f"the grids of {self.name} are too many to be listed; sudoku4 has 288")
        return torch.from_numpy(grids_of(4).astype(np.int64))

    def sample(self, n: int, seed: int = 0) -> Rows:
        grids, given = generate(self.side, ~seed, 0, n)  # data sets have seeds from 0: no sample is in any of them
        return self.rows(torch.from_numpy(grids.astype(np.int64)), torch.from_numpy(given))

    def measure(self, rows: Rows) -> dict[str, Tensor]:
        """`solved`: every unit has every digit. `conflicts`: how many digits are missing from units, all units told."""
        units = torch.from_numpy(self.geometry.units).to(rows.tokens.device)
        inside = rows.tokens[:, units]  # [B, units, side]
        present = (inside[..., None] == torch.arange(self.side, device=inside.device)).any(2)
        missing = (self.side - present.sum(2)).sum(1)
        return {"solved": missing == 0, "conflicts": missing}

    def parse(self, text: str, *, check: bool = True) -> Rows:
        """A puzzle of side * side cells: digits (after 9 come letters), and `.`, `0` or `_` where empty.

        Spaces and rules are skipped. There must be a solution; there may be many, since filling in any of them is a
        task too.
        """
        cells = self.cells(text)
        puzzle = np.array([cells], dtype=np.int8)
        if check and search(puzzle, self.side, limit=1, nodes=_NODES).count[0] == 0:
            raise UnmaskError("the puzzle contradicts itself: no grid has these clues")
        tokens = torch.tensor([cells])
        return self.rows(tokens.clamp(min=0), tokens >= 0)

    def cells(self, text: str) -> list[int]:
        """The values of the cells, -1 where empty; refuses what cannot be a grid, and clues that clash."""
        signs = {sign: value for value, sign in enumerate(DIGITS[: self.side])}
        cells: list[int] = []
        for character in text:
            if character in _SPACING:
                continue
            if character in _EMPTY:
                cells.append(-1)
            elif character.upper() in signs:
                cells.append(signs[character.upper()])
            else:
                last = DIGITS[self.side - 1]
                known = f"digits 1 to {last}" if self.side < 10 else f"1 to 9 and A to {last}"
                raise UnmaskError(
                    f"{character!r} in cell {len(cells) + 1} is not a value of {self.name}; "
                    f"use {known}, and . or 0 for empty cells"
                )
        if len(cells) != self.length:
            raise UnmaskError(f"the puzzle has {len(cells)} cells; {self.name} has {self.length}")
        self._refuse_clash(cells)
        return cells

    def _refuse_clash(self, cells: list[int]) -> None:
        for unit in self.geometry.units.tolist():
            seen: dict[int, int] = {}
            for cell in unit:
                if cells[cell] >= 0 and cells[cell] in seen:
                    (r1, c1), (r2, c2) = (divmod(place, self.side) for place in (seen[cells[cell]], cell))
                    raise UnmaskError(
                        f"the puzzle contradicts itself: two cells of one unit hold {DIGITS[cells[cell]]} "
                        f"(row {r1 + 1}, column {c1 + 1} and row {r2 + 1}, column {c2 + 1})"
                    )
                seen[cells[cell]] = cell

    def line(self, row: Int[Tensor, " L"]) -> str:
        """The cells, left to right and top to bottom; negative values are dots."""
        return "".join(self.signs(row))

    def signs(self, row: Int[Tensor, " L"]) -> list[str]:
        """What to write at each cell."""
        return ["." if value < 0 else DIGITS[value] for value in row.tolist()]

    def render(self, row: Int[Tensor, " L"]) -> str:
        """The grid with its boxes drawn; negative values are dots."""
        box = self.geometry.box
        signs = self.line(row)
        lines = []
        for r in range(self.side):
            if r and r % box == 0:
                lines.append("+".join(["-" * (2 * box + 1)] * (self.side // box))[1:-1])
            line = signs[r * self.side : (r + 1) * self.side]
            lines.append(" | ".join(" ".join(line[c : c + box]) for c in range(0, self.side, box)))
        return "\n".join(lines)

    def rows(self, tokens: Int[Tensor, "B L"], given: Tensor) -> Rows:
        """Rows of this task from values and what of them is given."""
        return Rows(tokens, given, torch.ones_like(given), self.coordinates())
