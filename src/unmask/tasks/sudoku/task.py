"""The Sudoku task: rows of cells, left to right and top to bottom; digit d is value d - 1."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from unmask.errors import UnmaskError
from unmask.state import Rows
from unmask.tasks.sudoku import grids

_EMPTY = ".0_"
_SPACING = " \t\r\n|+-"


@dataclass(frozen=True)
class Sudoku:
    """Sudoku of side 4. Samples are minimal puzzles: one solution, and none of their clues can be spared."""

    side: int = 4

    def __post_init__(self) -> None:
        if self.side != 4:
            raise UnmaskError(f"Sudoku(side): only side 4 is known, got {self.side}")

    @property
    def name(self) -> str:
        return f"sudoku{self.side}"

    @property
    def length(self) -> int:
        return self.side**2

    @property
    def values(self) -> int:
        return self.side

    @property
    def columns(self) -> int:
        return self.side

    def coordinates(self) -> Int[Tensor, "L 3"]:
        """Row, column and box of every cell."""
        box = math.isqrt(self.side)
        cell = torch.arange(self.length)
        row, column = cell // self.side, cell % self.side
        return torch.stack([row, column, row // box * box + column // box], dim=1)

    def support(self) -> Int[Tensor, "S L"]:
        """Every complete grid."""
        return torch.tensor(grids.all_grids(self.side))

    def sample(self, n: int, seed: int = 0) -> Rows:
        tokens, given = [], []
        for number in range(n):
            draw = random.Random(f"{self.name} {seed} {number}")
            grid = draw.choice(grids.all_grids(self.side))
            tokens.append(grid)
            given.append(grids.minimal_clues(grid, self.side, draw))
        shape = (n, self.length)
        return self._rows(
            torch.tensor(tokens, dtype=torch.int64).view(shape), torch.tensor(given, dtype=torch.bool).view(shape)
        )

    def measure(self, rows: Rows) -> dict[str, Tensor]:
        """`solved`: every unit has every digit. `conflicts`: how many digits are missing from units, all units told."""
        units = torch.tensor(grids.units(self.side), device=rows.tokens.device)
        inside = rows.tokens[:, units]  # [B, units, side]
        present = (inside[..., None] == torch.arange(self.side, device=inside.device)).any(2)
        missing = (self.side - present.sum(2)).sum(1)
        return {"solved": missing == 0, "conflicts": missing}

    def parse(self, text: str) -> Rows:
        """A puzzle of side * side cells: digits, and `.`, `0` or `_` where empty. Spaces and rules are skipped."""
        cells: list[int] = []
        for character in text:
            if character in _SPACING:
                continue
            if character in _EMPTY:
                cells.append(-1)
            elif character.isascii() and character.isdigit() and int(character) <= self.side:
                cells.append(int(character) - 1)
            else:
                raise UnmaskError(
                    f"{character!r} in cell {len(cells) + 1} is not a value of {self.name}; "
                    f"use digits 1 to {self.side}, and . or 0 for empty cells"
                )
        if len(cells) != self.length:
            raise UnmaskError(f"the puzzle has {len(cells)} cells; {self.name} has {self.length}")
        clash = grids.clash(cells, self.side)
        if clash is not None:
            (r1, c1), (r2, c2) = (divmod(cell, self.side) for cell in clash)
            raise UnmaskError(
                f"the puzzle contradicts itself: two cells of one unit hold {cells[clash[0]] + 1} "
                f"(row {r1 + 1}, column {c1 + 1} and row {r2 + 1}, column {c2 + 1})"
            )
        if grids.solutions(cells, self.side) == 0:
            raise UnmaskError("the puzzle contradicts itself: no grid has these clues")
        tokens = torch.tensor([cells])
        return self._rows(tokens.clamp(min=0), tokens >= 0)

    def line(self, row: Int[Tensor, " L"]) -> str:
        """The cells, left to right and top to bottom; negative values are dots."""
        return "".join("." if value < 0 else str(value + 1) for value in row.tolist())

    def render(self, row: Int[Tensor, " L"]) -> str:
        """The grid with its boxes drawn; negative values are dots."""
        box = math.isqrt(self.side)
        signs = self.line(row)
        lines = []
        for r in range(self.side):
            if r and r % box == 0:
                lines.append("+".join(["-" * (2 * box + 1)] * (self.side // box))[1:-1])
            line = signs[r * self.side : (r + 1) * self.side]
            lines.append(" | ".join(" ".join(line[c : c + box]) for c in range(0, self.side, box)))
        return "\n".join(lines)

    def _rows(self, tokens: Tensor, given: Tensor) -> Rows:
        return Rows(tokens, given, torch.ones_like(given), self.coordinates())
