"""Law 7: what objectives are in the mean, and that their draws are a matter of the key alone."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
import torch

from unmask import noise
from unmask.errors import UnmaskError
from unmask.exact.enumeration import Enumeration
from unmask.objectives import Key, Objective, parse
from unmask.objectives.any_order import any_order
from unmask.objectives.causal import causal
from unmask.objectives.one_order import one_order
from unmask.state import Rows
from unmask.strategy import find, names

LENGTH, VALUES = 6, 3
OBJECTIVES = sorted(name for name, room in names().items() if room == "objectives")


class Arbitrary:
    """Beliefs that fit together in no way: what is said of a place is hashed from what is known of all others."""

    def __init__(self, *, sees_before_only: bool = False) -> None:
        self.causal = sees_before_only

    def __call__(self, state, asked):
        known = torch.where(state.hidden | ~state.present, -1, state.tokens)
        told = []
        for row, column in asked.nonzero().tolist():
            seen = range(column) if self.causal else range(asked.shape[1])
            facts = {int(state.place[row, c]): int(known[row, c]) for c in seen if known[row, c] >= 0 and c != column}
            told.append(self.logits(int(state.place[row, column]), facts))
        return torch.stack(told)

    @staticmethod
    def logits(place: int, facts: dict[int, int]) -> torch.Tensor:
        word = sum((value + 1) * (VALUES + 1) ** where for where, value in facts.items())
        return torch.tensor([3 * noise.uniform(7, "beliefs", place, word, value) for value in range(VALUES)]).double()


def rows_of(tokens: torch.Tensor, **changes) -> Rows:
    here = torch.ones_like(tokens, dtype=torch.bool)
    return Rows(tokens, **{"given": ~here, "present": here, **changes})


def by_masks(x: list[int], belief: Arbitrary) -> float:
    """The paper's equation 1: the sum over all masks, each position by 1 / (|M| C(L, |M|))."""
    total = 0.0
    for size in range(1, LENGTH + 1):
        for mask in itertools.combinations(range(LENGTH), size):
            facts = {place: x[place] for place in range(LENGTH) if place not in mask}
            terms = [-belief.logits(place, facts).log_softmax(-1)[x[place]] for place in mask]
            total += float(sum(terms)) / (size * math.comb(LENGTH, size))
    return total


def test_the_sum_over_masks_is_the_mean_over_all_orders_and_the_integral_over_time() -> None:
    x, belief = [0, 2, 1, 1, 0, 2], Arbitrary()
    wanted = by_masks(x, belief)
    rows = rows_of(torch.tensor([x] * LENGTH))  # as many rows as turns: stratified, each has one of them
    key = Key.of(0, 0, LENGTH)
    orders = list(itertools.permutations(range(LENGTH)))
    assert len(orders) == 720
    known: dict[tuple[int, frozenset[int]], float] = {}
    for place in range(LENGTH):
        others = [other for other in range(LENGTH) if other != place]
        for size in range(LENGTH):
            for seen in itertools.combinations(others, size):
                logits = belief.logits(place, {other: x[other] for other in seen})
                known[place, frozenset(seen)] = -float(logits.log_softmax(-1)[x[place]])
    along = [sum(known[o[i], frozenset(o[:i])] for i in range(LENGTH)) for o in orders]
    assert sum(along) / len(along) == pytest.approx(wanted, abs=1e-9)
    for order in orders[::97]:  # and the objective is that sum, for any of them
        assert float(one_order(order)(belief, rows, key)) == pytest.approx(along[orders.index(order)], abs=1e-9)
    # over time: each hidden with probability t, weight 1 / t; the integral is a Beta function for every mask
    times = (torch.arange(20_000).double() + 0.5) / 20_000
    integral = 0.0
    for size in range(1, LENGTH + 1):
        weight = float((times ** (size - 1) * (1 - times) ** (LENGTH - size)).mean())
        for mask in itertools.combinations(range(LENGTH), size):
            seen = frozenset(range(LENGTH)) - set(mask)
            integral += weight * sum(known[place, seen] for place in mask)
    assert integral == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("by", ["number", "time"])
