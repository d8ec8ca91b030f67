"""Belief: its numbers against slow exact ones, near certainty too; what it refuses; what it lets go; equal bits."""

from __future__ import annotations

import itertools
import math
import weakref
from collections.abc import Iterator
from decimal import Decimal, localcontext

import numpy
import pytest
import torch
from torch import Tensor
from toys import Stored, Toy, blank

from unmask import noise
from unmask.belief import Belief, first, nucleus, sum_rows
from unmask.decode import decode
from unmask.errors import DenoiserError, UnmaskError
from unmask.state import State

INFINITY = math.inf
KINDS = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 1e-5, torch.float16: 1e-5}
"""The logits' precision, and the relative error that the numbers may have."""

CASES: dict[str, list[list[float]]] = {
    "ordinary": [[0.5, -1.25, 2.0, 0.75, -3.5], [0.0, 0.25, 0.125, -0.5, 0.5]],
    "equal": [[1.5, 1.5, 1.5, 1.5], [0.0, 0.0, -1.0, 0.0]],
    "one value": [[0.25], [-7.0]],
    "impossible values": [[1.0, -INFINITY, 0.5, -INFINITY], [-INFINITY, 0.0, -INFINITY, -INFINITY]],
    "gap of 40": [[40.0, 0.0, -1.0, 0.0], [0.0, -41.0, -INFINITY, 1.5], [-20.0, 20.0, -20.0, -21.0]],
    "gap of 200": [[200.0, 0.0, -1.0, 0.0], [-100.0, 101.0, -100.0, -INFINITY], [0.0, 0.0, 199.0, -5.0]],
    "far from zero": [[-1000.0, -1004.0, -1008.0], [2048.0, 2056.0, 2050.0]],
}


def believe(logits: Tensor) -> Belief:
    """A belief about positions in one row, with the given logits."""
    state = blank(1, len(logits))
    return Belief(state, state.hidden, lambda state, asked: logits)


def exact(logits: list[float]) -> dict[str, list[Decimal]]:
    """What the numbers should be, with 250 digits."""
    with localcontext() as context:
        context.prec = 250
        weights = [Decimal(0) if x == -INFINITY else Decimal(x).exp() for x in logits]
        total = sum(weights)
        shares = [weight / total for weight in weights]
        logs = [share.ln() if share else Decimal("-Infinity") for share in shares]
        ordered = sorted(logs, reverse=True)
        return {
            "log_normalizer": [total.ln()],
            "probabilities": shares,
            "log_probabilities": logs,
            "log_top": ordered[:1],
            "log_second": [*ordered, Decimal("-Infinity")][1:2],
            "entropies": [-sum(p * log for p, log in zip(shares, logs, strict=True) if p)],
        }


def assert_close(found: Tensor, expected: list[Decimal], relative: float) -> None:
    assert found.dtype == torch.float64
    for one, other in zip(found.reshape(-1).tolist(), map(float, expected), strict=True):
        assert one == pytest.approx(other, rel=relative, abs=1e-300)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("name", ["log_normalizer", "probabilities", "log_top", "log_second", "entropies"])
@pytest.mark.parametrize("case", CASES)
def test_numbers_are_exact(case: str, name: str, kind: torch.dtype) -> None:
    logits = torch.tensor(CASES[case], dtype=kind)
    belief = believe(logits)
    for number, row in enumerate(logits.tolist()):
        assert_close(getattr(belief, name)[number], exact(row)[name], KINDS[kind])


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_log_probabilities_are_exact(case: str, kind: torch.dtype) -> None:
    logits = torch.tensor(CASES[case], dtype=kind)
    found = believe(logits).log_probabilities
    assert found.dtype == torch.float64
    for number, row in enumerate(logits.tolist()):
        expected = [float(log) for log in exact(row)["log_probabilities"]]
        # An absolute error: beside a certain value its own log p is as good as 0.
        assert found[number].tolist() == pytest.approx(expected, abs=KINDS[kind])


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_log_chosen_is_exact_for_every_value(case: str, kind: torch.dtype) -> None:
    logits = torch.tensor(CASES[case], dtype=kind)
    for value in range(logits.shape[1]):
        belief = believe(logits)
        belief.values = torch.full((len(logits),), value)
        for number, row in enumerate(logits.tolist()):
            assert_close(belief.log_chosen[number], [exact(row)["log_probabilities"][value]], KINDS[kind])


