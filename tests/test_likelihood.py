"""The bound and the likelihood along an order, against all masks enumerated, exact models and plain sums."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import pytest
import torch
from compositions import fits, oracles, parts
from hypothesis import given, settings
from hypothesis import strategies as some
from laws import SMALLEST_P, joint
from scipy import stats
from torch import Tensor
from toys import Stored, Toy

import unmask.likelihood
from unmask import noise
from unmask.choices.sample import sample
from unmask.choices.teacher import teacher
from unmask.errors import StrategyError, UnmaskError
from unmask.exact.enumeration import Enumeration
from unmask.exact.hidden_markov import HiddenMarkov
from unmask.likelihood import Estimate, elbo, log_likelihood
from unmask.oracles import Oracle
from unmask.oracles.fixed import fixed
from unmask.part import Part
from unmask.state import Rows, State
from unmask.strategy import Strategy, parse
from unmask.wrappers.guided import guided

LENGTH = 8
MANY = 1000
"""Rows alike but for their keys: as many estimates that are independent of each other."""

DESIGNS = [{"stratified": s, "antithetic": a} for s in (False, True) for a in (False, True)]
PLAIN, BEST = DESIGNS[0], DESIGNS[-1]


def complete(tokens: Tensor, given: Tensor | None = None, present: Tensor | None = None) -> Rows:
    none = torch.zeros_like(tokens, dtype=torch.bool)
    return Rows(tokens, none if given is None else given, ~none if present is None else present)


def drawn(batch: int, length: int = LENGTH, values: int = 5, seed: int = 0) -> Tensor:
    return torch.randint(0, values, (batch, length), generator=torch.Generator().manual_seed(seed))


def repeated(rows: Rows, times: int = MANY) -> Rows:
    return rows.select(torch.zeros(times, dtype=torch.int64))


def log_p(denoise, rows: Rows, hidden: Tensor, asked: Tensor | None = None) -> Tensor:
    """The summed log p of what is asked, or of all that is hidden, by a plain softmax."""
    asked = hidden if asked is None else asked
    state = State.start(rows.tokens, hidden, given=rows.given & ~hidden, present=rows.present)
    each = denoise(state, asked).double().log_softmax(-1).gather(1, rows.tokens[asked][:, None])[:, 0]
    return torch.zeros(hidden.shape, dtype=torch.float64).masked_scatter(asked, each).sum(1)


def subsets(answers: Tensor) -> Tensor:
    """All masks but the empty one."""
    where = answers.nonzero().squeeze(1)
    masks = torch.zeros((2 ** len(where), len(answers)), dtype=torch.bool)
    masks[:, where] = torch.cartesian_prod(*[torch.tensor([False, True])] * len(where)).view(-1, len(where))
    return masks[masks.any(1)]


def bound(denoise, row: Rows) -> float:
    """All masks of one row: each number of hidden answers weighs alike, and each mask of that number."""
    masks = subsets((row.present & ~row.given)[0])
    numbers, most = masks.sum(1).tolist(), int(masks.sum(1).max())
    weights = [1 / (n * math.comb(most, n)) for n in numbers]  # k / n for the sum, 1 / k for n, one over its masks
    return float((log_p(denoise, repeated(row, len(masks)), masks) * torch.tensor(weights, dtype=torch.float64)).sum())


def steep(state: State, asked: Tensor) -> Tensor:
    """Almost certain once half is shown: the number of hidden answers decides nearly everything."""
    shown = (state.present & ~state.hidden).double().mean(1)[asked.nonzero()[:, 0]]
    lead = 12 * shown + state.place[asked] % 3
    return torch.stack([lead, torch.zeros_like(lead)], dim=1)


MODELS = {
    "toy": (Toy(LENGTH, seed=2), complete(drawn(1))),
    "hidden Markov": (HiddenMarkov.draw(3, 4, seed=1), complete(drawn(1, values=4))),
    "steep": (steep, complete(torch.zeros(1, LENGTH, dtype=torch.int64))),
}


class Spy:
    """Remembers what was asked, of which row."""

    def __init__(self, denoise=None) -> None:
        self.denoise = Toy(LENGTH) if denoise is None else denoise
        self.row: list[int] = []
        self.asked: list[Tensor] = []

    def __call__(self, state: State, asked: Tensor) -> Tensor:
        assert not (asked & ~(state.hidden & state.present & ~state.given)).any()
        assert not state.tokens[state.hidden].any(), "what is hidden can be seen"
        self.row += state.row.tolist()
        self.asked.append(asked.clone())
        return self.denoise(state, asked)

    @property
    def masks(self) -> Tensor:
        return torch.cat(self.asked)


# The bound


@pytest.mark.parametrize("draws", [6, 20])
@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_the_bound_is_unbiased(design, draws):
    """Under a denoiser that is wrong: all 255 masks, against draws that are fewer and more than there are answers."""
    denoise, row = MODELS["toy"]
    found = elbo(denoise, repeated(row), draws=draws, size=8192, **design)
    assert abs(found.average - bound(denoise, row)) < 5 * found.sampling_error
    assert found.sampling_error < 0.15


def test_the_bound_by_time_is_the_same():
    denoise, row = MODELS["toy"]
    for design in (PLAIN, BEST):
        found = elbo(denoise, repeated(row), draws=20, by="time", size=8192, **design)
        assert abs(found.average - bound(denoise, row)) < 5 * found.sampling_error < 2
        assert found.error.isnan().all(), "an error of what has no variance"


def test_given_and_absent_positions_are_not_in_the_bound():
    """Three positions are given or absent: 31 masks of what is left."""
    given, present = torch.zeros(1, LENGTH).bool(), torch.ones(1, LENGTH).bool()
    given[0, [1, 6]], present[0, 4] = True, False
    row = complete(drawn(1), given, present)
    denoise = Toy(LENGTH, seed=3)
    found = elbo(denoise, repeated(row), draws=10, size=8192)
    assert abs(found.average - bound(denoise, row)) < 5 * found.sampling_error < 1


def test_the_bound_is_the_mean_over_orders():
    """Law 7: all 24 orders of four answers, each by `log_likelihood`, have the mean of all 15 masks."""
    row, denoise = complete(drawn(1, 4)), Toy(4, seed=5)
    along = [
        log_likelihood(denoise, row, f"fixed({pi}), per_step(1), sample") for pi in itertools.permutations(range(4))
    ]
    assert sum(float(one.total) for one in along) / 24 == pytest.approx(bound(denoise, row), abs=1e-9)


@pytest.mark.parametrize("model", ["enumeration", "hidden Markov"])
def test_with_exact_beliefs_the_bound_is_the_log_probability(model):
    if model == "enumeration":
        support, weights = joint()
        denoise, rows = Enumeration(support, weights, values=3), complete(support[weights > 0])
    else:
        denoise, rows = HiddenMarkov.draw(3, 4, seed=1), complete(drawn(60, 12, 4))
    found = elbo(denoise, rows, draws=24, size=4096)
    off = found.mean - denoise.log_probability(rows.tokens)
    assert abs(float(off.mean())) < 5 * found.average_error < 1
    assert float((off / found.error).abs().median()) < 1.5


@pytest.mark.parametrize("design", DESIGNS, ids=str)
@pytest.mark.parametrize("model", ["toy", "hidden Markov"])
def test_errors_are_calibrated(model, design):
    """In the mean a squared error is the variance, and averages are as far off as their errors say."""
    denoise, row = MODELS[model]
    found = elbo(denoise, repeated(row), draws=16, size=8192, **design)
    ratio = float((found.error**2).mean() / found.mean.var())
    assert 0.85 < ratio < 1.3, f"squared errors are {ratio:.2f} of the variance"
    right = bound(denoise, row)
    groups = [Estimate(m, e, 0) for m, e in zip(found.mean.split(25), found.error.split(25), strict=True)]
    z = torch.tensor([(group.average - right) / group.average_error for group in groups])
    assert 0.5 < float((z**2).mean()) < 1.6
    assert groups[0].sampling_error == pytest.approx(groups[0].average_error, rel=0.5)  # rows alike: the masks' alone


def test_errors_are_too_large_rather_than_too_small_where_numbers_decide():
    """And smaller than if strata were forgotten: pairs are compared with their neighbours alone."""
    denoise, row = MODELS["steep"]
    for antithetic in (False, True):
        found = elbo(denoise, repeated(row, 300), draws=64, antithetic=antithetic, size=8192)
        ratio = float((found.error**2).mean() / found.mean.var())
        spread = elbo(denoise, repeated(row, 300), draws=64, stratified=False, antithetic=antithetic, size=8192)
        assert 0.8 < ratio < 12
        assert float(found.error.mean()) < 0.25 * float(spread.error.mean())


@pytest.mark.parametrize(("model", "most"), [("toy", 0.88), ("hidden Markov", 0.9), ("steep", 0.1)])
def test_strata_and_pairs_lower_the_variance_per_mask(model, most):
    denoise, row = MODELS[model]
    plain, best = (elbo(denoise, repeated(row), draws=16, size=8192, **design) for design in (PLAIN, BEST))
    assert float(best.mean.var() / plain.mean.var()) < most


@settings(max_examples=25, deadline=None)
@given(
    answers=some.lists(some.booleans(), min_size=LENGTH, max_size=LENGTH),
    draws=some.integers(1, 20),
    design=some.sampled_from(DESIGNS),
    seed=some.integers(0, 2**40),
)
def test_masks_are_of_one_number_from_each_part_and_pairs_hide_everything(answers, draws, design, seed):
    draws += draws % 2 if design["antithetic"] else 0
    rows = complete(drawn(3), ~torch.tensor([answers] * 3))
    spy, most = Spy(), sum(answers)
    elbo(spy, rows, draws=draws, seed=seed, size=7, **design)
    if not most:
        assert spy.asked == []
        return
    numbers = spy.masks.sum(1).view(3, draws)
    assert spy.row == [row for row in range(3) for _ in range(draws)]
    assert 1 <= int(numbers.min()) <= int(numbers.max()) <= most
    if design["stratified"]:
        for part, number in enumerate(numbers.sort(dim=1).values.T):
            assert part * most // draws < int(number.min()), "a number is below its part"
            assert int(number.max()) <= -(-(part + 1) * most // draws), "a number is above its part"
    if design["antithetic"]:
        first, second = spy.masks.view(3, draws // 2, 2, LENGTH).unbind(2)
        assert torch.equal(first | second, torch.tensor(answers).expand_as(first))
        assert bool(((first & second).sum(-1) == 1).all())


@pytest.mark.parametrize("draws", [2, 6, 20])
@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_every_number_is_as_frequent(design, draws):
    """Whether or not the parts are those of whole numbers: seven answers, fewer draws and more."""
    spy = Spy(Toy(7))
    elbo(spy, complete(drawn(1000, 7)), draws=draws, size=8192, **design)
    counts = torch.bincount(spy.masks.sum(1), minlength=8)[1:]
    due, deviation = 1000 * draws / 7, math.sqrt(1000 * draws * 6 / 49)  # independent ones; strata deviate less
    assert float((counts - due).abs().max()) < 5 * deviation


@pytest.mark.parametrize("member", [0, 1])
def test_each_mask_of_a_pair_is_as_random_as_any(member):
    """All 63 masks of six answers: one pair a row, so that those of different rows are independent."""
    spy = Spy(Toy(6))
    elbo(spy, complete(drawn(10_000, 6)), draws=2, size=8192, stratified=False)
    code = (spy.masks[member::2] * 2 ** torch.arange(6)).sum(1)
    masks = [(number >> torch.arange(6)) & 1 for number in range(1, 64)]
    due = [10_000 / (6 * math.comb(6, int(mask.sum()))) for mask in masks]
    assert stats.chisquare(torch.bincount(code, minlength=64)[1:].numpy(), due).pvalue > SMALLEST_P


def test_rows_with_one_answer_or_none_have_no_error():
    rows = complete(drawn(2), torch.tensor([[True] * 8, [True] * 7 + [False]]))
    found = elbo(Toy(LENGTH), rows, draws=4)
    assert found.mean[0] == 0.0
    assert found.mean[1] == pytest.approx(float(log_p(Toy(LENGTH), rows, ~rows.given)[1]), abs=1e-12)
    assert found.error.tolist() == [0.0, 0.0]
    assert elbo(Toy(LENGTH), rows, draws=1, antithetic=False).error.isnan().all()
    assert elbo(Toy(LENGTH), rows, draws=2).error.isnan().all()


def test_no_rows_are_no_error():
    none = complete(drawn(1)).select(torch.zeros(0, dtype=torch.int64))
    found = elbo(Toy(LENGTH), none, draws=4)
    assert (found.mean.shape, found.average, found.average_error, found.calls) == ((0,), 0.0, 0.0, 0)
    assert log_likelihood(Toy(LENGTH), none, "margin, per_step(1), sample").by_step.shape == (0, 0)


def test_calls_are_counted_as_decoding_counts_them():
    rows = complete(drawn(5))
    assert elbo(Toy(LENGTH), rows, draws=6, size=7).calls == 5  # 30 masks
    assert elbo(guided(Toy(LENGTH), 1.0), rows, draws=6, size=7).calls == 10
    assert log_likelihood(Toy(LENGTH), rows, "margin, per_step(3), sample", size=2).calls == 9
    assert log_likelihood(guided(Toy(LENGTH), 1.0), rows, "margin, per_step(3), sample").calls == 6


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"draws": 0}, "draws is how many masks a row has, at least 1, got 0"),
        ({"draws": 5}, "draws=5 is odd; take draws=6, or antithetic=False"),
        ({"draws": 4, "size": 0}, "size is how many masks go into one call"),
    ],
)
def test_what_the_bound_refuses(options, told):
    with pytest.raises(UnmaskError, match=told):
        elbo(Toy(LENGTH), complete(drawn(2)), **options)


def test_values_that_are_not_there_are_refused():
    """A puzzle without its answer, and a value that the model does not have."""
    tokens = drawn(2)
    tokens[1, 3] = -1
    for rows in (complete(tokens), complete(tokens.masked_fill(tokens < 0, 5))):
        for run in (
            lambda rows: elbo(Toy(LENGTH), rows, draws=8),
            lambda rows: log_likelihood(Toy(LENGTH), rows, "margin, per_step(1), sample"),
        ):
            with pytest.raises(
                StrategyError, match=r"row 1 has the value (-1|5) at place 3; the model's values are 0 to 4"
            ):
                run(rows)


# Along an order


READS_BELIEFS = [oracle for oracle in oracles() if not oracle.reads_proposal]
ORDERS = [*READS_BELIEFS, fixed((2, 0, 3, 1)), parse('noisy(margin, "gumbel", 2.0), per_step(1), sample').oracle]


@pytest.mark.parametrize("oracle", ORDERS, ids=str)
def test_law_8_with_exact_beliefs_every_order_has_the_log_probability(oracle):
    """All 81 rows, of which a third is impossible; and rows of a chain."""
    support, weights = joint()
    exact = Enumeration(support, weights, values=3)
    chain, rows = HiddenMarkov.draw(3, 4, seed=1), drawn(20, 12, 4)
    for denoise, tokens, pace in ((exact, support, "evenly(4)"), (chain, rows, "evenly(12)")):
        strategy = fits(oracle, ("random, per_step(1), sample", f"random, {pace}, sample"))
        found = log_likelihood(denoise, complete(tokens), strategy)
        torch.testing.assert_close(found.total, denoise.log_probability(tokens), rtol=0, atol=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_along_a_fixed_order_it_is_the_plain_sum(k):
    """Under a denoiser that is wrong, several positions a step: against a softmax for each, step by step."""
    rows, order, denoise = complete(drawn(9)), (5, 1, 7, 0, 2, 6, 4, 3), Toy(LENGTH, seed=4)
    found = log_likelihood(denoise, rows, f"fixed({order}), per_step({k}), sample", size=4)
    assert found.by_step.shape == (9, -(-LENGTH // k))
    for step in range(found.by_step.shape[1]):
        hidden, now = torch.zeros(9, LENGTH).bool(), torch.zeros(9, LENGTH).bool()
        hidden[:, order[step * k :]], now[:, order[step * k : step * k + k]] = True, True
        due = log_p(denoise, rows, hidden, asked=now)
        torch.testing.assert_close(found.by_step[:, step], due, rtol=0, atol=1e-9)
    torch.testing.assert_close(found.by_step.sum(1), found.total, rtol=0, atol=1e-12)


def summed(strategy: Strategy, monkeypatch) -> float:
    """The probabilities of all 81 rows of four values, all under the same noise."""
    honest = noise.key
    monkeypatch.setattr(noise, "key", lambda seed, stream, row, step: honest(seed, stream, row * 0, step))
    rows = complete(torch.cartesian_prod(*[torch.arange(3)] * 4))
    return float(log_likelihood(Toy(4, 3, seed=6), rows, strategy, size=81).total.exp().sum())


PACES = [pace for pace in parts("paces") if not pace.reads_proposal]
WINDOWS = parts("windows")


@pytest.mark.parametrize("part", [*READS_BELIEFS, *PACES, *WINDOWS], ids=str)
def test_the_probabilities_of_all_rows_sum_to_1(part: Part, monkeypatch):
    """Whatever decides what is shown next, alone and several at a time, under a denoiser that is wrong."""
    if isinstance(part, Oracle):
        found = [
            fits(part, (f"random, {pace}, sample", "random, evenly(3), sample"))
            for pace in ("per_step(1)", "evenly(2)")
        ]
    elif part in WINDOWS:
        found = [replace(parse(f"margin, per_step({k}), sample"), window=part) for k in (1, 2)]
    else:
        found = [replace(parse(f"{oracle}, per_step(1), sample"), pace=part) for oracle in ("margin", "random")]
    for strategy in found:
        assert summed(strategy, monkeypatch) == pytest.approx(1, abs=1e-9), strategy


@pytest.mark.parametrize(
    "text",
    [
        "chosen_probability, per_step(1), sample",
        "calibrated, per_step(2), sample",
        'noisy(running(log_chosen_probability), "gumbel", 0.1), per_step(1), sample',
        "margin, threshold(0.5), sample",
        "margin, factor(0.9), sample",
        'margin, evenly(4), sample, lowest("again", "rewrite")',
    ],
)
def test_what_is_refused_would_not_sum_to_1(text, monkeypatch):
    monkeypatch.setattr(unmask.likelihood, "_require_normalised", lambda strategy: None)
    assert abs(summed(parse(text), monkeypatch) - 1) > 1e-3


TEACHER = Strategy.of(
    parse("margin, per_step(1), sample").oracle, parse("margin, per_step(1), sample").pace, teacher(((0,),))
)


@pytest.mark.parametrize(
    ("strategy", "told"),
    [
        ('margin, evenly(4), sample, remdm("conf")', r'the revision remdm\("conf"\) takes back what was shown'),
        ("margin, per_step(1), greedy", "the choice greedy does not draw values as the model believes in them"),
        ("margin, per_step(1), sample(0.0)", r"the choice sample\(0.0\) does not draw"),
        ("margin, per_step(1), sample(0.5)", r"the choice sample\(0.5\) does not draw"),
        (
            "margin, per_step(1), sample(top_p=0.9)",
            r"the choice sample\(1.0, 0.9\) does not draw|sample\(top_p=0.9\) does",
        ),
        (TEACHER, r"the choice teacher\(\(\(0,\),\)\) does not draw"),
        ("chosen_probability, per_step(1), sample", "the oracle chosen_probability reads the proposed value"),
        ("calibrated, per_step(1), sample", "the oracle calibrated reads the proposed value"),
        (
            'noisy(log_chosen_probability, "gumbel", 1.0, "annealed"), cosine(12), sample',
            r'the oracle noisy\(log_chosen_probability, "gumbel", 1.0, "annealed"\) reads the proposed value',
        ),
        ('running(noisy(chosen_probability, "gaussian", 0.1)), per_step(1), sample', r"the oracle running\(noisy\("),
        ("margin, threshold(0.9), sample", r"the pace threshold\(0.9\) reads the proposed values"),
        ("margin, factor(1.0), sample", r"the pace factor\(1.0\) reads the proposed values"),
        (3, "expected a Strategy, got a int; a text such as"),
    ],
    ids=str,
)
def test_what_has_no_likelihood_is_refused(strategy, told):
    plain = getattr(log_likelihood, "__wrapped__", log_likelihood)  # without the tests' check of annotations
    with pytest.raises(UnmaskError, match=told) as caught:
        plain(Spy(), complete(drawn(2)), strategy)
    assert "\n" not in str(caught.value)


def test_a_text_needs_a_choice_and_a_size_is_at_least_1():
    with pytest.raises(StrategyError, match="2 parts in a strategy"):
        log_likelihood(Toy(LENGTH), complete(drawn(2)), "margin, per_step(1)")
    with pytest.raises(UnmaskError, match="size is how many rows"):
        log_likelihood(Toy(LENGTH), complete(drawn(2)), "margin, per_step(1), sample", size=0)


@dataclass(frozen=True)
class peeks(Oracle):
    """Reads the proposal, and does not say so."""

    def score(self, belief):
        return belief.log_chosen


def test_an_oracle_that_does_not_say_what_it_reads_is_refused_as_well():
    strategy = replace(parse("margin, per_step(1), sample"), oracle=peeks())
    with pytest.raises(StrategyError, match="reads the proposed values and does not say so"):
        log_likelihood(Toy(LENGTH), complete(drawn(2)), strategy)


def test_given_and_absent_positions_are_not_counted():
    given, present = torch.rand(6, LENGTH) < 0.3, torch.ones(6, LENGTH).bool()
    given[0], present[1:3, 6:], given[5] = False, False, True
    rows = complete(drawn(6), given & present, present)
    found = log_likelihood(Spy(), rows, "left_to_right, per_step(1), sample")
    assert (found.by_step != 0).sum(1).tolist() == (present & ~given).sum(1).tolist()
    assert (found.total[5], found.by_step[5].abs().sum()) == (0, 0)


@pytest.mark.parametrize("gap", [40.0, 800.0])
def test_no_digit_is_lost_near_0_and_near_1(gap):
    """1 - p = 4e-18 would be nothing, and p = e-800 would be 0, if probabilities were what is summed."""
    logits = torch.tensor([gap, 0.0]).double().expand(2, LENGTH, 2)
    tokens = torch.stack([torch.zeros(LENGTH), torch.ones(LENGTH)]).long()
    due = torch.tensor([-LENGTH * math.log1p(math.exp(-gap)), -LENGTH * gap], dtype=torch.float64)
    along = log_likelihood(Stored(logits), complete(tokens), "random, per_step(1), sample").total
    torch.testing.assert_close(along, due, rtol=1e-12, atol=0)
    torch.testing.assert_close(elbo(Stored(logits), complete(tokens), draws=8).mean, due, rtol=1e-12, atol=0)


def test_a_random_order_is_drawn_by_the_seed():
    rows, text = complete(drawn(20)), "random, per_step(1), sample"
    one, same, other = (log_likelihood(Toy(LENGTH), rows, text, seed=seed).total for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert bool((one != other).all())
    one, same, other = (elbo(Toy(LENGTH), rows, draws=4, seed=seed).mean for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert bool((one != other).all())


# Batches and padding


def padded(rows: Rows) -> Rows:
    """Absent positions on both sides, with tokens that no model has."""
    sides = [torch.full((len(rows), n), -7) for n in (2, 5)]
    none = [torch.zeros_like(side, dtype=torch.bool) for side in sides]
    tokens = torch.cat([sides[0], rows.tokens, sides[1]], dim=1)
    given, present = (torch.cat([none[0], mask, none[1]], dim=1) for mask in (rows.given, rows.present))
    return Rows(tokens, given, present)


def ragged() -> Rows:
    """Rows of several lengths, some given."""
    present = torch.arange(LENGTH) < torch.tensor([8, 5, 8, 7, 8, 1, 6])[:, None]
    some_given = torch.rand((7, LENGTH), generator=torch.Generator().manual_seed(1)) < 0.3
    return complete(drawn(7), some_given & present, present)


def same(one: Tensor, other: Tensor) -> bool:
    return bool(one.isclose(other, rtol=0, atol=0, equal_nan=True).all())


@pytest.mark.parametrize("by", ["number", "time"])
@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_the_bound_has_the_same_bits_in_every_batch(design, by):
    rows, options = ragged(), {"draws": 6, "by": by, **design}
    whole = elbo(Toy(LENGTH), rows, size=100, **options)
    for size in (1, 5):
        found = elbo(Toy(LENGTH), rows, size=size, **options)
        assert same(found.mean, whole.mean)
        assert same(found.error, whole.error)
    around = elbo(Toy(LENGTH), padded(rows), **options)
    assert same(around.mean, whole.mean)
    assert same(around.error, whole.error)
    fewer = elbo(Toy(LENGTH), rows.select(torch.arange(3)), **options)
    assert same(fewer.mean, whole.mean[:3])


@pytest.mark.parametrize("text", ["margin, per_step(1)", "random, ancestral(5)", "entropy, entropy_bound(0.5)"])
def test_the_likelihood_has_the_same_bits_in_every_batch(text):
    rows, strategy = ragged(), Strategy.of(*[*_parts(text), sample])
    whole = log_likelihood(Toy(LENGTH), rows, strategy, size=100)
    for other in (
        log_likelihood(Toy(LENGTH), rows, strategy, size=1),
        log_likelihood(Toy(LENGTH), rows, strategy, size=3),
        log_likelihood(Toy(LENGTH), padded(rows), strategy),
    ):
        assert same(other.total, whole.total)
        assert same(other.by_step, whole.by_step)
    fewer = log_likelihood(Toy(LENGTH), rows.select(torch.arange(3)), strategy)
    assert same(fewer.total, whole.total[:3])


def _parts(text: str) -> tuple[Part, Part]:
    strategy = parse(f"{text}, sample")
    return strategy.oracle, strategy.pace