def test_every_mask_weighs_what_the_paper_says(by: str) -> None:
    count = 60_000
    rows = rows_of(torch.zeros((count, LENGTH), dtype=torch.int64))
    hidden, weight = any_order(by=by).mask(rows, Key.of(3, 5, count))
    number = (hidden * 2 ** torch.arange(LENGTH)).sum(1)
    for mask in range(1, 2**LENGTH):
        here = weight * (number == mask)
        size = mask.bit_count()
        wanted = 1 / (size * math.comb(LENGTH, size))
        error = float(here.double().std()) / count**0.5
        assert float(here.double().mean()) == pytest.approx(wanted, abs=5 * error), f"mask {mask:06b}"


@pytest.mark.parametrize("name", [name for name in OBJECTIVES if name != "causal"])  # held to one_order below
def test_under_exact_beliefs_a_proper_objective_is_the_entropy(name: str) -> None:
    support = torch.tensor([[0, 1, 2, 0], [0, 1, 1, 0], [2, 1, 2, 0], [1, 0, 0, 2], [1, 2, 0, 2]])
    weights = torch.tensor([0.4, 0.1, 0.2, 0.25, 0.05], dtype=torch.float64)
    exact = Enumeration(support, weights=weights, values=VALUES)
    entropy = -float((weights * weights.log()).sum())
    objective = find(name)()
    assert isinstance(objective, Objective)
    assert objective.proper
    copies = 1_000
    count = len(support) * copies
    number = torch.arange(count) % len(support)  # every row at every part of the strata
    key = Key.of(1, 2, count)
    terms = []
    for row in range(len(support)):
        here = (number == row).nonzero().squeeze(1)
        mine = Key(key.seed, key.step, here, count)
        terms.append(float(objective(exact, rows_of(support[number[here]]), mine)))
    assert sum(w * t for w, t in zip(weights.tolist(), terms, strict=True)) == pytest.approx(entropy, abs=0.03)


@pytest.mark.parametrize("order", [(), (3, 1, 5, 0, 2, 4), (5, 4), (2, 0, 1, 3, 4, 5)])
def test_causal_is_one_order_in_one_pass(order: tuple[int, ...]) -> None:
    tokens = torch.randint(VALUES, (3, LENGTH), generator=torch.Generator().manual_seed(1))
    given = torch.zeros_like(tokens, dtype=torch.bool)
    given[1, 2] = given[2, 0] = given[2, 5] = True
    present = torch.ones_like(given)
    present[0, 4] = False
    for number in range(3):
        row = rows_of(tokens[[number]], given=given[[number]], present=present[[number]])
        turns = int((row.present & ~row.given).sum())
        many = rows_of(
            row.tokens.repeat(turns, 1), given=row.given.repeat(turns, 1), present=row.present.repeat(turns, 1)
        )
        one = one_order(order)(Arbitrary(), many, Key.of(0, 0, turns))
        assert float(causal(order)(Arbitrary(sees_before_only=True), row, Key.of(0, 0, 1))) == pytest.approx(float(one))


def test_rows_may_have_orders_of_their_own() -> None:
    tokens = torch.tensor([[0, 1, 2, 0, 1, 2]] * 2)
    orders = [(4, 0, 5, 1, 3, 2), (1, 2, 3, 0, 5, 4)]
    turn = torch.tensor([[order.index(place) for place in range(LENGTH)] for order in orders])
    together = causal()(Arbitrary(sees_before_only=True), rows_of(tokens, turn=10 * turn), Key.of(0, 0, 2))
    each = [causal(order)(Arbitrary(sees_before_only=True), rows_of(tokens[:1]), Key.of(0, 0, 1)) for order in orders]
    assert float(together) == pytest.approx(float(sum(each)) / 2)
    told = one_order(orders[0])(Arbitrary(), rows_of(tokens, turn=turn), Key.of(0, 0, 2))  # an order that is told wins
    assert float(told) == float(one_order(orders[0])(Arbitrary(), rows_of(tokens), Key.of(0, 0, 2)))


