"""The Zebra task: a row is the clues, four positions each, and then the answer, a cell for each attribute and house.

A value has one token wherever it stands: attribute * 6 + value, in a clue as in the answer. A house's number is a
value of a seventh attribute; seven tokens more are the kinds of clue, and one is for positions that a smaller puzzle
leaves empty (they are not `present`). The cells of the answer are in place, never in solve order, which would tell a
model that is blind to order what it must not know.

Coordinates are (house, attribute, clue, part), -1 where a position has none: a cell has house and attribute; a value
in a clue has the attribute, or if it is a house's number the house; `part` is its place in the clue.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from unmask.errors import UnmaskError
from unmask.state import Rows
from unmask.tasks.zebra import english, reading
from unmask.tasks.zebra.clues import HOUSE, KINDS, MOST, OPERANDS, Array, Puzzle, Puzzles
from unmask.tasks.zebra.generate import MOST_CLUES, generate
from unmask.tasks.zebra.rules import check

PARTS = 1 + max(OPERANDS)
"""Positions of a clue: its kind and its values."""
CELLS = MOST * MOST
CLUE_TOKENS = MOST_CLUES * PARTS
KIND = (MOST + 1) * MOST
"""The token of the first kind of clue; those before it are values."""
NOTHING = KIND + len(KINDS)


@dataclass(frozen=True)
class Zebra:
    """Zebra puzzles of 3 to 6 houses and 3 to 6 attributes. Samples have one solution, and no clue can be spared."""

    @property
    def name(self) -> str:
        return "zebra"

    @property
    def length(self) -> int:
        return CLUE_TOKENS + CELLS

    @property
    def values(self) -> int:
        return NOTHING + 1

    @property
    def columns(self) -> int:
        return MOST

    @property
    def board(self) -> range:
        return range(CLUE_TOKENS, self.length)

    @property
    def begins(self) -> re.Pattern[str]:
        return reading.HEADING

    def sample(self, n: int, seed: int = 0) -> Rows:
        puzzles, grids = generate(~seed, 0, n)  # data sets have seeds from 0: no sample is in any of them
        return rows(puzzles, grids)

    def measure(self, rows: Rows) -> dict[str, Tensor]:
        """`solved`: every clue is true, every attribute's values are all there. `conflicts`: clues that are not true,
        and values that are missing."""
        puzzles, grids = unpack(rows.tokens, rows.present)
        conflicts = torch.from_numpy(check(puzzles.houses, puzzles.attributes, puzzles.clues, grids))
        conflicts = conflicts.to(rows.tokens.device)
        return {"solved": conflicts == 0, "conflicts": conflicts}

    def parse(self, text: str, *, check: bool = True) -> Rows:
        """A puzzle in plain English (`reading.read`); what it says of houses besides the clues is given."""
        read = reading.read(text)
        made = rows(Puzzles.of([read.puzzle]), read.known[None])
        return Rows(made.tokens, made.given | known_cells(read.known[None]), made.present, made.coordinates)

    def line(self, row: Int[Tensor, " L"]) -> str:
        """The puzzle in English on one line, with what is known of the houses."""
        puzzle, grid = self._one(row)
        return " ".join([*english.write(puzzle), *english.houses(grid, puzzle)])

    def render(self, row: Int[Tensor, " L"]) -> str:
        """The clues, and a table of the answer; what is hidden are dots."""
        puzzle, grid = self._one(row)
        return "\n".join([*english.write(puzzle), "", *table(grid, puzzle)])

    def signs(self, row: Int[Tensor, " L"]) -> list[str]:
        """What to write at each position in a picture."""
        return [_sign(token) for token in row.tolist()]

    def _one(self, row: Int[Tensor, " L"]) -> tuple[Puzzle, Array]:
        puzzles, grids = unpack(row[None], (row != NOTHING)[None])
        return puzzles[0], grids[0]


def rows(puzzles: Puzzles, grids: Array) -> Rows:
    """Rows of the task from puzzles and what is known of their answers, [B, 6, 6] (-1: not known, token 0)."""
    batch = len(puzzles)
    clues = np.full((batch, MOST_CLUES, 7), -1, dtype=np.int64)
    clues[:, : puzzles.clues.shape[1]] = puzzles.clues[:, :MOST_CLUES]
    if (puzzles.clues[:, MOST_CLUES:, 0] >= 0).any():
        most = int((puzzles.clues[:, :, 0] >= 0).sum(1).max())
        raise UnmaskError(f"the puzzle has {most} clues; a row of the task zebra has room for {MOST_CLUES}")
    attribute, value = clues[:, :, 1::2], clues[:, :, 2::2]
    tokens = np.full((batch, MOST_CLUES, PARTS), NOTHING)
    there = np.concatenate([clues[:, :, :1] >= 0, attribute >= 0], axis=2)
    tokens[:, :, 0] = KIND + clues[:, :, 0]
    tokens[:, :, 1:] = attribute * MOST + value
    tokens[~there] = NOTHING

    where = np.full((batch, MOST_CLUES, PARTS, 4), -1)
    where[:, :, 1:, 0] = np.where(attribute == HOUSE, value, -1)
    where[:, :, 1:, 1] = np.where(attribute == HOUSE, -1, attribute)
    where[..., 2] = np.arange(MOST_CLUES)[:, None]
    where[..., 3] = np.arange(PARTS)
    where[~there] = -1

    at, house = np.divmod(np.arange(CELLS), MOST)
    inside = (at < puzzles.attributes[:, None]) & (house < puzzles.houses[:, None])
    cells = np.where(inside, at * MOST + grids.reshape(batch, CELLS).clip(0), NOTHING)
    cells[inside & (grids.reshape(batch, CELLS) < 0)] = 0
    places = np.stack([house, at, house * 0 - 1, house * 0 - 1], axis=1)
    places = np.where(inside[:, :, None], places, -1)

    present = np.concatenate([there.reshape(batch, -1), inside], axis=1)
    given = present.copy()
    given[:, CLUE_TOKENS:] = False
    return Rows(
        torch.from_numpy(np.concatenate([tokens.reshape(batch, -1), cells], axis=1)),
        torch.from_numpy(given),
        torch.from_numpy(present),
        torch.from_numpy(np.concatenate([where.reshape(batch, -1, 4), places], axis=1)),
    )


def known_cells(grids: Array) -> Bool[Tensor, "B L"]:
    """Which positions of rows are cells whose values are known."""
    known = torch.from_numpy(grids.reshape(len(grids), CELLS) >= 0)
    return torch.cat([known.new_zeros(len(grids), CLUE_TOKENS), known], dim=1)


def unpack(tokens: Int[Tensor, "B L"], present: Bool[Tensor, "B L"]) -> tuple[Puzzles, Array]:
    """The way back: puzzles, and the value of each attribute at each house; -1 where none of that attribute is."""
    batch = len(tokens)
    token = tokens.masked_fill(~present, NOTHING).cpu().numpy()
    cells = token[:, CLUE_TOKENS:].reshape(batch, MOST, MOST)
    inside = cells != NOTHING
    right = inside & (cells >= 0) & (cells // MOST == np.arange(MOST)[:, None])
    grids = np.where(right, cells % MOST, -1).astype(np.int8)
    houses = inside.any(1).sum(1).astype(np.int8)
    attributes = inside.any(2).sum(1).astype(np.int8)
    parts = token[:, :CLUE_TOKENS].reshape(batch, MOST_CLUES, PARTS)
    clues = np.full((batch, MOST_CLUES, 7), -1, dtype=np.int8)
    clues[:, :, 0] = np.where(parts[:, :, 0] < NOTHING, parts[:, :, 0] - KIND, -1)
    clues[:, :, 1::2] = np.where(parts[:, :, 1:] < KIND, parts[:, :, 1:] // MOST, -1)
    clues[:, :, 2::2] = np.where(parts[:, :, 1:] < KIND, parts[:, :, 1:] % MOST, -1)
    return Puzzles(houses, attributes, clues), grids


def table(grid: Array, puzzle: Puzzle, words: tuple[english.Attribute, ...] = english.WORDS) -> list[str]:
    """Houses beside each other, an attribute on each line; dots where nothing is known."""
    body = [["House", *(str(house + 1) for house in range(puzzle.houses))]]
    for word, values in zip(words, grid[: puzzle.attributes].tolist(), strict=False):
        body.append([word.heading, *("." if v < 0 else word.values[v] for v in values[: puzzle.houses])])
    widths = [max(len(line[column]) for line in body) for column in range(puzzle.houses + 1)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in body]


def _sign(token: int) -> str:
    if token < 0:
        return "."
    if token >= KIND:
        return "" if token == NOTHING else KINDS[token - KIND]
    attribute, value = divmod(token, MOST)
    return str(value + 1) if attribute == HOUSE else english.WORDS[attribute].values[value]
