"""Wrappers: neutral settings change nothing, the others do what a sheet of paper says, fixed shapes fix the bits."""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable
from dataclasses import replace

import numpy
import pytest
import torch
from torch import Tensor, nn
from toys import Stored, Toy, blank

import unmask.wrappers
from unmask.belief import Belief, Denoiser
from unmask.decode import decode
from unmask.errors import UnmaskError
from unmask.exact.enumeration import Enumeration
from unmask.state import State
from unmask.trace import record
from unmask.wrappers.constrained import constrained
from unmask.wrappers.fixed_shape import fixed_shape
from unmask.wrappers.guided import guided
from unmask.wrappers.tempered import tempered

INFINITY = math.inf
LENGTH, VALUES = 12, 5

NEUTRAL: dict[str, Callable[[Denoiser], Denoiser]] = {
    "constrained": lambda inner: constrained(inner, torch.ones((LENGTH, VALUES), dtype=torch.bool)),
    "fixed_shape": lambda inner: fixed_shape(inner, rows=3),
    "guided": lambda inner: guided(inner, 0.0),
    "tempered": lambda inner: tempered(inner, 1.0, 1.0),
}
"""For every wrapper, the settings with which it should change nothing: a new wrapper needs its line here."""

OTHERS: dict[str, Callable[[Denoiser], Denoiser]] = {
    "constrained": lambda inner: constrained(inner, torch.arange(LENGTH * VALUES).view(LENGTH, VALUES) % 3 > 0),
    "fixed_shape": lambda inner: fixed_shape(inner),
    "guided": lambda inner: guided(inner, 1.5),
    "tempered": lambda inner: tempered(inner, 0.5, 0.75),
}


def wrapped(inner: Denoiser, length: int) -> dict[str, Denoiser]:
    """The wrappers around a denoiser of so many places, for the laws."""
    return {
        "constrained": constrained(inner, torch.arange(length * VALUES).view(length, VALUES) % 3 > 0),
        "fixed_shape": fixed_shape(inner, rows=4),
        "guided": guided(inner, 1.5),
        "tempered": tempered(inner, 0.5),
    }


def half_way(batch: int = 7) -> State:
    """A State in the middle of things: given, shown, hidden and (at the right) absent positions."""
    state = blank(batch, LENGTH, given=0.3)
    present = torch.arange(LENGTH) < 10
    state = State.start(
        state.tokens, state.hidden & present, given=state.given & present, present=present.expand(batch, -1)
    )
    steps = decode(Toy(LENGTH, VALUES), state, "random, per_step(2), sample")
    next(steps)
    return next(steps).after


def some_of(state: State) -> Tensor:
    draw = torch.rand(state.hidden.shape, generator=torch.Generator().manual_seed(0))
    return (draw < 0.7) & state.present


def test_every_wrapper_is_tested() -> None:
    found = {module.name for module in pkgutil.iter_modules(unmask.wrappers.__path__)}
    assert found == NEUTRAL.keys() == OTHERS.keys() == wrapped(Toy(), LENGTH).keys()
    for name in found:
        kind = getattr(importlib.import_module(f"unmask.wrappers.{name}"), name)
        assert isinstance(NEUTRAL[name](Toy()), kind)
        assert isinstance(OTHERS[name](Toy()), kind)


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", NEUTRAL)
def test_neutral_settings_change_nothing(name: str, kind: torch.dtype) -> None:
    def inner(state: State, asked: Tensor) -> Tensor:
        return Toy(LENGTH, VALUES)(state, asked).to(kind)

    state = half_way()
    for asked in (some_of(state), state.hidden, torch.ones_like(state.hidden)):
        found, expected = NEUTRAL[name](inner)(state, asked), inner(state, asked)
        assert found.dtype == kind
        assert torch.equal(found, expected)


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_asked_picks_from_everything(name: str) -> None:
    state = half_way()
    everything = OTHERS[name](Toy())(state, torch.ones_like(state.hidden))
    for asked in (some_of(state), state.hidden):
        found = OTHERS[name](Toy())(state, asked)
        assert torch.equal(found, everything.view(*asked.shape, VALUES)[asked])


