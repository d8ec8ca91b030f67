"""Revisions: what do I take back? One file each; most strategies have none.

A revision needs a pace with `steps`, since what is taken back must be shown again before the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unmask.belief import Belief, expect
from unmask.errors import StrategyError
from unmask.part import Part
from unmask.state import State

if TYPE_CHECKING:
    from unmask.strategy import Strategy


class Revision(Part):
    """Takes shown positions back.

    `again`: they may re-enter at once, in one ranking with what is hidden. If not, they stay hidden for this step
    (and at a stage's last step nothing is taken back). `rewrite`: what re-enters takes the newly proposed value.
    """

    @property
    def again(self) -> bool:
        """Whether what is taken back may re-enter at once."""
        return False

    @property
    def rewrite(self) -> bool:
        """Whether what re-enters takes a new value."""
        return False

    def check(self, strategy: Strategy) -> None:
        if strategy.steps is None:
            raise StrategyError(
                f"the revision {self} needs a pace with a number of steps, such as evenly(20); {strategy.pace} has "
                f"none, so that decoding might never end"
            )

    def ask(self, state: State) -> Bool[Tensor, "B L"]:
        """The shown positions to ask about, beside those of the oracle: none, unless the revision needs them."""
        return torch.zeros_like(state.hidden)

    def back(self, belief: Belief) -> Bool[Tensor, "B L"]:
        """What is taken back: some of `state.revisable`."""
        raise StrategyError(f"{type(self).__name__} is a revision without back(belief): write that method")

    def rescore(self, belief: Belief, score: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        """The oracle's scores, weighed anew where positions that are taken back compete with hidden ones."""
        return score

    def leave(self, belief: Belief, left: Int[Tensor, " B"]) -> Int[Tensor, " B"]:
        """The pace's number, corrected for what the revision takes back."""
        return left


def taken_back(revision: Revision, belief: Belief) -> Bool[Tensor, "B L"]:
    """What the revision takes back of what it may."""
    back = revision.back(belief)
    expect(back, revision, "what to take back", tuple(belief.asked.shape), (torch.bool,))
    return back & belief.state.revisable


def shown_first(belief: Belief, score: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """Scores in which everything shown is ahead of everything hidden, however sure that is.

    With `leave` giving no more than are hidden, nothing that is shown is then ever hidden again.
    """
    shown = belief.state.revisable.view(-1)[belief.flat]
    return score.clamp(max=torch.finfo(score.dtype).max).masked_fill(shown, torch.inf)