class Recording:
    """Remembers what it was asked."""

    causal = True

    def __init__(self) -> None:
        self.seen: list[tuple[torch.Tensor, torch.Tensor]] = []

    def __call__(self, state, asked):
        self.seen.append((state.hidden, asked))
        return torch.zeros((int(asked.sum()), VALUES))


@pytest.mark.parametrize("objective", [*OBJECTIVES, 'any_order(by="time")', 'any_order("time", "linear", steps=4)'])
def test_draws_are_a_matter_of_the_key_alone_and_never_touch_what_is_given_or_absent(objective: str) -> None:
    made = parse(objective)
    tokens = torch.randint(VALUES, (12, LENGTH), generator=torch.Generator().manual_seed(2))
    rows = rows_of(tokens)
    rows.given[::2, 1] = True
    rows.present[1::2, 5] = False
    whole, parts, other = Recording(), Recording(), Recording()
    made(whole, rows, Key.of(5, 9, 12))
    for part in torch.arange(12).split(5):
        some = Rows(tokens[part], rows.given[part], rows.present[part])
        made(parts, some, Key(5, 9, part, 12))
    made(other, rows, Key.of(5, 10, 12))
    for which in range(2):
        assert torch.equal(whole.seen[0][which], torch.cat([seen[which] for seen in parts.seen]))
    answers = rows.present & ~rows.given
    if objective != "causal":  # whose columns are in an order of their own
        assert not (whole.seen[0][1] & ~answers).any()
        assert not (whole.seen[0][0] & ~answers).any()
        assert not torch.equal(whole.seen[0][1], other.seen[0][1])
    assert (whole.seen[0][1].sum(1) <= answers.sum(1)).all()


def test_shares_are_stratified_over_the_batch() -> None:
    rows = rows_of(torch.zeros((60, LENGTH), dtype=torch.int64))
    hidden, _ = any_order().mask(rows, Key.of(0, 0, 60))
    assert torch.bincount(hidden.sum(1)).tolist() == [0] + [10] * LENGTH


def test_weights_of_the_puzzle_code() -> None:
    rows = rows_of(torch.zeros((400, LENGTH), dtype=torch.int64))
    objective = any_order("time", "linear", focal=1.0, steps=4)
    assert not objective.proper
    _, weight = objective.mask(rows, Key.of(0, 0, 400))
    assert sorted(set(weight.tolist())) == [1.0, 2.0, 3.0, 4.0]

    def half_sure(state, asked):
        return torch.zeros((int(asked.sum()), 2))

    plain, focal = (replace(objective, focal=f)(half_sure, rows, Key.of(0, 0, 400)) for f in (0.0, 1.0))
    assert float(focal) == pytest.approx(float(plain) / 2)


def test_a_floor_bounds_the_weight() -> None:
    rows = rows_of(torch.zeros((60, LENGTH), dtype=torch.int64))
    _, weight = any_order(floor=0.5).mask(rows, Key.of(0, 0, 60))
    assert float(weight.max()) == 2
    assert not any_order(floor=0.5).proper


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("any_order(floor=2)", "floor must be between 0 and 1"),
        ("any_order(steps=4)", "by="),
        ('any_order(weight="linear")', "needs steps"),
        ("any_order(flor=0.5)", "floor"),
        ("anyorder", "any_order"),
        ("one_order((1, 1))", "at most once"),
        ("margin", "is no objective"),
        ("any_order, any_order", "is no objective"),
    ],
)
def test_what_is_no_objective_is_refused_by_name(text: str, told: str) -> None:
    with pytest.raises(UnmaskError, match=told):
        parse(text)


def test_causal_is_for_causal_nets() -> None:
    with pytest.raises(UnmaskError, match="causal nets"):
        causal()(Arbitrary(), rows_of(torch.zeros((1, LENGTH), dtype=torch.int64)), Key.of(0, 0, 1))


@pytest.mark.parametrize("name", OBJECTIVES)
def test_an_objective_reads_back(name: str) -> None:
    made = find(name)()
    assert parse(str(made)) == made