@pytest.mark.parametrize("name", OTHERS)
def test_bits_do_not_depend_on_the_batch(name: str) -> None:
    state = half_way()
    together = decode(OTHERS[name](Toy()), state, "margin, per_step(1), sample").finish()
    for row in range(len(state)):
        one = state.select(torch.tensor([row]))
        alone = decode(OTHERS[name](Toy()), one, "margin, per_step(1), sample").finish()
        assert torch.equal(alone.tokens[0], together.tokens[row])
        assert torch.equal(alone.shown_probability[0].nan_to_num(), together.shown_probability[row].nan_to_num())


@pytest.mark.parametrize("name", OTHERS)
def test_wrappers_wrap_wrappers(name: str) -> None:
    for outer in OTHERS:
        state = half_way()
        logits = OTHERS[outer](OTHERS[name](Toy()))(state, state.hidden)
        assert logits.shape == (int(state.hidden.sum()), VALUES)
        assert not logits.isnan().any()


# tempered


def probabilities(logits: Tensor) -> list[list[float]]:
    state = blank(1, len(logits))
    return Belief(state, state.hidden, lambda state, asked: logits).probabilities.tolist()


LOGITS = torch.tensor([[0.5, -1.25, 2.0, 0.75, -INFINITY], [0.0, 0.0, -3.0, 1.0, 0.0]], dtype=torch.float64)


def tempered_by_hand(logits: list[float], temperature: float, top_p: float) -> list[float]:
    powers = numpy.exp(numpy.array(logits)) ** (1 / temperature)
    shares = powers / powers.sum()
    kept = numpy.zeros_like(shares)
    for value in sorted(range(len(logits)), key=lambda value: (-shares[value], value)):
        if kept.sum() < top_p:
            kept[value] = shares[value]
    return (kept / kept.sum()).tolist()


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("top_p", [0.05, 0.6, 0.93, 1.0])
def test_tempered_by_hand(temperature: float, top_p: float) -> None:
    denoise = tempered(Stored(LOGITS[None]), temperature, top_p)
    state = blank(1, 2)
    found = probabilities(denoise(state, state.hidden))
    for one, logits in zip(found, LOGITS.tolist(), strict=True):
        assert one == pytest.approx(tempered_by_hand(logits, temperature, top_p), abs=1e-13)


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan])
def test_tempered_refuses_other_temperatures(temperature: float) -> None:
    with pytest.raises(UnmaskError, match=r"^tempered\(inner, temperature\): temperature must be above 0, got "):
        tempered(Toy(), temperature)


@pytest.mark.parametrize("top_p", [0.0, -0.5, 1.01, math.nan])
def test_tempered_refuses_other_masses(top_p: float) -> None:
    with pytest.raises(UnmaskError, match=r"^tempered\(inner, \.\.\., top_p\): top_p must be above 0 and at most 1, "):
        tempered(Toy(), 1.0, top_p)


# guided


@pytest.mark.parametrize("scale", [-1.0, -0.5, 0.5, 3.0])
def test_guided_by_hand(scale: float) -> None:
    state, toy = half_way(), Toy(LENGTH, VALUES)
    asked = some_of(state)
    blind = State.start(state.tokens, state.hidden | state.given, present=state.present)
    with_prompt, without = toy(state, asked), toy(blind, asked)
    found = guided(toy, scale)(state, asked)
    for one, known, unknown in zip(found.tolist(), with_prompt.tolist(), without.tolist(), strict=True):
        assert one == pytest.approx([u + (scale + 1) * (k - u) for k, u in zip(known, unknown, strict=True)])
    assert not torch.equal(with_prompt, without)


def test_guided_hides_the_prompt_and_only_the_prompt() -> None:
    state, seen = half_way(), []

    def spy(state: State, asked: Tensor) -> Tensor:
        seen.append((state, asked))
        return Toy(LENGTH, VALUES)(state, asked)

    guided(spy, 2.0)(state, state.hidden)
    (known, asked), (blind, asked_blind) = seen
    assert known is state
    assert torch.equal(asked, asked_blind)
    assert torch.equal(blind.hidden, state.hidden | state.given)
    assert not (blind.hidden & blind.given).any()
    assert not (blind.hidden & ~blind.present).any()
    assert not blind.tokens[blind.hidden].any()
    assert torch.equal(blind.tokens[~blind.hidden], state.tokens[~blind.hidden])
    assert bool((state.present & ~blind.hidden).any())


