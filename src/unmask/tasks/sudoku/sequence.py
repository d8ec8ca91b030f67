"""Sudoku for autoregressive models: 81 triplets (row, column, value), clues first, loss on all that comes after them.

All three kinds of token are the numbers from 0; which kind a token is, its position tells. The sequence is `Rows`
like any other: the clues' triplets are given, so an objective counts every token of the answer, the first one too.
"""

from __future__ import annotations

import math
from functools import partial

import torch
from jaxtyping import Int
from torch import Tensor

from unmask.state import Rows
from unmask.tasks import triplets
from unmask.tasks.sudoku.geometry import geometry


def sequence(rows: Rows, turn: Int[Tensor, "B L"]) -> Rows:
    """Grids as triplets in the order of `turn` (`solve_turns`; `triplets.fixed_turns`,
    `triplets.random_turns`), clues first."""
    side = math.isqrt(rows.tokens.shape[1])
    tokens = triplets.write(rows.tokens, _places(side), triplets.turns(turn, rows.given))
    position = torch.arange(tokens.shape[1], device=tokens.device)
    given = position < 3 * rows.given.sum(1, keepdim=True)
    return Rows(tokens, given, torch.ones_like(given), coordinates(tokens, side), partial(coordinates, side=side))


def grid(tokens: Int[Tensor, "B T"], side: int = 9) -> Int[Tensor, "B L"]:
    """The grid that triplets write, all of them or the first ones; -1 where they leave a cell out."""
    return triplets.read(tokens[:, : tokens.shape[1] // 3 * 3], _places(side))


def coordinates(tokens: Int[Tensor, "B T"], side: int = 9) -> Int[Tensor, "B T 3"]:
    """Row, column and box of each token, from the tokens up to that one alone; -1 where unknown. Hidden tokens: -1.
    A sequence's beginning has the beginning of its coordinates."""
    box = geometry(side).box
    place = triplets.whereabouts(tokens)
    row, column = place.unbind(2)
    inside = (row // box * box + column // box).masked_fill((place < 0).any(2), -1)
    return torch.cat([place, inside[:, :, None]], dim=2)


def solve_turns(columns: dict[str, Tensor]) -> Int[Tensor, "B L"]:
    """The solver's order, from a batch of a data set: by round, then by position; cells it did not reach come last."""
    return triplets.turns_by_round(columns["round"].long(), columns["given"])


def _places(side: int) -> Int[Tensor, "C 2"]:
    return torch.from_numpy(geometry(side).coordinates[:, :2].copy())
