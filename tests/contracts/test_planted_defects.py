"""The laws must bite: each defect here is one that they exist to catch, and they are held to catching it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
import torch
from compositions import LENGTH, LONG
from laws import (
    law_1_samples_the_joint,
    law_4_resumed,
    law_4_row_by_row,
    law_5_keeps_what_is_given,
    law_5_what_is_hidden_cannot_be_seen,
)
from test_loop_laws import rows
from toys import Toy, blank

from unmask import noise
from unmask.belief import Belief
from unmask.decode import decode
from unmask.errors import StrategyError
from unmask.oracles import Oracle
from unmask.paces import Pace
from unmask.revisions import Revision
from unmask.strategy import Strategy, parse
from unmask.windows.blocks import blocks

VANILLA = parse("random, per_step(1), sample")


@dataclass(frozen=True)
class offers_given(Oracle):
    """Asks about given cells too."""

    def ask(self, state):
        return state.present

    def score(self, belief):
        return belief.log_top


@dataclass(frozen=True)
class never_ends(Pace):
    """Shows nothing."""

    def __call__(self, belief, score):
        return belief.waiting


@dataclass(frozen=True)
class takes_back_given(Revision):
    """Takes back whatever is not hidden."""

    def back(self, belief):
        return ~belief.state.hidden


@dataclass(frozen=True)
class counts_batches(Oracle):
    """Scores by the row's place in the batch, not by its key."""

    def score(self, belief):
        return (belief.index * belief.flat % 7).double()


@dataclass(frozen=True)
class remembers_outside(Oracle):
    """Keeps its memory in a place that no State carries along."""

    def score(self, belief):
        _SEEN.append(1)
        return belief.place.double() * (-1) ** len(_SEEN)


_SEEN: list[int] = []


@dataclass(frozen=True)
class reads_hidden(Oracle):
    """Scores by the token under a hidden position."""

    def score(self, belief):
        return belief.state.tokens.view(-1)[belief.flat] * 9.0 + belief.log_top


