"""Windows: where may positions be shown now? One file each; a window is a sequence of stages."""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Bool
from torch import Tensor

from unmask.belief import expect
from unmask.errors import StrategyError
from unmask.part import Part
from unmask.state import State


class Window(Part):
    """Names the next stage of every row. The loop asks it when a row's stage is over, and for no other row listens.

    A draft, in which nothing is hidden, is looked through once under a revision: what no stage has held yet then looks
    hidden to the window, which needs to know nothing of this. Stages of a draft go from left to right.
    """

    def __call__(self, state: State) -> Bool[Tensor, "B L"]:
        raise StrategyError(f"{type(self).__name__} is a window without __call__(state): write that method")


def due(state: State, *, revised: bool) -> Bool[Tensor, "B L"]:
    """What the next stages are for: what is hidden, and in a draft under a revision, what lies behind the window.

    A stage that began with nothing hidden is one of a draft: those of other rows begin with something.
    """
    if not revised:
        return state.hidden
    draft = ~state.hidden.any(1, keepdim=True) & (state.stage_hidden == 0)[:, None]
    behind = state.window.long().flip(1).cumsum(1).flip(1) == 0
    return state.hidden | (draft & behind & state.present & ~state.given)


def next_stage(window: Window, state: State, to_do: Bool[Tensor, "B L"], opens: Bool[Tensor, " B"]) -> State:
    """The rows that open a stage with their next window, its clock at 0; all others as they are."""
    if not bool(opens.any()):
        return state
    found = window(replace(state, hidden=to_do))
    expect(found, window, "the next stage", tuple(to_do.shape), (torch.bool,))
    empty = opens & ~(found & to_do).any(1)
    if bool(empty.any()):
        row = int(state.row[empty.nonzero()[0]])
        raise StrategyError(f"the window {window} opens nothing that is hidden in row {row}; a stage needs some of it")
    found = torch.where(opens[:, None], found, state.window)
    return replace(
        state,
        window=found,
        stage_step=torch.where(opens, 0, state.stage_step),
        stage_hidden=torch.where(opens, (state.hidden & found).sum(1), state.stage_hidden),
    )
