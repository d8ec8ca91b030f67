"""Paces: how many stay hidden? One file each; a pace either names its `steps` or shows at least one position."""

from __future__ import annotations

from jaxtyping import Bool, Float, Int
from torch import Tensor

from unmask.belief import WHOLES, Belief, expect
from unmask.errors import StrategyError
from unmask.part import Part
from unmask.state import State


class Pace(Part):
    """How many positions of the stage stay hidden after this step.

    A pace with a field `steps` ends each stage at that many: the last step shows all, another may show none.
    A pace without it shows at least one position of every row.
    """

    def __call__(self, belief: Belief, score: Float[Tensor, " n"]) -> Int[Tensor, " B"]:
        raise StrategyError(f"{type(self).__name__} is a pace without __call__(belief, score): write that method")

    def shares(self, state: State) -> tuple[Float[Tensor, " B"], Float[Tensor, " B"]] | None:
        """The shares that its schedule wants shown before and after this step; None without a number of steps."""
        steps = getattr(self, "steps", None)
        return None if steps is None else elapsed(state, steps)


def left_by(pace: Pace, belief: Belief, score: Float[Tensor, " n"]) -> Int[Tensor, " B"]:
    """How many the pace leaves hidden."""
    left = pace(belief.seen_by(pace), score)
    expect(left, pace, "how many stay hidden", tuple(belief.state.row.shape), WHOLES)
    return left


def at_least_one(belief: Belief, count: Int[Tensor, " B"]) -> Int[Tensor, " B"]:
    """What stays hidden when `count` positions, but no fewer than one, are shown."""
    return (belief.waiting - count.clamp(min=1)).clamp(min=0)


def prefix(fits: Bool[Tensor, "B L"]) -> Int[Tensor, " B"]:
    """How many of a row's first entries are True before the first that is not."""
    return fits.long().cumprod(1).sum(1)


def elapsed(state: State, steps: int) -> tuple[Float[Tensor, " B"], Float[Tensor, " B"]]:
    """The share of the stage's steps that are over before and after this one."""
    return state.stage_step.double() / steps, (state.stage_step + 1).double() / steps