@dataclass(frozen=True)
class reads_the_clock_of_others(Oracle):
    """Scores by how long the stage has lasted in the first row of the batch."""

    def score(self, belief):
        return belief.log_top * (-1) ** int(belief.state.stage_step[0] // 9)


def swap(
    oracle=VANILLA.oracle, pace=VANILLA.pace, choice=VANILLA.choice, revision=None, window=VANILLA.window
) -> Strategy:
    return Strategy(oracle, pace, choice, revision, window)


def test_an_oracle_that_offers_a_given_cell_is_refused():
    with pytest.raises(StrategyError, match="which is not open"):
        decode(Toy(LENGTH), rows(4), swap(oracle=offers_given())).finish()


def test_a_pace_that_never_ends_is_refused():
    with pytest.raises(StrategyError, match="cannot go on"):
        decode(Toy(LENGTH), rows(4), swap(pace=never_ends())).finish()


def test_a_revision_cannot_touch_what_is_given():
    """The loop itself holds law 5 against a revision that would take back anything."""
    strategy = swap(pace=parse("random, evenly(4), sample").pace, revision=takes_back_given())
    state = rows(8)
    law_5_keeps_what_is_given(decode(Toy(LENGTH), state, strategy), state, revised=True, most=4)


def test_law_1_catches_order_and_value_on_one_stream(monkeypatch):
    honest = Belief.noise
    monkeypatch.setattr(Belief, "noise", lambda self, stream, **options: honest(self, "one stream", **options))
    with pytest.raises(AssertionError, match="do not follow the joint"):
        law_1_samples_the_joint(VANILLA)


def test_law_1_catches_noise_that_forgets_the_step(monkeypatch):
    """The same uniform for a position at every step: what was scored low stays low, and values repeat."""
    honest = noise.key
    monkeypatch.setattr(noise, "key", lambda seed, stream, row, step: honest(seed, "all", row, step * 0))
    with pytest.raises(AssertionError, match="do not follow the joint"):
        law_1_samples_the_joint(VANILLA)


def test_law_4_catches_noise_that_depends_on_the_batch(monkeypatch):
    honest = noise.key
    by_batch = lambda seed, stream, row, step: honest(seed, stream, torch.arange(len(row)), step)  # noqa: E731
    monkeypatch.setattr(noise, "key", by_batch)
    with pytest.raises(AssertionError, match="differs"):
        law_4_row_by_row(VANILLA, Toy(LENGTH), rows(8), alone=(0, 5))


def test_law_4_catches_noise_that_counts_padding(monkeypatch):
    honest = noise.at
    monkeypatch.setattr(noise, "at", lambda word, position: honest(word, torch.arange(position.numel())))
    with pytest.raises(AssertionError, match="differs"):
        law_4_row_by_row(VANILLA, Toy(LENGTH), rows(8), alone=(0, 5))


def test_law_4_catches_scores_that_depend_on_the_batch():
    with pytest.raises(AssertionError, match="differs"):
        law_4_row_by_row(swap(oracle=counts_batches()), Toy(LENGTH), rows(8), alone=(0, 5))


def test_law_4_catches_noise_that_is_drawn_and_not_counted(monkeypatch):
    torch.manual_seed(0)
    monkeypatch.setattr(noise, "at", lambda word, position: torch.rand(position.shape, dtype=torch.float64))
    with pytest.raises(AssertionError, match="same seed"):
        law_4_row_by_row(VANILLA, Toy(LENGTH), rows(8), alone=(0,))


def test_law_4_catches_what_shows_only_in_long_rows():
    with pytest.raises(AssertionError, match="differs"):
        law_4_row_by_row(
            swap(oracle=reads_the_clock_of_others(), window=blocks(16)), Toy(LONG), rows(8, LONG), alone=(5,)
        )


def test_law_5_catches_what_reads_hidden_tokens():
    start = replace(rows(8), tokens=torch.where(rows(8).hidden, torch.arange(LENGTH) % 2, rows(8).tokens))
    with pytest.raises(AssertionError, match="reads what is hidden"):
        law_5_what_is_hidden_cannot_be_seen(swap(oracle=reads_hidden()), Toy(LENGTH), start, other=1)


def test_law_4_catches_a_memory_outside_the_state():
    with pytest.raises(AssertionError, match="resumed"):
        law_4_resumed(swap(oracle=remembers_outside()), Toy(LENGTH), blank(1, LENGTH))


@pytest.mark.parametrize("defect", ["shown", "given", "hidden again", "endless", "unfinished"])
def test_law_5_catches_steps_that_break_it(defect):
    """Steps as a broken loop would yield them."""
    state = rows(4)
    steps = list(decode(Toy(LENGTH), state, VANILLA))

    def broken():
        for number, step in enumerate(steps):
            after = step.state
            if number == len(steps) - 2 and defect in ("shown", "given", "hidden again"):
                where = state.given if defect == "given" else ~after.hidden & ~state.given
                if defect == "hidden again":
                    after = replace(after, hidden=after.hidden | where)
                else:
                    after = replace(after, tokens=torch.where(where, 4 - after.tokens, after.tokens) + where)
            if defect == "unfinished" and number == len(steps) - 1:
                return
            yield _Fake(after)
        while defect == "endless":
            yield _Fake(after)

    with pytest.raises(AssertionError):
        law_5_keeps_what_is_given(broken(), state, revised=False, most=LENGTH)


def test_law_5_passes_the_same_steps_unbroken():
    state = rows(4)
    fakes = [_Fake(step.state) for step in decode(Toy(LENGTH), state, VANILLA)]
    law_5_keeps_what_is_given(fakes, state, revised=False, most=LENGTH)


class _Fake:
    def __init__(self, state) -> None:
        self.state = state
