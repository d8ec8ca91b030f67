"""HiddenMarkov against a loop over all paths, and against Enumeration; padding, bits, refusals."""

from __future__ import annotations

import itertools
import math
import random

import pytest
import torch
from torch import Tensor

from unmask.belief import Belief
from unmask.errors import ImpossibleEvidence, UnmaskError
from unmask.exact.enumeration import Enumeration
from unmask.exact.hidden_markov import HiddenMarkov
from unmask.state import State

SHOWN, HIDDEN, ABSENT = range(3)
STATES, VALUES, LENGTH = 3, 2, 4
Row = tuple[int, ...]


def with_zeros() -> HiddenMarkov:
    """Steps and values that cannot be: a cycle of three, each with a value that it never emits."""
    initial = torch.tensor([0.7, 0.3, 0.0])
    transition = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.75, 0.0, 0.25]])
    emission = torch.tensor([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    return HiddenMarkov(initial, transition, emission)


MODELS = {"drawn": HiddenMarkov.draw(STATES, VALUES, seed=1), "with zeros": with_zeros()}


def path_mass(model: HiddenMarkov, values: tuple[int | None, ...]) -> float:
    """p(these values), the chain's paths one by one; None stands for any value."""
    initial, transition, emission = model.initial.tolist(), model.transition.tolist(), model.emission.tolist()
    terms = []
    for path in itertools.product(range(len(initial)), repeat=len(values)):
        mass = initial[path[0]]
        for here, after in itertools.pairwise(path):
            mass *= transition[here][after]
        for here, value in zip(path, values, strict=True):
            mass *= 1.0 if value is None else emission[here][value]
        terms.append(mass)
    return math.fsum(terms)


def brute(model: HiddenMarkov, tokens: Row, roles: Row) -> dict[int, list[float]] | None:
    """Log probabilities at every present position; None where what is shown is impossible."""
    there = [position for position, role in enumerate(roles) if role != ABSENT]
    known = [tokens[position] if roles[position] == SHOWN else None for position in there]
    if not there or not path_mass(model, tuple(known)):
        return None
    answer = {}
    for number, position in enumerate(there):
        if roles[position] == SHOWN:
            answer[position] = [0.0 if value == tokens[position] else -math.inf for value in range(VALUES)]
            continue
        mass = [path_mass(model, (*known[:number], value, *known[number + 1 :])) for value in range(VALUES)]
        answer[position] = [math.log(m / math.fsum(mass)) if m else -math.inf for m in mass]
    return answer


def state_of(tokens: list[Row], roles: list[Row], keys: list[int] | None = None) -> State:
    role = torch.tensor(roles)
    row = None if keys is None else torch.tensor(keys)
    return State.start(torch.tensor(tokens), role == HIDDEN, present=role != ABSENT, row=row)


def assert_close(found: Tensor, expected: list[float], tolerance: float = 1e-12) -> None:
    for one, other in zip(found.tolist(), expected, strict=True):
        assert one == other or abs(one - other) < tolerance


def many(batch: int, length: int, values: int, *, seed: int = 0) -> State:
    """Rows of every kind: shown, hidden and absent positions anywhere."""
    draw = random.Random(seed)
    tokens = [tuple(draw.randrange(values) for _ in range(length)) for _ in range(batch)]
    roles = [tuple(draw.choice((SHOWN, HIDDEN, HIDDEN, ABSENT)) for _ in range(length)) for _ in range(batch)]
    return state_of(tokens, roles)


@pytest.mark.parametrize("name", MODELS)
def test_every_mask_agrees_with_all_paths(name: str) -> None:
    model, impossible = MODELS[name], 0
    for tokens in itertools.product(range(VALUES), repeat=LENGTH):
        for key, roles in enumerate(itertools.product(range(3), repeat=LENGTH)):
            if any(token and role == HIDDEN for token, role in zip(tokens, roles, strict=True)):
                continue  # the same state as with 0 there
            expected = brute(model, tokens, roles)
            state = state_of([tokens], [roles], [key])
            if expected is None:
                if HIDDEN in roles:
                    impossible += 1
                    with pytest.raises(ImpossibleEvidence, match=rf"^what is shown in row {key} has probability 0 "):
                        model(state, state.hidden)
                continue
            found = model(state, state.present)
            for number, position in enumerate(sorted(expected)):
                assert_close(found[number], expected[position])
    assert (impossible > 10) == (name == "with zeros")


def test_impossible_evidence_names_the_row_among_others() -> None:
    state = state_of(
        [(0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0)], [(HIDDEN,) * 4, (HIDDEN, *(SHOWN,) * 3), (HIDDEN,) * 4]
    )
    state = state.select(torch.tensor([0, 1, 2]))
    cycle = HiddenMarkov(torch.tensor([1.0, 0.0]), torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.eye(2))
    keyed = State(**{**vars(state), "row": torch.tensor([8, 77, 9])})
    with pytest.raises(ImpossibleEvidence, match=r"^what is shown in row 77 has probability 0 [^\n]*$"):
        cycle(keyed, keyed.hidden)


@pytest.mark.parametrize("name", MODELS)
def test_equals_enumeration_of_all_sequences(name: str) -> None:
    model, length = MODELS[name], 6
    sequences = torch.cartesian_prod(*[torch.arange(VALUES)] * length)
    weights = model.log_probability(sequences).exp()
    assert weights.sum().item() == pytest.approx(1.0, abs=1e-13)
    enumeration = Enumeration(sequences, weights, values=VALUES)
    drawn = sequences[torch.multinomial(weights, 200, replacement=True, generator=torch.Generator().manual_seed(0))]
    hidden = torch.rand(drawn.shape, generator=torch.Generator().manual_seed(1)) < 0.5
    state = State.start(drawn, hidden)
    everything = torch.ones_like(hidden)
    one, other = (Belief(state, everything, denoise).log_probabilities for denoise in (model, enumeration))
    assert_close(one.flatten(), other.flatten().tolist())


@pytest.mark.parametrize("name", MODELS)
def test_log_probability_sums_over_all_paths(name: str) -> None:
    model = MODELS[name]
    sequences = list(itertools.product(range(VALUES), repeat=LENGTH))
    found = model.log_probability(torch.tensor(sequences))
    expected = [path_mass(model, sequence) for sequence in sequences]
    assert_close(found, [math.log(mass) if mass else -math.inf for mass in expected])


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5), (5, 4, 3, 2, 1, 0), (3, 0, 5, 1, 4, 2)])
def test_the_chain_rule_holds_in_any_order(order: Row) -> None:
    model = HiddenMarkov.draw(4, 5, seed=3)
    tokens = torch.randint(0, 5, (8, 6), generator=torch.Generator().manual_seed(0))
    total = torch.zeros(8, dtype=torch.float64)
    for number, position in enumerate(order):
        hidden = torch.zeros_like(tokens, dtype=torch.bool)
        hidden[:, list(order[number:])] = True
        asked = torch.zeros_like(hidden)
        asked[:, position] = True
        total += model(State.start(tokens, hidden), asked).gather(1, tokens[:, position, None])[:, 0]
    assert total.tolist() == pytest.approx(model.log_probability(tokens).tolist(), abs=1e-12)