def test_guided_never_hides_what_is_absent() -> None:
    """Padding is not given, whether or not the caller said what is."""
    hidden = torch.tensor([[False, True, False]])
    present = torch.tensor([[True, True, False]])
    state = State.start(torch.ones((1, 3), dtype=torch.int64), hidden, present=present)
    seen = []

    def spy(state: State, asked: Tensor) -> Tensor:
        seen.append(state)
        return torch.zeros((1, 2))

    guided(spy, 1.0)(state, hidden)
    assert seen[1].hidden.tolist() == [[True, True, False]]


def test_guided_asks_once_at_scale_0_and_twice_otherwise() -> None:
    for scale, expected in ((0.0, 1), (1.0, 2)):
        calls = []

        def spy(state: State, asked: Tensor, calls: list = calls) -> Tensor:
            calls.append(asked)
            return Toy()(state, asked)

        state = half_way()
        guided(spy, scale)(state, state.hidden)
        assert len(calls) == expected


@pytest.mark.parametrize("scale", [-0.5, 1.0, 4.0])
def test_guided_leaves_the_impossible_impossible(scale: float) -> None:
    support = torch.tensor([[0, 0, 0], [0, 1, 2], [1, 2, 1], [1, 0, 0], [1, 2, 2]])
    exact = Enumeration(support, torch.tensor([1.0, 2.0, 3.0, 4.0, 1.0]), values=4)
    state = State.start(torch.tensor([[1, 0, 0]]), torch.tensor([[False, True, True]]))
    # With x0 = 1: p(x1 = 0, 2) = 4/8, 4/8 and p(x2 = 0, 1, 2) = 4/8, 3/8, 1/8. Without: 5/11, 4/11; 5/11, 3/11, 3/11.
    known, unknown = (
        [[4 / 8, 0, 4 / 8, 0], [4 / 8, 3 / 8, 1 / 8, 0]],
        [[5 / 11, 2 / 11, 4 / 11, 0], [5 / 11, 3 / 11, 3 / 11, 0]],
    )
    found = probabilities(guided(exact, scale)(state, state.hidden))
    for one, k, u in zip(found, known, unknown, strict=True):
        powers = [k[v] ** (scale + 1) * u[v] ** -scale if k[v] else 0.0 for v in range(4)]
        assert one == pytest.approx([power / sum(powers) for power in powers], abs=1e-13)


def test_guided_keeps_what_only_the_prompt_makes_possible() -> None:
    """A value that is impossible without the prompt and possible with it: no NaN, which decoding would refuse."""

    def inner(state: State, asked: Tensor) -> Tensor:
        impossible = -INFINITY if not state.given.any() else 0.0
        return torch.tensor([[0.0, impossible, 1.0]])

    state = State.start(torch.tensor([[1, 0]]), torch.tensor([[False, True]]))
    assert not guided(inner, 1.0)(state, state.hidden).isnan().any()


# constrained


def test_constrained_allows_by_position() -> None:
    allowed = torch.rand((LENGTH, VALUES), generator=torch.Generator().manual_seed(0)) < 0.5
    allowed[:, 2] = True
    state, toy = half_way(), Toy(LENGTH, VALUES)
    asked = some_of(state)
    plain, found = toy(state, asked).tolist(), constrained(toy, allowed)(state, asked).tolist()
    for number, (_, position) in enumerate(asked.nonzero().tolist()):
        expected = [x if allowed[position, value] else -INFINITY for value, x in enumerate(plain[number])]
        assert found[number] == expected


def test_constrained_goes_by_place() -> None:
    """Padding at the left moves positions, and no place."""
    allowed = torch.nn.functional.one_hot(torch.arange(3) % VALUES, VALUES).bool()
    present = torch.tensor([[False, False, True, True, True], [True, True, True, False, False]])
    state = State.start(torch.zeros((2, 5), dtype=torch.int64), present, present=present)
    end = decode(constrained(Toy(5, VALUES), allowed), state, "entropy, per_step(1), sample").finish()
    assert end.tokens[present].tolist() == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((LENGTH, VALUES + 1), "allowed has 6 values, and 5 are needed"),
        ((LENGTH - 1, VALUES), "allowed has 11 places, and 12 are needed"),
        ((2, LENGTH, VALUES), "allowed has 2 rows, and 3 are needed"),
    ],
)
def test_constrained_says_what_it_lacks(shape: tuple[int, ...], message: str) -> None:
    denoise = constrained(Toy(LENGTH, VALUES), torch.ones(shape, dtype=torch.bool))
    with pytest.raises(UnmaskError) as caught:
        decode(denoise, blank(3, LENGTH), "margin, per_step(1), greedy").finish()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("allowed", [torch.ones((2, 3)), torch.ones(3, dtype=torch.bool)], ids=["float", "1-D"])