@pytest.mark.parametrize("kind", [torch.float64, torch.float32], ids=str)
def test_many_random_numbers_are_exact(kind: torch.dtype) -> None:
    logits = torch.randn((40, 6), dtype=kind, generator=torch.Generator().manual_seed(0)) * 8
    belief = believe(logits)
    for number, row in enumerate(logits.tolist()):
        for name, expected in exact(row).items():
            if name != "log_probabilities":
                assert_close(getattr(belief, name)[number], expected, KINDS[kind])


@pytest.mark.parametrize("kind", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("gap", [10, 40, 90, 120, 200])
def test_certainty_does_not_saturate(gap: int, kind: torch.dtype) -> None:
    gaps = torch.tensor([gap, gap + 1, gap + 0.5, gap - 1], dtype=kind)
    belief = believe(torch.stack([torch.zeros_like(gaps), gaps, torch.zeros_like(gaps)], 1))
    for surety in (belief.log_top, -belief.entropies):
        assert surety.argsort(descending=True).tolist() == [1, 2, 0, 3]
        assert len(surety.unique()) == 4


@pytest.mark.parametrize("kind", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("oracle", ["log_probability", "entropy", "log_margin"])
@pytest.mark.parametrize("gap", [40, 200])
def test_order_does_not_saturate(gap: int, oracle: str, kind: torch.dtype) -> None:
    gaps = torch.tensor([gap, gap + 2, gap - 1, gap + 1], dtype=kind)
    logits = torch.stack([gaps, torch.zeros_like(gaps), torch.zeros_like(gaps) - 3], 1)[None]
    steps = decode(Stored(logits), blank(1, 4), f"{oracle}, per_step(1), greedy")
    assert [step.shown.nonzero()[0, 1].item() for step in steps] == [1, 3, 0, 2]


def test_top_of_equal_ones_is_the_lowest_value() -> None:
    belief = believe(torch.tensor([[0.0, 2.0, 2.0], [1.0, 1.0, 1.0], [-INFINITY, -INFINITY, 0.0]]))
    assert belief.top[1].tolist() == [1, 0, 2]
    assert belief.second.tolist() == [2.0, 1.0, -INFINITY]


def test_half_precision_is_widened_and_double_is_kept() -> None:
    for kind in KINDS:
        wide = torch.float64 if kind == torch.float64 else torch.float32
        assert believe(torch.zeros((2, 3), dtype=kind)).wide.dtype == wide


def test_numbers_of_nothing_asked() -> None:
    state = blank(2, 3)
    belief = Belief(state, torch.zeros_like(state.hidden), lambda state, asked: pytest.fail("asked for nothing"))
    assert belief.calls == 0
    assert belief.log_normalizer.shape == (0,)
    assert belief.row_calls.tolist() == [0, 0]


def test_index_and_place_are_row_by_row() -> None:
    present = torch.tensor([[False, True, True, True], [True, True, True, False]])
    state = State.start(torch.zeros((2, 4), dtype=torch.int64), present, present=present)
    asked = torch.tensor([[False, True, False, True], [True, False, True, False]])
    belief = Belief(state, asked, lambda state, asked: torch.zeros((4, 2)))
    assert belief.flat.tolist() == [1, 3, 4, 6]
    assert belief.index.tolist() == [0, 0, 1, 1]
    assert belief.place.tolist() == [0, 2, 0, 2]
    assert belief.row_calls.tolist() == [1, 1]
    filled = belief.spread(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    assert filled.tolist() == [[-INFINITY, 1.0, -INFINITY, 2.0], [3.0, -INFINITY, 4.0, -INFINITY]]
    assert belief.spread(torch.tensor([1, 2, 3, 4]), 0).tolist() == [[0, 1, 0, 2], [3, 0, 4, 0]]


def test_noise_is_looked_up_by_row_key_step_and_place() -> None:
    present = torch.tensor([[False, True, True]])
    hidden = torch.zeros((1, 3), dtype=torch.int64)
    state = State.start(hidden, present, present=present, seed=5, row=torch.tensor([70]))
    belief = Belief(state, present, lambda state, asked: torch.zeros((2, 2)))
    assert belief.noise("value").tolist() == [noise.uniform(5, "value", 70, 0, place) for place in (0, 1)]
    assert belief.noise("order", by_row=True).tolist() == [noise.uniform(5, "order", 70, 0, -1)]


def test_walk_follows_the_falling_score_of_what_is_open() -> None:
    state = blank(1, 5)
    window = torch.tensor([[True, True, True, False, True]])
    state = State(**{**vars(state), "window": window})
    belief = Belief(state, state.hidden, lambda state, asked: torch.zeros((5, 2)))
    score = torch.tensor([1.0, 3.0, 3.0, 9.0, -INFINITY])
    walked = belief.walk(score, torch.tensor([10.0, 11.0, 12.0, 13.0, 14.0]))
    assert walked[0, :3].tolist() == [11.0, 12.0, 10.0]
    assert bool(walked[0, 3:].isnan().all())


# What it refuses


def keyed(batch: int, length: int, *, keys: list[int]) -> State:
    hidden = torch.ones((batch, length), dtype=torch.bool)
    return State.start(torch.zeros((batch, length), dtype=torch.int64), hidden, row=torch.tensor(keys))


@pytest.mark.parametrize("strategy", ["margin, per_step(1), greedy", "random, ancestral(3), sample"])
@pytest.mark.parametrize(
    ("found", "poison"),
    [
        ("NaN", [0.0, math.nan, 1.0]),
        ("NaN", [math.nan, math.nan, math.nan]),
        (r"\+inf", [0.0, 1.0, INFINITY]),
        (r"\+inf", [INFINITY, INFINITY, -INFINITY]),
        ("-inf for every value", [-INFINITY, -INFINITY, -INFINITY]),
    ],
)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_bad_logits_are_refused(strategy: str, found: str, poison: list[float], kind: torch.dtype) -> None:
    logits = torch.zeros((60, 4, 3), dtype=kind)
    logits[42, 3] = torch.tensor(poison, dtype=kind)
    message = rf"^the denoiser returned {found} at row 42, position 3; expected finite logits, .*$"
    with pytest.raises(DenoiserError, match=message):
        decode(Stored(logits), keyed(3, 4, keys=[17, 42, 3]), strategy).finish()


def test_bad_logits_that_nobody_asked_for_are_no_matter() -> None:
    logits = torch.zeros((1, 4, 3))
    logits[0, 2] = math.nan
    state = State.start(torch.zeros((1, 4), dtype=torch.int64), torch.tensor([[True, True, False, True]]))
    assert not decode(Stored(logits), state, "margin, per_step(1), greedy").finish().hidden.any()


@pytest.mark.parametrize("shape", [(7, 3), (9, 3), (8,), (2, 4, 3), (8, 3, 1), ()], ids=str)
def test_wrong_shapes_are_refused(shape: tuple[int, ...]) -> None:
    state = blank(2, 4)
    with pytest.raises(DenoiserError, match=r"^the denoiser returned a tensor of shape \(.*expected \[n, V\].* = 8, "):
        Belief(state, state.hidden, lambda state, asked: torch.zeros(shape))


def test_another_device_is_refused() -> None:
    state = blank(2, 4)
    with pytest.raises(DenoiserError, match=r"^the denoiser returned logits on meta, the state is on cpu; "):
        Belief(state, state.hidden, lambda state, asked: torch.zeros((8, 3), device="meta"))


def test_logits_are_detached() -> None:
    assert not believe(torch.zeros((2, 3), requires_grad=True) * 2).logits.requires_grad


# Imagined states


def test_imagined_calls_are_counted_for_their_rows() -> None:
    state = keyed(3, 4, keys=[5, 6, 7])
    belief = Belief(state, state.hidden, Toy(4))
    imagined = state.select(torch.tensor([2, 2, 0]))
    assert torch.equal(belief.imagine(imagined, imagined.hidden), Toy(4)(imagined, imagined.hidden))
    assert belief.calls == 2
    assert belief.row_calls.tolist() == [2, 1, 3]


def test_imagined_logits_are_checked() -> None:
    state = blank(2, 4)
    answers = iter([torch.zeros((8, 3)), torch.zeros((7, 3))])
    belief = Belief(state, state.hidden, lambda state, asked: next(answers))
    with pytest.raises(DenoiserError, match="expected"):
        belief.imagine(state, state.hidden)


# What it lets go


class Watched:
    """Answers with tensors whose storage is a numpy array, which tells when nothing refers to it any more."""

    def __init__(self) -> None:
        self.storages: list[weakref.ref] = []

    def __call__(self, state: State, asked: Tensor) -> Tensor:
        array = Toy()(state, asked).numpy().copy()
        self.storages.append(weakref.ref(array))
        return torch.from_numpy(array)


@pytest.mark.parametrize(
    "strategy",
    [
        "margin, per_step(1), greedy",
        "entropy, ancestral(4), sample(0.7, 0.9), blocks(5)",
        "klass, threshold(0.0), greedy",
        'log_probability, evenly(5), sample, lowest("again", "rewrite")',
    ],
)
def test_logits_do_not_outlive_the_step(strategy: str) -> None:
    denoise = Watched()
    steps = decode(denoise, blank(3, 12), strategy)
    kept = []
    for number, step in enumerate(steps):
        _ = step.belief.probabilities, step.belief.entropies, step.belief.log_top
        kept.append(step)
        assert [storage() is None for storage in denoise.storages] == [True] * number + [False]
    assert [storage() is None for storage in denoise.storages] == [True] * len(kept)


def test_nothing_as_large_as_the_logits_is_kept() -> None:
    names = ("probabilities", "log_probabilities", "entropies", "log_top", "log_second", "log_chosen", "place")
    kept = []
    for step in decode(Toy(), blank(3, 12), "margin, per_step(1), greedy"):
        for name in names:
            getattr(step.belief, name)
        kept.append(step)
    for step in kept:
        tensors = [value for value in vars(step.belief).values() if isinstance(value, Tensor)]
        assert tensors
        assert all(tensor.numel() <= step.belief.asked.numel() for tensor in tensors)


def test_reading_a_belief_that_is_gone_is_refused() -> None:
    steps = decode(Toy(), blank(2, 12), "random, per_step(1), greedy")
    old = next(steps).belief
    next(steps)
    for name in ("logits", "wide", "top", "probabilities", "log_probabilities", "entropies"):
        with pytest.raises(UnmaskError, match=r"^this belief is gone: read it before the next step is asked for$"):
            getattr(old, name)
    with pytest.raises(UnmaskError, match=r"^this belief is gone: imagine before the next step is asked for$"):
        old.imagine(old.state, old.asked)


def test_the_last_belief_is_gone_at_the_end() -> None:
    steps = decode(Toy(), blank(2, 12), "margin, per_step(12), greedy")
    last = next(steps).belief
    assert last.logits.shape == (24, 5)
    assert next(steps, None) is None
    with pytest.raises(UnmaskError, match="gone"):
        _ = last.logits


# The same bits in every batch

BATCHES = (1, 2, 3, 7, 64)


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    """One thread, and two: torch may split a sum over threads, depending on the shape."""
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("values", [2, 9, 1000, 40000])
def test_bits_do_not_depend_on_the_batch(values: int, kind: torch.dtype, threads: int) -> None:
    logits = torch.randn((64, values), dtype=kind, generator=torch.Generator().manual_seed(0)) * 3

    def numbers(rows: Tensor) -> Tensor:
        belief = believe(rows.clone())
        belief.values = rows.abs().argmin(-1)
        names = ("log_normalizer", "entropies", "log_chosen", "log_top", "log_second")
        return torch.stack([getattr(belief, name) for name in names], 1)

    alone = torch.cat([numbers(row[None]) for row in logits])
    for size in BATCHES:
        assert numbers(logits[:size]).tolist() == alone[:size].tolist()
        assert numbers(logits[-size:].flip(0)).tolist() == alone[-size:].flip(0).tolist()


# first, nucleus


def slow_first(score: list[float], count: int) -> list[bool]:
    ranked = sorted(range(len(score)), key=lambda position: (-score[position], position))
    return [position in ranked[: max(count, 0)] for position in range(len(score))]


@pytest.mark.parametrize("length", [1, 2, 7, 40])
def test_first_takes_the_highest_and_of_equal_ones_the_lowest_position(length: int) -> None:
    score = torch.randint(-2, 3, (30, length), generator=torch.Generator().manual_seed(length)).double()
    score = score.masked_fill(score == -2, -INFINITY).masked_fill(score == 2, INFINITY)
    for count in range(length + 1):
        expected = [slow_first(row, count) for row in score.tolist()]
        assert first(score, torch.full((30,), count)).tolist() == expected


def test_first_counts_for_each_row() -> None:
    score = torch.tensor([[1.0, 1.0, 2.0]]).expand(6, 3).contiguous()
    counts = [0, 1, 2, 3, -1, 9]
    assert first(score, torch.tensor(counts)).tolist() == [slow_first([1.0, 1.0, 2.0], count) for count in counts]
    assert first(score[:2], torch.tensor([0, 1])).tolist() == [[False] * 3, [False, False, True]]


def test_first_of_no_rows() -> None:
    assert first(torch.zeros((0, 3)), torch.zeros(0, dtype=torch.int64)).shape == (0, 3)


def test_first_holds_both_zeros_for_equal() -> None:
    for count in (1, 2):
        score = torch.tensor([[-0.0, 0.0, -0.0]])
        assert first(score, torch.tensor([count])).tolist() == [slow_first([0.0, 0.0, 0.0], count)]


def slow_nucleus(logits: list[float], top_p: float) -> list[float]:
    weights = numpy.exp(numpy.array(logits) - max(logits))
    shares = weights / weights.sum()
    kept, mass = [], 0.0
    for value in sorted(range(len(logits)), key=lambda value: (-logits[value], value)):
        if mass < top_p:
            kept.append(value)
        mass += shares[value]
    return [x if value in kept else -INFINITY for value, x in enumerate(logits)]


@pytest.mark.parametrize("top_p", [0.001, 0.1, 0.37, 0.63, 0.9, 0.999])
def test_nucleus_keeps_the_likeliest_up_to_the_mass(top_p: float) -> None:
    logits = torch.randn((50, 7), dtype=torch.float64, generator=torch.Generator().manual_seed(1)) * 2
    expected = [slow_nucleus(row, top_p) for row in logits.tolist()]
    assert nucleus(logits, top_p).tolist() == expected
    assert all(any(x > -INFINITY for x in row) for row in expected)


def test_nucleus_takes_the_value_that_reaches_the_mass_and_no_more() -> None:
    logits = torch.zeros((1, 4))
    for top_p, kept in ((0.2, 1), (0.25, 1), (0.26, 2), (0.5, 2), (0.75, 3), (0.76, 4)):
        assert nucleus(logits, top_p).isfinite().tolist() == [[value < kept for value in range(4)]]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_nucleus_leaves_the_impossible_impossible(kind: torch.dtype) -> None:
    logits = torch.tensor([[0.0, -INFINITY, 1.0, 3.0]], dtype=kind)
    assert nucleus(logits, 0.9999).tolist() == logits.tolist()
    assert nucleus(logits, 0.9999).dtype == kind
    assert nucleus(logits, 0.5).tolist() == [[-INFINITY, -INFINITY, -INFINITY, 3.0]]


def test_nucleus_bits_do_not_depend_on_the_batch() -> None:
    logits = torch.randn((64, 1000), generator=torch.Generator().manual_seed(2))
    together = nucleus(logits, 0.9)
    for size, row in itertools.product((1, 3), (0, 17, 61)):
        assert torch.equal(nucleus(logits[row : row + size].clone(), 0.9), together[row : row + size])


def test_klass_finds_a_row_stable_alone_as_in_a_batch() -> None:
    """The threshold stands right at a row's divergence, where one bit of its sum over many values decides."""
    values, draw = 100_000, torch.Generator().manual_seed(0)
    tables = [torch.randn((4, 3, values), generator=draw, dtype=torch.float64) * 0.3 for _ in range(2)]
    tables[1] = tables[0] + tables[1] * 0.01

    def denoise(state: State, asked: Tensor) -> Tensor:
        row, position = asked.nonzero(as_tuple=True)
        return torch.stack(
            [tables[int(state.step[r])][int(state.row[r]), p] for r, p in zip(row, position, strict=True)]
        )

    def divergence(state: State) -> Tensor:
        """As the oracle works it out, at the second step."""
        step = next(decode(denoise, state, "klass(0.0, 0.01, 9), threshold(0.0), greedy"))
        now = Belief(step.state, step.state.hidden, denoise)
        before = step.state.memory["believed"].view(-1, values)[now.flat]
        return sum_rows(now.probabilities * (now.log_probabilities - before))

    def stable(state: State, below: float) -> list[int]:
        steps = decode(denoise, state, f"klass(0.0, {below!r}, 9), threshold(0.0), greedy")
        next(steps)
        next(steps)
        return steps.state.memory["stable"].amax(1).tolist()

    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        state = State.start(torch.zeros((4, 3), dtype=torch.int64), torch.tensor([[True, True, False]] * 4))
        for row in range(4):
            one = state.select(torch.tensor([row]))
            own = float(divergence(one))
            for below in (own, math.nextafter(own, INFINITY), math.nextafter(own, 0.0)):
                assert stable(one, below) == [stable(state, below)[row]] == [int(own < below)]
    finally:
        torch.set_num_threads(threads)