def test_normalised_at_any_length() -> None:
    model = HiddenMarkov.draw(5, 7, seed=2)
    state = many(4, 300, 7)
    logits = model(state, state.present)
    assert logits.exp().sum(1).tolist() == pytest.approx([1.0] * len(logits), abs=1e-12)
    assert bool(model.log_probability(state.tokens).isfinite().all())


def test_long_agreement_does_not_underflow() -> None:
    """Two chains that never meet: 400 values speak for the first, and one that only the second has decides."""
    model = HiddenMarkov(torch.tensor([0.5, 0.5]), torch.eye(2), torch.tensor([[0.9, 0.1, 0.0], [0.1, 0.8, 0.1]]))
    tokens = torch.zeros((1, 402), dtype=torch.int64)
    tokens[0, 400] = 2
    hidden = torch.zeros_like(tokens, dtype=torch.bool)
    hidden[0, 401] = True
    state = State.start(tokens, hidden)
    assert model(state, hidden).exp()[0].tolist() == pytest.approx([0.1, 0.8, 0.1])


def test_a_shown_position_is_a_point_mass() -> None:
    model = HiddenMarkov.draw(3, 4)
    state = state_of([(1, 3, 0, 2)], [(SHOWN, SHOWN, HIDDEN, SHOWN)])
    found = model(state, torch.ones_like(state.hidden))
    for position, value in ((0, 1), (1, 3), (3, 2)):
        assert found[position].tolist() == [0.0 if other == value else -math.inf for other in range(4)]


