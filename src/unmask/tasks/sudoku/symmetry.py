"""The symmetries of Sudoku, on tensors: what keeps a grid a grid, and a puzzle as hard as it was.

Digits may be relabelled, rows permuted within their band and bands among each other, columns likewise, and the grid
transposed: 2 * 1296^2 arrangements of the 9x9 cells, times 9! names of the digits. As augmentation in training, each
row has a symmetry of its own, looked up by (seed, step, row key) as all noise is, so that a resumed run and several
processes see the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from unmask import noise
from unmask.state import Rows
from unmask.tasks.sudoku.geometry import geometry


@dataclass(frozen=True, eq=False)
class Symmetry:
    """One for each of B rows. `cells` [B,L]: where the new grid's cell comes from. `digits` [B,side]: new names."""

    cells: Int[Tensor, "B L"]
    digits: Int[Tensor, "B side"]

    @staticmethod
    def draw(side: int, seed: int, row: Int[Tensor, " B"], step: Int[Tensor, " B"]) -> Symmetry:
        """All symmetries equally likely."""
        box = geometry(side).box
        word = noise.key(seed, "symmetry", row, step)
        uniforms = noise.at(word[:, None].expand(-1, 3 * side + 2 * box + 1), _numbers(3 * side + 2 * box + 1, word))
        digits, rows, columns, bands, stacks, turn = uniforms.split([side, side, side, box, box, 1], dim=1)
        across, down = _lines(rows, bands, box), _lines(columns, stacks, box)
        straight = across[:, :, None] * side + down[:, None, :]
        turned = across[:, :, None] + down[:, None, :] * side
        cells = torch.where(turn[:, :, None] < 0.5, straight, turned).flatten(1)
        return Symmetry(cells, digits.argsort(1))

    def values(self, tokens: Int[Tensor, "B L"]) -> Int[Tensor, "B L"]:
        """A grid of values moved and renamed; negative values stay what they are."""
        moved = tokens.gather(1, self.cells)
        return torch.where(moved < 0, moved, self.digits.gather(1, moved.clamp(min=0)))

    def places(self, of_cells: Shaped[Tensor, "B L"]) -> Shaped[Tensor, "B L"]:
        """Anything else that belongs to cells - what is given, rounds - moved along."""
        return of_cells.gather(1, self.cells)

    def inverse(self) -> Symmetry:
        """The symmetry that undoes this one."""
        return Symmetry(self.cells.argsort(1), self.digits.argsort(1))


def augment(rows: Rows, seed: int, row: Int[Tensor, " B"], step: Int[Tensor, " B"]) -> Rows:
    """The rows under a symmetry of their own each; cells stay where they are, so coordinates do too."""
    symmetry = Symmetry.draw(round(rows.tokens.shape[1] ** 0.5), seed, row, step)
    turn = None if rows.turn is None else symmetry.places(rows.turn)
    return replace(rows, tokens=symmetry.values(rows.tokens), given=symmetry.places(rows.given), turn=turn)


def _numbers(count: int, like: Tensor) -> Int[Tensor, "B count"]:
    return torch.arange(count, device=like.device).expand(len(like), -1)


def _lines(within: Tensor, among: Tensor, box: int) -> Int[Tensor, "B side"]:
    """For each new line the old one: a permutation of lines that keeps bands together, from uniforms."""
    inner = within.view(len(within), box, box).argsort(2)
    bands = among.argsort(1)
    return (bands[:, :, None] * box + inner).flatten(1)
