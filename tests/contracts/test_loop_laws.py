"""Laws 4 and 5: a row is decoded as if it were alone and as if nobody ever stopped; what is given stays."""

from __future__ import annotations

import pytest
import torch
from compositions import LENGTH, strategies
from laws import law_4_resumed, law_4_row_by_row, law_5_keeps_what_is_given
from toys import Toy, blank

from unmask.decode import decode
from unmask.strategies import LITERATURE, named
from unmask.strategy import Strategy

EVERY = {str(strategy): strategy for strategy in strategies()}
EVERY |= {name: named(name) for name in LITERATURE}


def rows(batch: int):
    """Rows with different numbers of hidden positions, so that they finish at different steps."""
    state = blank(batch, LENGTH, seed=11, given=0.4)
    assert len(set(state.hidden.sum(1).tolist())) > min(batch, 4) - 2
    return state


def bound(strategy: Strategy) -> int:
    """The most steps that decoding may take: every stage its steps, or one position at a time."""
    return LENGTH * (strategy.steps or 1)


@pytest.mark.parametrize("name", EVERY)
def test_law_4_a_row_alone_in_a_batch_reversed_padded(name):
    law_4_row_by_row(EVERY[name], Toy(LENGTH, sharpness=1.5), rows(64), alone=(0, 1, 17, 63))


@pytest.mark.parametrize("name", EVERY)
def test_law_4_resumed_from_every_step(name):
    law_4_resumed(EVERY[name], Toy(LENGTH, sharpness=1.5), rows(3))


@pytest.mark.parametrize("name", EVERY)
def test_law_5_given_and_shown_positions_stay_and_decoding_ends(name):
    strategy, state = EVERY[name], rows(16)
    steps = decode(Toy(LENGTH, sharpness=1.5), state, strategy)
    law_5_keeps_what_is_given(steps, state, revised=strategy.revision is not None, most=bound(strategy))


@pytest.mark.parametrize("name", EVERY)
def test_what_lies_under_hidden_positions_cannot_be_seen(name):
    """The same rows with other tokens under the hidden positions decode alike: nothing can leak."""
    state = rows(8)
    other = type(state).start(torch.where(state.hidden, 4, state.tokens), state.hidden, seed=state.seed)
    strategy, toy = EVERY[name], Toy(LENGTH)
    assert torch.equal(decode(toy, state, strategy).finish().tokens, decode(toy, other, strategy).finish().tokens)