def test_constrained_refuses_other_tables(allowed: Tensor) -> None:
    bare = object.__new__(constrained)
    object.__setattr__(bare, "allowed", allowed)
    with pytest.raises(UnmaskError, match=r"expected torch.bool \[P, V\] or \[R, P, V\]$"):
        bare.__post_init__()


@pytest.mark.parametrize("rows", [0, -1])
def test_fixed_shape_refuses_no_rows(rows: int) -> None:
    with pytest.raises(UnmaskError, match=rf"^fixed_shape\(inner, rows\): rows must be at least 1, got {rows}$"):
        fixed_shape(Toy(), rows)


def test_tempered_does_not_overflow_in_half_precision() -> None:
    denoise = tempered(Stored(torch.tensor([[[1000.0, 990.0, 0.0]]], dtype=torch.float16)), 0.01)
    assert probabilities(denoise(blank(1, 1), blank(1, 1).hidden)) == [[1.0, 0.0, 0.0]]


# Calls


class Counting:
    """Counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, state: State, asked: Tensor) -> Tensor:
        self.calls += 1
        return Toy(LENGTH, VALUES)(state, asked)


@pytest.mark.parametrize("batch", [1, 2, 5, 9])
@pytest.mark.parametrize("outer", OTHERS)
@pytest.mark.parametrize("inner", OTHERS)
def test_a_decode_counts_the_calls_of_the_model_behind_wrappers(inner: str, outer: str, batch: int) -> None:
    model = Counting()
    denoise = wrapped(wrapped(model, LENGTH)[inner], LENGTH)[outer]
    trace = record(decode(denoise, half_way(batch), "margin, evenly(4), sample, leave_one_out"))
    assert trace.denoiser_calls == model.calls


def test_a_row_counts_the_calls_that_it_takes_part_in() -> None:
    for denoise, each in ((Toy(), 1), (guided(Toy(), 1.5), 2), (fixed_shape(guided(Toy(), 1.5), 2), 2)):
        step = next(decode(denoise, half_way(5), "margin, per_step(1), greedy"))
        assert step.row_calls.tolist() == [each] * 5


def test_leave_one_out_asks_nothing_when_nothing_can_be_taken_back() -> None:
    """At a stage's last step, where everything is shown."""
    steps = list(decode(Toy(), blank(4, LENGTH), "margin, evenly(3), sample, leave_one_out"))
    assert [int(step.row_calls[0]) for step in steps] == [1, 5, 1]
    assert [step.calls for step in steps] == [1, 3, 4]


def test_constrained_allows_by_row_key() -> None:
    allowed = torch.rand((20, LENGTH, VALUES), generator=torch.Generator().manual_seed(1)) < 0.5
    allowed[:, :, 1] = True
    keys = [19, 3, 3, 0, 11, 7, 2]
    state, toy = replace(half_way(), row=torch.tensor(keys)), Toy(LENGTH, VALUES)
    asked = some_of(state)
    plain, found = toy(state, asked).tolist(), constrained(toy, allowed)(state, asked).tolist()
    for number, (row, position) in enumerate(asked.nonzero().tolist()):
        permitted = allowed[keys[row], position]
        assert found[number] == [x if permitted[value] else -INFINITY for value, x in enumerate(plain[number])]


def test_constrained_decodes_what_is_allowed() -> None:
    allowed = torch.nn.functional.one_hot(torch.arange(LENGTH) % VALUES, VALUES).bool()
    state = blank(4, LENGTH)
    end = decode(constrained(Toy(LENGTH, VALUES), allowed), state, "entropy, per_step(3), sample").finish()
    assert end.tokens.tolist() == [(torch.arange(LENGTH) % VALUES).tolist()] * 4


@pytest.mark.parametrize("shape", [(LENGTH, VALUES), (3, LENGTH, VALUES)])
def test_constrained_refuses_to_allow_nothing(shape: tuple[int, ...]) -> None:
    allowed = torch.ones(shape, dtype=torch.bool)
    allowed[..., 7, :] = False
    with pytest.raises(UnmaskError, match=r"^constrained\(inner, allowed\): place 7 is allowed no value$"):
        constrained(Toy(), allowed)


