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
    """Same seed, same trace; a row's trace is the same alone, in any batch, in any order, padded or not."""
    together = record(decode(denoise, state, strategy), candidates=2)
    assert together == record(decode(denoise, state, strategy), candidates=2), "the same seed, another trace"
    backwards = torch.arange(len(state)).flip(0)
    reversed_ = record(decode(denoise, state.select(backwards), strategy), candidates=2)
    padded = record(decode(denoise, pad(state, left=2, right=3), strategy), candidates=2)
    for number in alone:
        one = torch.tensor([number])
        here = together.select(one)
        single = record(decode(denoise, state.select(one), strategy), candidates=2)
        assert same_row(here, single), f"{strategy}: row {number} differs when decoded alone"
        there = reversed_.select(len(state) - 1 - one)
        assert same_row(here, there), f"{strategy}: row {number} differs in a batch in another order"
        around = padded.select(one)
        assert same_row(here, unpad(around, left=2, right=3)), f"{strategy}: row {number} differs when padded"


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


def same_row(one: Trace, other: Trace) -> bool:
    """Equal to the last bit; only the calls that a whole batch shares may differ."""
    return replace(one, denoiser_calls=0) == replace(other, denoiser_calls=0)


def same_state(one: State, other: State) -> bool:
    """Equal to the last bit, memory and clocks included."""
    names = [n for n in vars(one) if isinstance(getattr(one, n), Tensor)]
    tables = [(getattr(one, n), getattr(other, n)) for n in names]
    tables += [(one.memory[n], other.memory[n]) for n in {*one.memory, *other.memory}]
    return all(a.shape == b.shape and bool(a.eq(b).logical_or(a.ne(a) & b.ne(b)).all()) for a, b in tables)
