"""Grids as sequences for autoregressive models: a (row, column, value) triplet for each cell.

What is given comes first, then the rest in some order: the solver's, a fixed one, a random one (the paper's baselines,
section 4.3: with the order in the data, and without). An autoregressive model must say where it
writes as well as what, so each cell is three tokens; a task names them as it likes, these functions see plain numbers.

Where a token is in the grid is told by the triplet that it belongs to, as far as tokens up to and including itself
tell: the row token knows its row, and its column not yet. More would show the model what it is to write.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int, Num
from torch import Tensor

from unmask import noise


def turns(key: Num[Tensor, "B C"], given: Bool[Tensor, "B C"]) -> Int[Tensor, "B C"]:
    """The turn of every cell: what is given by position, then the rest by rising key; ties go to the lower position."""
    rank = key.argsort(dim=1, stable=True).argsort(dim=1)
    return rank.masked_fill(given, -1).argsort(dim=1, stable=True).argsort(dim=1)


def turns_by_round(when: Int[Tensor, "B C"], given: Bool[Tensor, "B C"]) -> Int[Tensor, "B C"]:
    """A solver's order: what is given, then by round, then by position; what the solver did not reach (-1) is last."""
    return turns(when.masked_fill(when < 0, int(when.max()) + 1), given)


def fixed_turns(given: Bool[Tensor, "B C"]) -> Int[Tensor, "B C"]:
    """Cells by position: no order told."""
    return turns(torch.arange(given.shape[1], device=given.device).expand(given.shape), given)


def random_turns(
    given: Bool[Tensor, "B C"], seed: int, row: Int[Tensor, " B"], step: Int[Tensor, " B"]
) -> Int[Tensor, "B C"]:
    """Cells in an order of their own for each (seed, row, step), all orders equally likely."""
    position = torch.arange(given.shape[1], device=given.device).expand(given.shape)
    return turns(noise.at(noise.key(seed, "triplets", row, step)[:, None].expand(given.shape), position), given)


def write(
    values: Int[Tensor, "B C"],
    places: Int[Tensor, "C 2"],
    turn: Int[Tensor, "B C"],
    present: Bool[Tensor, "B C"] | None = None,
) -> Int[Tensor, "B 3*C"]:
    """The cells by turn, each as its row, its column and its value; -1 behind the last cell that is present."""
    there = torch.ones_like(values, dtype=torch.bool) if present is None else present
    order = turn.masked_fill(~there, values.shape[1]).argsort(dim=1, stable=True)
    place = places.to(values.device)[order]
    triplets = torch.cat([place, values.gather(1, order)[:, :, None]], dim=2)
    return triplets.masked_fill(~there.gather(1, order)[:, :, None], -1).flatten(1)


def read(tokens: Int[Tensor, "B T"], places: Int[Tensor, "C 2"]) -> Int[Tensor, "B C"]:
    """The way back: the value of every cell, -1 where no triplet names it.

    A model may write anything. The first triplet that names a cell counts, so that what was given stays; triplets that
    name no cell, and those with a negative (hidden) part, do not count.
    """
    row, column, value = tokens.unflatten(1, (-1, 3)).unbind(2)
    where = places.to(tokens.device)
    names = (row[:, :, None] == where[:, 0]) & (column[:, :, None] == where[:, 1]) & (value >= 0)[:, :, None]
    first = names.long().argmax(dim=1)
    return torch.where(names.any(dim=1), value.gather(1, first), -1)


def whereabouts(tokens: Int[Tensor, "B T"], first: Int[Tensor, " B"] | None = None) -> Int[Tensor, "B T 2"]:
    """Row and column of each token, as far as the tokens up to it tell; -1 where they do not (yet), or are hidden.

    Triplets begin at position `first` of each row, or with the row; -1 before that.
    """
    begun = tokens.new_zeros(len(tokens)) if first is None else first
    position = torch.arange(tokens.shape[1], device=tokens.device).expand(tokens.shape)
    part = (position - begun[:, None]) % 3
    begin = (position - part).clamp(min=0)
    row = tokens.gather(1, begin)
    column = tokens.gather(1, (begin + 1).minimum(position)).masked_fill(part == 0, -1)
    told = torch.stack([row, column], dim=2).clamp(min=-1)
    return told.masked_fill((position < begun[:, None])[:, :, None], -1)