# fixed_shape


class Attention(nn.Module):
    """Two layers of self-attention in single precision, random weights: its matrix products round."""

    def __init__(self, length: int = 16, values: int = 7, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.heads = heads
        self.token, self.position = nn.Embedding(values + 1, width), nn.Embedding(length, width)
        self.mix = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(2))
        self.out = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.norm = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.head = nn.Linear(width, values)
        self.mask, self.shapes = values, []

    @torch.no_grad()
    def forward(self, state: State, asked: Tensor) -> Tensor:
        self.shapes.append((*asked.shape, int(asked.sum())))
        batch, length = asked.shape
        x = self.token(state.tokens.masked_fill(state.hidden, self.mask)) + self.position(torch.arange(length))
        for mix, out, norm in zip(self.mix, self.out, self.norm, strict=True):
            query, keys, value = mix(norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            weights = (query @ keys.transpose(-1, -2) * 3).softmax(-1)
            x = x + out((weights @ value).transpose(1, 2).reshape(batch, length, -1))
        return self.head(x[asked])


def netted(batch: int, length: int = 16) -> State:
    draw = torch.Generator().manual_seed(batch)
    tokens = torch.randint(0, 7, (batch, length), generator=draw)
    return State.start(tokens, torch.rand((batch, length), generator=draw) < 0.6)


class Shaken(Attention):
    """A net whose answers depend on the shape of the question for certain, on whatever machine."""

    def forward(self, state: State, asked: Tensor) -> Tensor:
        return super().forward(state, asked) * (1 + 1e-6 * len(state) + 1e-7 * int(asked.sum()))


def answer(denoise: Denoiser, state: State, index: list[int]) -> list[Tensor]:
    """For each of some rows of a batch, the logits at its hidden positions."""
    chosen = state.select(torch.tensor(index))
    return list(denoise(chosen, chosen.hidden).split(chosen.hidden.sum(1).tolist()))


@pytest.mark.parametrize(("rows", "length"), [(64, 16), (8, 16), (5, 13), (1, 16)])
@pytest.mark.parametrize("kind", [Attention, Shaken])
def test_fixed_shape_fixes_the_bits(kind: type[Attention], rows: int, length: int) -> None:
    denoise, state = fixed_shape(kind(length), rows), netted(64, length)
    together = answer(denoise, state, list(range(64)))
    turned = answer(denoise, state, list(reversed(range(64))))[::-1]
    for row in range(64):
        assert torch.equal(together[row], turned[row])
        assert torch.equal(together[row], answer(denoise, state, [row])[0])
    three = [3, 60, 9]
    for one, row in zip(answer(denoise, state, three), three, strict=True):
        assert torch.equal(one, together[row])


def test_without_a_fixed_shape_the_bits_depend_on_the_batch() -> None:
    net, state = Shaken(), netted(64)
    assert not torch.equal(answer(net, state, [0, 1, 2])[0], answer(net, state, [0])[0])


def test_fixed_shape_gives_the_nets_answer() -> None:
    net, state = Attention(), netted(50)
    plain, fixed = net(state, state.hidden), fixed_shape(net, 16)(state, state.hidden)
    assert plain.shape == fixed.shape
    assert bool(plain.isclose(fixed, rtol=1e-4, atol=1e-4).all())


@pytest.mark.parametrize(("batch", "calls"), [(1, 1), (8, 1), (9, 2), (24, 3)])
def test_fixed_shape_calls_with_one_shape(batch: int, calls: int) -> None:
    net, state = Attention(), netted(batch)
    fixed_shape(net, 8)(state, state.hidden)
    assert net.shapes == [(8, 16, 8 * 16)] * calls


def test_fixed_shape_decodes_rows_alone_as_together() -> None:
    state = netted(6)
    denoise = fixed_shape(Attention(), 8)
    together = decode(denoise, state, "margin, per_step(2), sample").finish()
    for row in range(6):
        alone = decode(denoise, state.select(torch.tensor([row])), "margin, per_step(2), sample").finish()
        assert torch.equal(alone.tokens[0], together.tokens[row])
        assert torch.equal(alone.shown_probability[0].nan_to_num(), together.shown_probability[row].nan_to_num())
