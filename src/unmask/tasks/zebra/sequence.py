"""Zebra for autoregressive models: the clues, ANSWER, then a triplet (house, attribute, value) for each cell.

The serialisation of the paper (section 4; Shah et al. 2024): a clue is its kind, three tokens for each value that it
speaks of (OF and the attribute, or NUMBER and HOUSE; then the value, or the number), and CLUE_END. At most 450 tokens,
where the paper's are at most 457. Clues and ANSWER are given, so an objective counts every token of the answer, the
first one too; what is behind the answer is absent.

Coordinates are those of the task, (house, attribute, clue, part), as far as the tokens up to that one tell; `part` is
the token's place in its clue.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from unmask.state import Rows
from unmask.tasks import triplets
from unmask.tasks.zebra.clues import HOUSE, KINDS, MOST
from unmask.tasks.zebra.generate import MOST_CLUES
from unmask.tasks.zebra.task import CELLS, CLUE_TOKENS, KIND, NOTHING, PARTS

FIRST_KIND = MOST + 1
"""Tokens before it are numbers: values, houses, attributes (HOUSE is one)."""
OF, NUMBER, CLUE_END, ANSWER, END = range(FIRST_KIND + len(KINDS), FIRST_KIND + len(KINDS) + 5)
VALUES = END + 1
_CLUE = 2 + 3 * (PARTS - 1)
LENGTH = MOST_CLUES * _CLUE + 1 + 3 * CELLS


def sequence(rows: Rows, turn: Int[Tensor, "B C"]) -> Rows:
    """Rows of the task, cells known, in the order of `turn` (`solve_turns`; `triplets.fixed_turns`,
    `triplets.random_turns`)."""
    parts = rows.tokens[:, :CLUE_TOKENS].unflatten(1, (MOST_CLUES, PARTS))
    cells, inside = rows.tokens[:, CLUE_TOKENS:], rows.present[:, CLUE_TOKENS:]
    answer = triplets.write(cells % MOST, _places(cells.device), turn, inside)
    answer = answer.masked_fill(answer < 0, END)

    clues = torch.full((len(parts), MOST_CLUES, _CLUE), END, device=parts.device)
    clues[:, :, 0] = parts[:, :, 0] - KIND + FIRST_KIND
    operand = parts[:, :, 1:]
    of_house = operand // MOST == HOUSE
    marker = torch.where(of_house, NUMBER, OF)
    clues[:, :, 1:-1] = torch.stack([marker, operand // MOST, operand % MOST], dim=3).flatten(2)
    clues[:, :, -1] = CLUE_END
    named = (operand != NOTHING).repeat_interleave(3, dim=2)
    is_clue = parts[:, :, :1] != NOTHING
    kept = torch.cat([is_clue, named, is_clue], dim=2)

    # What is kept moves up: clues without gaps, ANSWER, the cells.
    mark = torch.full((len(parts), 1), ANSWER, device=parts.device)
    whole = torch.cat([clues.flatten(1), mark, answer], dim=1)
    kept = torch.cat([kept.flatten(1), mark > 0, answer != END], dim=1)
    order = (~kept).long().argsort(dim=1, stable=True)
    tokens, present = whole.gather(1, order).masked_fill(~kept.gather(1, order), END), kept.gather(1, order)
    return Rows(tokens, _prompt(tokens) & present, present, coordinates(tokens), coordinates)


def grid(tokens: Int[Tensor, "B T"]) -> Int[Tensor, "B C"]:
    """The value of each cell, six houses an attribute, that the answer writes; -1 where it leaves one out."""
    answer = _answer(tokens)[:, None] + torch.arange(3 * CELLS, device=tokens.device)
    length = tokens.shape[1]
    told = torch.nn.functional.pad(tokens, (0, 1), value=-1).gather(1, answer.clamp(max=length))
    value = told[:, 2::3]
    told[:, 2::3] = value.masked_fill(value >= MOST, -1)
    return triplets.read(told, _places(tokens.device))


def coordinates(tokens: Int[Tensor, "B T"]) -> Int[Tensor, "B T 4"]:
    """House, attribute, clue and part of each token, from the tokens up to that one alone; -1 where unknown or none.
    Hidden tokens: -1."""
    position = torch.arange(tokens.shape[1], device=tokens.device).expand(tokens.shape)
    answered = _answer(tokens)
    cell = triplets.whereabouts(tokens, answered)
    cell = cell.masked_fill((cell >= MOST) | ((tokens == END) | (tokens < 0))[:, :, None], -1)

    ends = (tokens == CLUE_END).long()
    clue = ends.cumsum(1) - ends
    begin = torch.where(ends.bool(), position + 1, 0).cummax(1).values
    begin = torch.cat([begin.new_zeros(len(begin), 1), begin[:, :-1]], dim=1)
    part = position - begin
    within = (part - 1) % 3
    opener = (position - within).clamp(min=0)
    name = tokens.gather(1, (opener + 1).minimum(position))
    numbered = tokens.gather(1, opener) == NUMBER
    is_operand = (part > 0) & (tokens != CLUE_END)
    house = torch.where(is_operand & numbered & (within == 2), tokens, -1)
    attribute = torch.where(is_operand & ~numbered & (within > 0), name, -1)
    of_clue = torch.stack([house, attribute, clue, part], dim=2)
    in_clues = (position < answered[:, None] - 1) & (tokens >= 0)
    nowhere = torch.full_like(of_clue, -1)
    of_cell = torch.cat([cell, nowhere[:, :, 2:]], dim=2)
    return torch.where(in_clues[:, :, None], of_clue, of_cell)


def solve_turns(columns: dict[str, Tensor]) -> Int[Tensor, "B C"]:
    """The order of deduction, from a batch of a data set: by round, then by position; what it did not reach is last."""
    when = columns["round"].long()
    return triplets.turns_by_round(when, torch.zeros_like(when, dtype=torch.bool))


def _answer(tokens: Int[Tensor, "B T"]) -> Int[Tensor, " B"]:
    """The position behind ANSWER; one behind the end where there is none (yet)."""
    return (tokens != ANSWER).long().cumprod(1).sum(1) + 1


def _prompt(tokens: Int[Tensor, "B T"]) -> Bool[Tensor, "B T"]:
    return torch.arange(tokens.shape[1], device=tokens.device) < _answer(tokens)[:, None]


def _places(device: torch.device) -> Int[Tensor, "C 2"]:
    """House and attribute of each cell."""
    cell = torch.arange(CELLS, device=device)
    return torch.stack([cell % MOST, cell // MOST], dim=1)
