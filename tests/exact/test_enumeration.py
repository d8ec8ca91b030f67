"""Enumeration against loops over the support: any evidence, any weights, the same bits in every batch."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some
from torch import Tensor

from unmask.belief import Belief
from unmask.decode import decode
from unmask.errors import ImpossibleEvidence, UnmaskError
from unmask.exact.enumeration import Enumeration
from unmask.state import State

SHOWN, HIDDEN, ABSENT = range(3)
LENGTH, VALUES = 5, 3
Row = tuple[int, ...]


def drawn(seed: int, *, even: bool, size: int = 30) -> tuple[list[Row], list[float]]:
    """A support without repetitions, and weights that do not sum to 1."""
    draw = random.Random(seed)
    support: set[Row] = set()
    while len(support) < size:
        support.add(tuple(draw.randrange(VALUES) for _ in range(LENGTH)))
    return sorted(support), [1.0 if even else 0.01 + 5 * draw.random() ** 3 for _ in support]


def model(support: list[Row], weights: list[float] | None = None, **options: str) -> Enumeration:
    table = None if weights is None else torch.tensor(weights, dtype=torch.float64)
    return Enumeration(torch.tensor(support), table, values=VALUES, **options)


def brute(support: list[Row], weights: list[float], tokens: Row, roles: Row, *, closest: bool = False) -> list:
    """For each position the log probabilities of its values; None where nothing agrees with what is shown."""
    shown = [position for position, role in enumerate(roles) if role == SHOWN]
    agreed = [sum(row[position] == tokens[position] for position in shown) for row in support]
    needed = max(agreed) if closest else len(shown)
    answer = []
    for position in range(len(tokens)):
        mass = [0.0] * VALUES
        for row, weight, number in zip(support, weights, agreed, strict=True):
            if number == needed:
                mass[row[position]] += weight
        total = math.fsum(mass)
        answer.append([math.log(m / total) if m else -math.inf for m in mass] if total else None)
    return answer


def state_of(tokens: list[Row], roles: list[Row], keys: list[int] | None = None) -> State:
    role = torch.tensor(roles)
    row = None if keys is None else torch.tensor(keys)
    return State.start(torch.tensor(tokens), role == HIDDEN, present=role != ABSENT, row=row)


def everywhere(denoise: Enumeration, state: State) -> Tensor:
    """Log probabilities of all positions, [B, L, V]."""
    everything = torch.ones_like(state.hidden)
    belief = Belief(state, everything, denoise)
    return belief.log_probabilities.view(*state.tokens.shape, -1)


def assert_close(found: Tensor, expected: list[float], tolerance: float = 1e-12) -> None:
    for one, other in zip(found.tolist(), expected, strict=True):
        assert one == other or abs(one - other) < tolerance


def all_roles() -> Iterator[Row]:
    for number in range(3**LENGTH):
        yield tuple(number // 3**position % 3 for position in range(LENGTH))


@pytest.mark.parametrize("even", [True, False])
def test_every_mask_agrees_with_the_loop(even: bool) -> None:
    support, weights = drawn(0, even=even)
    denoise = model(support, None if even else weights)
    draw = random.Random(1)
    tokens = [draw.choice(support) for _ in range(3**LENGTH)]
    roles = list(all_roles())
    found = everywhere(denoise, state_of(tokens, roles))
    for number in range(len(tokens)):
        for position, expected in enumerate(brute(support, weights, tokens[number], roles[number])):
            assert_close(found[number, position], expected)


@settings(max_examples=60, deadline=None)
@given(some.integers(0, 10**6), some.booleans(), some.lists(some.integers(0, 2), min_size=LENGTH, max_size=LENGTH))
def test_any_model_agrees_with_the_loop(seed: int, even: bool, roles: list[int]) -> None:
    support, weights = drawn(seed, even=even, size=1 + seed % 40)
    tokens = support[seed % len(support)]
    found = everywhere(model(support, weights), state_of([tokens], [tuple(roles)]))
    for position, expected in enumerate(brute(support, weights, tokens, tuple(roles))):
        assert_close(found[0, position], expected)


@pytest.mark.parametrize("even", [True, False])
def test_impossible_evidence_is_told_from_possible(even: bool) -> None:
    support, weights = drawn(2, even=even, size=12)
    denoise, draw, possible = model(support, weights), random.Random(3), 0
    for key in range(200):
        tokens = tuple(draw.randrange(VALUES) for _ in range(LENGTH))
        roles = tuple(draw.randrange(3) for _ in range(LENGTH))
        state = state_of([support[0], tokens], [(HIDDEN,) * LENGTH, roles], [1000, key])
        if brute(support, weights, tokens, roles)[0] is None:
            with pytest.raises(ImpossibleEvidence, match=rf"^what is shown in row {key} has probability 0: [^\n]*$"):
                denoise(state, state.hidden)
        else:
            possible += 1
            assert bool(denoise(state, torch.ones_like(state.hidden)).exp().sum(1).gt(0).all())
    assert 40 < possible < 160


@pytest.mark.parametrize("even", [True, False])
def test_closest_believes_in_the_rows_that_disagree_least(even: bool) -> None:
    support, weights = drawn(4, even=even, size=12)
    denoise, draw = model(support, weights, impossible="closest"), random.Random(5)
    tokens = [tuple(draw.randrange(VALUES) for _ in range(LENGTH)) for _ in range(100)]
    roles = [tuple(draw.randrange(3) for _ in range(LENGTH)) for _ in range(100)]
    found = everywhere(denoise, state_of(tokens, roles))
    contradicted = 0
    for number in range(100):
        contradicted += brute(support, weights, tokens[number], roles[number])[0] is None
        expected = brute(support, weights, tokens[number], roles[number], closest=True)
        for position in range(LENGTH):
            assert_close(found[number, position], expected[position])
    assert contradicted > 20


def test_closest_lets_a_contradicted_decode_finish() -> None:
    support = [(0, 1, 2, 0, 1), (1, 2, 0, 1, 2), (2, 0, 1, 2, 0)]
    state = state_of([(0, 2, 0, 0, 0)], [(SHOWN, SHOWN, HIDDEN, HIDDEN, HIDDEN)])
    with pytest.raises(ImpossibleEvidence):
        decode(model(support), state, "margin, per_step(1), greedy").finish()
    end = decode(model(support, impossible="closest"), state, "left_to_right, per_step(1), greedy").finish()
    assert not end.hidden.any()
    # Rows 0 and 1 agree once each: the lower value first; from then on row 1 agrees twice.
    assert end.tokens.tolist() == [[0, 2, 0, 1, 2]]


def test_a_shown_position_is_a_point_mass() -> None:
    support, weights = drawn(6, even=False)
    state = state_of(support[:4], [(SHOWN, HIDDEN, SHOWN, HIDDEN, HIDDEN)] * 4)
    found = everywhere(model(support, weights), state)
    for row in range(4):
        for position in (0, 2):
            expected = [0.0 if value == support[row][position] else -math.inf for value in range(VALUES)]
            assert found[row, position].tolist() == expected


def test_what_is_absent_is_no_evidence() -> None:
    support, weights = drawn(7, even=False)
    tokens = support[3]
    roles = (SHOWN, ABSENT, HIDDEN, ABSENT, HIDDEN)
    plain = everywhere(model(support, weights), state_of([tokens], [roles]))
    for junk in (-1, 0, 2, VALUES, 10**9):
        padded = (tokens[0], junk, tokens[2], junk, tokens[4])
        assert torch.equal(everywhere(model(support, weights), state_of([padded], [roles])), plain)


@pytest.mark.parametrize("unknown", [VALUES, 10**9, -1])
def test_a_shown_value_that_no_row_has_is_impossible(unknown: int) -> None:
    support, _ = drawn(8, even=True)
    state = state_of([(unknown, 0, 0, 0, 0)], [(SHOWN, HIDDEN, HIDDEN, HIDDEN, HIDDEN)], [5])
    with pytest.raises(ImpossibleEvidence, match="row 5"):
        model(support)(state, state.hidden)


@pytest.mark.parametrize("even", [True, False])
def test_normalised_after_the_belief(even: bool) -> None:
    support, weights = drawn(9, even=even)
    state = state_of(support, [(HIDDEN, SHOWN, HIDDEN, HIDDEN, ABSENT)] * len(support))
    belief = Belief(state, state.hidden, model(support, weights))
    assert belief.probabilities.sum(1).tolist() == pytest.approx([1.0] * len(belief.flat), abs=1e-13)
    assert len(belief.flat) == 3 * len(support)


@pytest.mark.parametrize("size", [7, 30, 200])
@pytest.mark.parametrize("even", [True, False])
def test_bits_are_the_same_in_every_batch(even: bool, size: int) -> None:
    support, weights = drawn(10, even=even, size=size)
    denoise, draw = model(support, weights), random.Random(11)
    tokens = [draw.choice(support) for _ in range(64)]
    roles = [tuple(draw.choice((SHOWN, HIDDEN, HIDDEN)) for _ in range(LENGTH)) for _ in range(64)]
    state = state_of(tokens, roles)

    def answer(index: list[int]) -> Tensor:
        chosen = state.select(torch.tensor(index))
        return denoise(chosen, torch.ones_like(chosen.hidden)).view(len(index), LENGTH, VALUES)

    together = answer(list(range(64)))
    assert torch.equal(answer(list(reversed(range(64)))).flip(0), together)
    for row in range(64):
        assert torch.equal(answer([row])[0], together[row])
        three = [row, (row + 5) % 64, (row + 11) % 64]
        assert torch.equal(answer(three), together[three])


def test_asked_picks_from_everything_row_by_row() -> None:
    support, weights = drawn(12, even=False)
    state = state_of(support[:6], [(HIDDEN, SHOWN, HIDDEN, HIDDEN, HIDDEN)] * 6)
    asked = torch.rand(state.hidden.shape, generator=torch.Generator().manual_seed(0)) < 0.5
    denoise = model(support, weights)
    everything = denoise(state, torch.ones_like(asked)).view(6, LENGTH, VALUES)
    assert torch.equal(denoise(state, asked), everything[asked])


def test_scale_and_order_of_the_weights_do_not_matter() -> None:
    support, weights = drawn(13, even=False)
    state = state_of([support[0]], [(SHOWN, HIDDEN, HIDDEN, HIDDEN, HIDDEN)])
    plain = everywhere(model(support, weights), state)
    scaled = everywhere(model(support, [weight * 1e-30 for weight in weights]), state)
    turned = everywhere(model(support[::-1], weights[::-1]), state)
    for other in (scaled, turned):
        assert_close(other.flatten(), plain.flatten().tolist())


def test_rows_of_weight_0_are_not_in_the_support() -> None:
    support, weights = drawn(14, even=False)
    weights[4] = 0.0
    denoise = model(support, weights)
    state = state_of([support[4]], [(SHOWN,) * (LENGTH - 1) + (HIDDEN,)])
    expected = brute(support, weights, support[4], (SHOWN,) * (LENGTH - 1) + (HIDDEN,))[-1]
    if expected is None:
        with pytest.raises(ImpossibleEvidence):
            everywhere(denoise, state)
    else:
        assert_close(everywhere(denoise, state)[0, -1], expected)
    assert denoise.log_probability(torch.tensor([support[4]])).tolist() == [-math.inf]


@pytest.mark.parametrize("ratio", [1e-5, 1e-9, 1e-14, 1e-20, 1e-200])
def test_rare_rows_stay_possible(ratio: float) -> None:
    """The chain rule holds for them too, or the likelihood along an order would not be that of the row."""
    denoise = model([(0, 0, 0, 0, 0), (1, 1, 1, 1, 1)], [1.0, ratio])
    state = state_of([(0, 0, 0, 0, 0)], [(HIDDEN,) * LENGTH])
    expected = math.log(ratio) - math.log1p(ratio)
    assert denoise.log_probability(torch.ones((1, LENGTH), dtype=torch.int64)).tolist() == pytest.approx([expected])
    assert everywhere(denoise, state)[0, 0, 1].item() == pytest.approx(expected, abs=1e-6)


def test_repeated_rows_count_as_often_as_they_are_there() -> None:
    denoise = Enumeration(torch.tensor([[0, 1], [0, 1], [1, 1]]))
    assert everywhere(denoise, state_of([(0, 0)], [(HIDDEN, HIDDEN)]))[0, 0].exp().tolist() == pytest.approx(
        [2 / 3, 1 / 3]
    )
    assert denoise.log_probability(torch.tensor([[0, 1], [1, 1]])).exp().tolist() == pytest.approx([2 / 3, 1 / 3])


def test_log_probability_of_rows() -> None:
    support, weights = drawn(15, even=False)
    total = math.fsum(weights)
    found = model(support, weights).log_probability(torch.tensor([*support, (9, 9, 9, 9, 9)]))
    assert found.tolist() == pytest.approx([math.log(weight / total) for weight in weights] + [-math.inf], abs=1e-12)


def test_values_are_as_many_as_the_support_has_unless_told() -> None:
    support = torch.tensor([[0, 2], [1, 0]])
    state = state_of([(0, 0)], [(HIDDEN, HIDDEN)])
    assert Enumeration(support)(state, state.hidden).shape == (2, 3)
    assert Enumeration(support, values=6)(state, state.hidden).shape == (2, 6)


@pytest.mark.parametrize("weights", [[0.0, 0.0], [1.0, -1.0], [1.0, math.nan], [1.0, math.inf]])
def test_bad_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(UnmaskError, match=r"^Enumeration: weights must be finite, at least 0, and not all 0$"):
        Enumeration(torch.tensor([[0, 1], [1, 0]]), torch.tensor(weights))


def test_an_empty_support_is_refused() -> None:
    with pytest.raises(UnmaskError, match="Enumeration"):
        Enumeration(torch.zeros((0, 3), dtype=torch.int64))


@pytest.mark.parametrize(("support", "values"), [([[0, 1], [1, 3]], 3), ([[0, 1], [1, -1]], None)])
def test_a_support_outside_the_values_is_refused(support: list[list[int]], values: int | None) -> None:
    with pytest.raises(UnmaskError, match="Enumeration"):
        Enumeration(torch.tensor(support), values=values)


def test_rows_of_another_length_are_refused() -> None:
    state = state_of([(0, 0, 0)], [(HIDDEN,) * 3])
    with pytest.raises(UnmaskError, match=r"^Enumeration: rows of the support have 2 positions, not 3$"):
        Enumeration(torch.tensor([[0, 1]]))(state, state.hidden)