@pytest.mark.parametrize("junk", [0, 1, -1, 99])
@pytest.mark.parametrize(("left", "right"), [(1, 0), (0, 1), (3, 2), (0, 13)])
def test_padding_changes_nothing(left: int, right: int, junk: int) -> None:
    model = HiddenMarkov.draw(3, 4, seed=5)
    tokens = torch.randint(0, 4, (20, 6), generator=torch.Generator().manual_seed(0))
    hidden = torch.rand((20, 6), generator=torch.Generator().manual_seed(1)) < 0.5

    def padded(inside: Tensor, fill: int) -> Tensor:
        return torch.nn.functional.pad(inside, (left, right), value=fill)

    plain = State.start(tokens, hidden)
    present = padded(torch.ones_like(hidden), 0)
    around = State.start(padded(tokens, junk), padded(hidden, 0), present=present)
    assert torch.equal(model(around, present), model(plain, torch.ones_like(hidden)))


def test_what_is_absent_inside_is_passed_over() -> None:
    model = HiddenMarkov.draw(3, 4, seed=6)
    gap = state_of([(1, 3, 0, 2, 1)], [(SHOWN, ABSENT, HIDDEN, ABSENT, SHOWN)])
    plain = state_of([(1, 0, 1)], [(SHOWN, HIDDEN, SHOWN)])
    assert torch.equal(model(gap, gap.hidden), model(plain, plain.hidden))


@pytest.mark.parametrize("unknown", [4, 99, -1])
def test_a_shown_value_that_the_model_lacks_is_refused(unknown: int) -> None:
    state = state_of([(unknown, 0, 0)], [(SHOWN, HIDDEN, HIDDEN)])
    with pytest.raises(UnmaskError):
        HiddenMarkov.draw(3, 4)(state, state.hidden)


@pytest.mark.parametrize(("states", "values", "length"), [(2, 2, 5), (3, 9, 16), (8, 27, 33)])
def test_bits_are_the_same_in_every_batch(states: int, values: int, length: int) -> None:
    model = HiddenMarkov.draw(states, values, seed=7)
    state = many(64, length, values)

    def answer(index: list[int]) -> Tensor:
        chosen = state.select(torch.tensor(index))
        return model(chosen, torch.ones_like(chosen.hidden)).view(len(index), length, values)

    together = answer(list(range(64)))
    assert torch.equal(answer(list(reversed(range(64)))).flip(0), together)
    for row in range(64):
        assert torch.equal(answer([row])[0], together[row])
    for row in range(0, 64, 7):
        three = [row, (row + 5) % 64, (row + 11) % 64]
        assert torch.equal(answer(three), together[three])
        assert torch.equal(model.log_probability(state.tokens[three]), model.log_probability(state.tokens)[three])


def test_asked_picks_from_everything_row_by_row() -> None:
    model, state = HiddenMarkov.draw(3, 4), many(6, 9, 4)
    asked = torch.rand(state.hidden.shape, generator=torch.Generator().manual_seed(0)) < 0.5
    everything = model(state, torch.ones_like(asked)).view(6, 9, 4)
    assert torch.equal(model(state, asked), everything[asked])


def test_drawn_models_are_models_and_the_same_for_the_same_seed() -> None:
    one, again, other = (
        HiddenMarkov.draw(3, 4, seed=1),
        HiddenMarkov.draw(3, 4, seed=1),
        HiddenMarkov.draw(3, 4, seed=2),
    )
    for name, shape in (("initial", (3,)), ("transition", (3, 3)), ("emission", (3, 4))):
        table = getattr(one, name)
        assert table.shape == shape
        assert table.dtype == torch.float64
        assert bool((table > 0).all())
        assert table.sum(-1).flatten().tolist() == pytest.approx([1.0] * (table.numel() // shape[-1]))
        assert torch.equal(table, getattr(again, name))
        assert not torch.equal(table, getattr(other, name))


@pytest.mark.parametrize("name", ["initial", "transition", "emission"])
@pytest.mark.parametrize("spoilt", [[1.5, -0.5], [0.5, 0.4], [0.0, 0.0], [math.nan, 1.0], [math.inf, 0.0]])
def test_bad_tables_are_refused(name: str, spoilt: list[float]) -> None:
    half = torch.full((2, 2), 0.5)
    tables = {"initial": half[0].clone(), "transition": half.clone(), "emission": half.clone()}
    table = tables[name]
    table.view(-1, 2)[-1] = torch.tensor(spoilt)
    with pytest.raises(UnmaskError, match=rf"^HiddenMarkov: {name} must be probabilities that sum to 1 "):
        HiddenMarkov(**tables)
