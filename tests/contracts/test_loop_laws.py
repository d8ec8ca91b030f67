"""Laws 4 and 5: a row is decoded as if it were alone and as if nobody ever stopped; what is given stays."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from compositions import LENGTH, LONG, strategies
from laws import (
    SMALLEST_P,
    law_4_another_strategy,
    law_4_hidden_again,
    law_4_resumed,
    law_4_row_by_row,
    law_5_keeps_what_is_given,
    law_5_what_is_hidden_cannot_be_seen,
)
from narrow import evens
from scipy import stats
from test_wrappers import wrapped
from toys import Toy, blank

from unmask.decode import decode
from unmask.state import State
from unmask.strategies import LITERATURE, named
from unmask.strategy import Strategy, find, parse
from unmask.trace import record
from unmask.windows.whole import whole

EVERY = {str(strategy): strategy for strategy in strategies()}
EVERY |= {name: named(name) for name in LITERATURE}


def length_for(name: str) -> int:
    """The literature's samplers take more than one block, and time to move; parts are tried where it is quick."""
    return LONG if name in LITERATURE else LENGTH


def rows(batch: int, length: int = LENGTH):
    """Rows with different numbers of hidden positions, so that they finish at different steps."""
    state = blank(batch, length, seed=11, given=0.4)
    assert len(set(state.hidden.sum(1).tolist())) > min(batch, 4) - 2
    return state


def bound(strategy: Strategy) -> int:
    """The most steps that decoding may take: every stage its steps, or one position at a time."""
    return LONG * (strategy.steps or 1)


OTHER = "klass, evenly(7), sample, blocks(9)"
TOYS = {length: Toy(length, sharpness=1.5, floor=3.0) for length in (LENGTH, LONG)}
SURE = TOYS[LENGTH]
"""Beliefs in which some positions are certain: their probability is 1, their entropy 0, their log margin infinite."""


def test_some_positions_are_certain():
    state = rows(8)
    possible = SURE(state, state.hidden).isfinite().sum(1)
    assert bool((possible == 1).any())
    assert bool((possible > 2).any())


@pytest.mark.parametrize("name", EVERY)
def test_law_4_a_row_alone_in_a_batch_reversed_padded(name):
    law_4_row_by_row(EVERY[name], TOYS[length_for(name)], rows(64, length_for(name)), alone=())


@pytest.mark.parametrize("text", ["margin, per_step(3), sample", "random, ancestral(9), sample, remdm('cap')"])
@pytest.mark.parametrize("name", wrapped(Toy(LENGTH), LENGTH))
def test_law_4_holds_through_wrappers(name, text):
    law_4_row_by_row(parse(text), wrapped(Toy(LENGTH, sharpness=1.5), LENGTH)[name], rows(9), alone=(0, 5))


@pytest.mark.parametrize("name", EVERY)
def test_law_4_resumed_from_every_step(name):
    law_4_resumed(EVERY[name], TOYS[length_for(name)], rows(3, length_for(name)))


@pytest.mark.parametrize("name", EVERY)
def test_law_4_another_strategy_begins_with_what_is_shown(name):
    law_4_another_strategy(EVERY[name], SURE, rows(3), OTHER)


@pytest.mark.parametrize("name", EVERY)
def test_law_4_what_is_hidden_again_is_shown_again(name):
    law_4_hidden_again(EVERY[name], SURE, rows(3))


@pytest.mark.parametrize("name", EVERY)
def test_law_5_given_and_shown_positions_stay_and_decoding_ends(name):
    strategy, state = EVERY[name], rows(16, length_for(name))
    steps = decode(TOYS[length_for(name)], state, strategy)
    law_5_keeps_what_is_given(steps, state, revised=strategy.revision is not None, most=bound(strategy))


@pytest.mark.parametrize("name", EVERY)
def test_what_lies_under_hidden_positions_cannot_be_seen(name):
    law_5_what_is_hidden_cannot_be_seen(EVERY[name], SURE, rows(8), other=4)


