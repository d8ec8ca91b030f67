"""The laws as functions that raise AssertionError, so that they can be held against defects as well as against us.

Numbers are those of docs/architecture.md. Each takes what it needs to be broken: a strategy, a denoiser, Steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import torch
from scipy import stats
from torch import Tensor

from unmask.belief import Denoiser
from unmask.decode import Step, decode
from unmask.exact.enumeration import Enumeration
from unmask.state import State
from unmask.strategy import Strategy
from unmask.trace import Trace, record

DRAWS = 20_000
SMALLEST_P = 1e-5
"""A right sampler fails one test in 100,000; seeds are fixed, so that a pass stays a pass."""


def joint(length: int = 4, values: int = 3, seed: int = 3) -> tuple[Tensor, Tensor]:
    """A small joint distribution with strong dependence: all rows, and uneven weights, a third of them 0."""
    support = torch.cartesian_prod(*[torch.arange(values)] * length)
    draw = torch.Generator().manual_seed(seed)
    weights = torch.rand(len(support), generator=draw, dtype=torch.float64) ** 4
    return support, torch.where(torch.rand(len(support), generator=draw) < 0.35, 0.0, weights)


def law_1_samples_the_joint(strategy: Strategy, draws: int = DRAWS) -> None:
    """Exact beliefs, one position at a time, values sampled: any order samples the exact joint (chi-square)."""
    support, weights = joint()
    state = State.start(torch.zeros(draws, 4, dtype=torch.int64), torch.ones(draws, 4, dtype=torch.bool), seed=7)
    steps = decode(Enumeration(support, weights, values=3), state, strategy)
    for step in steps:
        assert int(step.shown.sum(1).max()) <= 1, "the law is about one position at a time"
    code = (steps.state.tokens * torch.tensor([27, 9, 3, 1])).sum(1)
    counts = torch.bincount(code, minlength=81).numpy()
    expected = (weights / weights.sum() * draws).numpy()
    assert counts[expected == 0].sum() == 0, "an impossible row was sampled"
    rare = (expected > 0) & (expected < 5)
    seen = [*counts[expected >= 5], counts[rare].sum()]
    due = [*expected[expected >= 5], expected[rare].sum()]
    p = stats.chisquare(seen, due).pvalue if due[-1] > 0 else stats.chisquare(seen[:-1], due[:-1]).pvalue
    assert p > SMALLEST_P, f"{strategy}: samples do not follow the joint distribution (p = {p:.2g})"


def law_4_row_by_row(strategy: Strategy, denoise: Denoiser, state: State, alone: Iterable[int]) -> None:
    """Same seed, same trace; a row's trace is the same alone, in any batch, in any order, padded or not.

    Every row is compared in smaller batches of several sizes, in another order and padded, and some of them alone.
    """
    together = record(decode(denoise, state, strategy), candidates=2)
    assert together == record(decode(denoise, state, strategy), candidates=2), "the same seed, another trace"
    everyone = torch.arange(len(state))
    reversed_ = record(decode(denoise, state.select(everyone.flip(0)), strategy), candidates=2)
    same_rows(together, reversed_.select(everyone.flip(0)), f"{strategy}: row %d differs in a batch in another order")
    padded = record(decode(denoise, pad(state, left=2, right=3), strategy), candidates=2)
    same_rows(together, unpad(padded, left=2, right=3), f"{strategy}: row %d differs when padded")
    for some in torch.tensor_split(everyone, [n for n in (1, 21) if n < len(state)]):
        fewer = record(decode(denoise, state.select(some), strategy), candidates=2)
        same_rows(together.select(some), fewer, f"{strategy}: row %d differs in a smaller batch")
    for number in alone:
        one = torch.tensor([number])
        single = record(decode(denoise, state.select(one), strategy), candidates=2)
        same_rows(together.select(one), single, f"{strategy}: row %d differs when decoded alone")


def law_4_resumed(strategy: Strategy, denoise: Denoiser, state: State) -> None:
    """Going on from any Step's state equals never having stopped: from one by itself, and from all in one batch."""
    steps = decode(denoise, state, strategy)
    stops = [step.state for step in steps]
    resumed = decode(denoise, stops[len(stops) // 2], strategy).finish()
    assert same_state(resumed, steps.state), f"{strategy}: resumed after step {len(stops) // 2}, another end"
    together = decode(denoise, State.join(stops), strategy).finish()  # rows at every clock side by side
    for number in range(len(stops)):
        rows = torch.arange(len(state)) + number * len(state)
        assert same_state(together.select(rows), steps.state), f"{strategy}: resumed after step {number}, another end"


def law_4_another_strategy(strategy: Strategy, denoise: Denoiser, state: State, before: str) -> None:
    """To a strategy that was not at work on it, a State is what is shown: no clock of a stage, no window, no memory."""
    steps = decode(denoise, state, before)
    for _ in range(3):
        next(steps)
    middle = steps.state
    assert middle.strategy != str(strategy)
    anew = State.start(
        middle.tokens, middle.hidden, given=middle.given, present=middle.present, seed=middle.seed, row=middle.row
    )
    anew = replace(anew, step=middle.step, shown_probability=middle.shown_probability)
    gone_on, begun = decode(denoise, middle, strategy).finish(), decode(denoise, anew, strategy).finish()
    assert same_state(gone_on, begun), f"{strategy}: what {before} left behind changes the end"


def law_4_hidden_again(strategy: Strategy, denoise: Denoiser, state: State) -> None:
    """A position that is hidden again by hand is shown again, and nothing else is touched without a revision."""
    end = decode(denoise, state, strategy).finish()
    assert same_state(decode(denoise, end, strategy).finish(), end), f"{strategy}: the end is not the end"
    shown = (state.hidden & (torch.arange(state.hidden.shape[1]) % 3 == 1)).long().argmax(1, keepdim=True)
    again = torch.zeros_like(state.hidden).scatter(1, shown, True) & ~state.given
    hidden = replace(end, hidden=end.hidden | again, tokens=end.tokens.masked_fill(again, 0))
    after = decode(denoise, hidden, strategy).finish()
    assert not after.hidden.any(), f"{strategy}: what was hidden again stays hidden"
    if strategy.revision is None:
        assert torch.equal(after.tokens[~again], end.tokens[~again]), f"{strategy}: other positions changed"


def law_5_what_is_hidden_cannot_be_seen(strategy: Strategy, denoise: Denoiser, state: State, other: int) -> None:
    """The same rows with another value under the hidden positions decode alike, as long as these are hidden."""
    planted = replace(state, tokens=torch.where(state.hidden, other, state.tokens))
    one, two = (record(decode(denoise, start, strategy)) for start in (state, planted))
    same_rows(one, two, f"{strategy}: row %d reads what is hidden")


def law_5_keeps_what_is_given(steps: Iterable[Step], start: State, *, revised: bool, most: int) -> None:
    """A given position is never touched; with no revision a shown one is never changed; decoding ends."""
    before, number = start, 0
    for number, step in enumerate(steps, start=1):
        after = step.state
        assert torch.equal(after.tokens[start.given], start.tokens[start.given]), "a given position was changed"
        assert not after.hidden[start.given].any(), "a given position was hidden"
        assert not after.hidden[~start.present].any(), "an absent position was hidden"
        assert torch.equal(after.tokens[~start.present], start.tokens[~start.present]), "an absent position was changed"
        if not revised:
            assert not (after.hidden & ~before.hidden).any(), "a shown position was hidden, with no revision"
            shown = ~before.hidden
            assert torch.equal(after.tokens[shown], before.tokens[shown]), "a shown position was changed"
        assert number <= most, f"decoding did not end within {most} steps"
        before = after
    assert not before.hidden.any(), "decoding ended with hidden positions"


def pad(state: State, *, left: int, right: int) -> State:
    """The same rows with absent positions around them, which hold arbitrary tokens."""

    def around(tensor: Tensor, fill: int | bool) -> Tensor:
        sides = [tensor.new_full((len(state), n), fill) for n in (left, right)]
        return torch.cat([sides[0], tensor, sides[1]], dim=1)

    return State.start(
        around(state.tokens, 1),
        around(state.hidden, False),
        given=around(state.given, False),
        present=around(state.present, False),
        seed=state.seed,
        row=state.row,
    )


def unpad(trace: Trace, *, left: int, right: int) -> Trace:
    """The trace as if the padding had not been there."""
    length = trace.tokens.shape[1]
    cut = {
        name: getattr(trace, name)[:, left : length - right]
        for name in ("tokens", "given", "present", "hidden", "step", "score", "probability")
    }
    events, asked = trace.events.clone(), trace.asked.clone()
    events[:, 2] -= left
    asked[:, 2] -= left
    return replace(trace, **cut, events=events, asked=asked)


def same_rows(one: Trace, other: Trace, message: str) -> None:
    """Equal to the last bit; only the calls that a whole batch shares may differ."""
    one, other = replace(one, denoiser_calls=0), replace(other, denoiser_calls=0)
    if one == other:
        return
    for number in range(len(one)):
        index = torch.tensor([number])
        assert one.select(index) == other.select(index), message % int(one.row[number])
    raise AssertionError(message % -1)


def same_state(one: State, other: State) -> bool:
    """Equal to the last bit, memory and clocks included."""
    if (one.seed, one.steps, one.strategy, {*one.memory}) != (other.seed, other.steps, other.strategy, {*other.memory}):
        return False
    names = [n for n in vars(one) if isinstance(getattr(one, n), Tensor)]
    tables = [(getattr(one, n), getattr(other, n)) for n in names]
    tables += [(one.memory[n], other.memory[n]) for n in one.memory]
    return all(a.shape == b.shape and bool(a.eq(b).logical_or(a.ne(a) & b.ne(b)).all()) for a, b in tables)