NEVER = ('lowest("never", "rewrite")', 'lowest("never", "keep")', "p2(0.0)")
ORDERS = [
    *(find(name)() for name in ("log_margin", "log_chosen_probability", "entropy", "hierarchical", "klass")),
    evens(),
]
PACES = ("evenly(8)", 'evenly(8, "down")', "cosine(8)", "ancestral(8)", "looped(8)")


@pytest.mark.parametrize("revision", NEVER)
@pytest.mark.parametrize("pace", PACES)
def test_never_is_never(revision, pace):
    """What is shown stays shown, however certain the hidden positions are, whatever the oracle; drafts included."""
    draft = decode(SURE, rows(6), "random, per_step(8), sample")
    starts = [rows(6), next(draft).state, draft.finish()]
    for oracle in ORDERS:
        strategy = dataclasses.replace(parse(f"margin, {pace}, sample, {revision}"), oracle=oracle)
        for start in starts:
            for step in decode(SURE, start, strategy):
                again = step.after.hidden & ~step.before.hidden
                assert not again.any(), f"{strategy}: a shown position was hidden"


@pytest.mark.parametrize("revision", ["lowest", 'lowest("again", "keep")', "p2(2.0)", 'remdm("cap", 0.5)'])
def test_a_draft_is_revised_once_over_all_blocks(revision):
    draft = decode(SURE, rows(6), "random, per_step(8), sample").finish()
    looked = torch.zeros_like(draft.hidden)
    steps = decode(SURE, draft, f"log_chosen_probability, evenly(4), sample, {revision}, blocks(7)")
    for step in steps:
        looked[step.rows] |= step.before.window & ~step.before.given
        assert bool((step.before.window.sum(1) <= 7).all())
    assert torch.equal(looked, ~draft.given)
    free = (~draft.given).long()
    first, last = free.argmax(1), LENGTH - 1 - free.flip(1).argmax(1)
    stages = torch.tensor([len(range(int(a), int(b) + 1, 7)) for a, b in zip(first, last, strict=True)])
    gaps = torch.tensor([sum(not free[r, a : a + 7].any() for a in range(int(first[r]), LENGTH, 7)) for r in range(6)])
    assert torch.equal(steps.state.step - draft.step, (stages - gaps) * 4)
    assert not steps.state.hidden.any()
    assert next(decode(SURE, steps.state, steps.strategy), None) is None


@pytest.mark.parametrize("pace", ["ancestral(2)", "looped(2, 0.6, 0.4, 0.5)"])
def test_a_binomial_pace_counts_what_the_oracle_does_not_ask_about(pace):
    """Of 4 open positions half are due, 2 are asked about: 2, 3 or 4 stay hidden with probabilities 11, 4, 1 of 16."""
    everything = torch.ones((20_000, 4), dtype=torch.bool)
    state = State.start(everything.long(), everything, seed=3)
    strategy = dataclasses.replace(parse(f"margin, {pace}, greedy"), oracle=evens())
    left = next(decode(Toy(4), state, strategy)).after.hidden.sum(1)
    counts = left.bincount(minlength=5)[2:].tolist()
    assert sum(counts) == 20_000
    assert stats.chisquare(counts, [20_000 * share / 16 for share in (11, 4, 1)]).pvalue > SMALLEST_P


WHOLE = {name: strategy for name, strategy in EVERY.items() if strategy.window == whole()}


@pytest.mark.parametrize("name", WHOLE)
def test_law_3_one_block_of_all_is_the_whole(name):
    """From a fresh State; `blocks` says for what it is otherwise."""
    block = dataclasses.replace(WHOLE[name], window=parse(f"margin, per_step(1), greedy, blocks({LENGTH})").window)
    one, other = (record(decode(SURE, rows(6), strategy)) for strategy in (WHOLE[name], block))
    scaled = "calibrated" in name  # by the window's beginning: another score, and the same order
    assert dataclasses.replace(other, strategy=one.strategy, score=one.score if scaled else other.score) == one
