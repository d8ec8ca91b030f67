"""State: what is hidden is gone, rows are taken and put together without loss, places see through padding."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace

import numpy
import pytest
import torch
from torch import Tensor
from toys import Toy

from unmask.decode import decode
from unmask.errors import UnmaskError
from unmask.state import Rows, State


def everything(state: State) -> dict[str, Tensor]:
    """All tensors of a state by name, those of its memory too."""
    named = {f.name: getattr(state, f.name) for f in fields(state)}
    tensors = {name: value for name, value in named.items() if isinstance(value, Tensor)}
    return tensors | {f"memory {name}": tensor for name, tensor in state.memory.items()}


def assert_same(one: State, other: State) -> None:
    first, second = everything(one), everything(other)
    assert first.keys() == second.keys()
    for name in first:
        assert first[name].dtype == second[name].dtype, name
        assert torch.equal(first[name].nan_to_num(nan=-9), second[name].nan_to_num(nan=-9)), name
    assert (one.seed, one.steps, one.strategy) == (other.seed, other.steps, other.strategy)


def rich(batch: int = 5, length: int = 7, first_key: int = 0) -> State:
    """A state in the middle of a decode, in which no two rows are alike in anything."""
    draw = torch.Generator().manual_seed(first_key)

    def mask() -> Tensor:
        return torch.rand((batch, length), generator=draw) < 0.5

    present = mask() | mask()
    hidden = mask() & present
    tokens = torch.randint(0, 9, (batch, length), generator=draw)
    coordinates = torch.randint(-1, 9, (batch, length, 3), generator=draw)
    row = torch.arange(batch) * 3 + first_key
    state = State.start(
        tokens, hidden, given=mask() & ~hidden, present=present, coordinates=coordinates, seed=11, row=row
    )
    return replace(
        state,
        window=mask(),
        step=torch.arange(batch) + 1,
        stage_step=torch.arange(batch) + 20,
        stage_hidden=torch.arange(batch) + 40,
        shown_probability=torch.rand((batch, length), generator=draw, dtype=torch.float64),
        steps=6,
        strategy="margin, evenly(6), greedy",
        memory={"stable": torch.arange(batch) + 60, "believed": torch.rand((batch, length, 4), generator=draw)},
    )


def test_start_refuses_hidden_and_given() -> None:
    hidden = torch.zeros((3, 4), dtype=torch.bool)
    hidden[1, 2] = True
    with pytest.raises(UnmaskError, match=r"^row 1, position 2 is both hidden and given; hide only .*$"):
        State.start(torch.ones((3, 4), dtype=torch.int64), hidden, given=hidden)


def test_start_refuses_hidden_and_absent() -> None:
    hidden = torch.zeros((3, 4), dtype=torch.bool)
    hidden[2, 0] = hidden[2, 3] = True
    present = torch.ones_like(hidden)
    present[2, 3] = False
    with pytest.raises(UnmaskError, match=r"^row 2, position 3 is both hidden and absent; hide only .*$"):
        State.start(torch.ones((3, 4), dtype=torch.int64), hidden, present=present)


def test_start_takes_what_is_neither_hidden_nor_given() -> None:
    hidden = torch.tensor([[True, False, False]])
    given = torch.tensor([[False, True, False]])
    state = State.start(torch.tensor([[5, 6, 7]]), hidden, given=given)
    assert state.tokens.tolist() == [[0, 6, 7]]
    assert replace(state, window=torch.ones_like(hidden)).revisable.tolist() == [[False, False, True]]


def test_nothing_leaks_from_under_what_is_hidden() -> None:
    hidden = torch.tensor([[True, False, True, False]])
    one = State.start(torch.tensor([[3, 1, 4, 1]]), hidden)
    other = State.start(torch.tensor([[9, 1, 7, 1]]), hidden)
    assert one.tokens.tolist() == [[0, 1, 0, 1]]
    assert_same(one, other)


def test_start_leaves_the_callers_tokens_alone() -> None:
    tokens = torch.tensor([[3, 1, 4]])
    state = State.start(tokens, torch.tensor([[True, False, False]]))
    assert tokens.tolist() == [[3, 1, 4]]
    assert state.tokens.data_ptr() != tokens.data_ptr()


def test_start_makes_long_tokens() -> None:
    state = State.start(torch.tensor([[3, 1]], dtype=torch.int32), torch.tensor([[True, False]]))
    assert state.tokens.dtype == torch.int64


def test_start_begins_all_clocks_at_zero() -> None:
    state = State.start(torch.ones((2, 3), dtype=torch.int64), torch.ones((2, 3), dtype=torch.bool), seed=4)
    for clock in (state.step, state.stage_step, state.stage_hidden):
        assert clock.tolist() == [0, 0]
    assert state.row.tolist() == [0, 1]
    assert state.seed == 4
    assert state.steps is None
    assert not state.window.any()
    assert bool(state.shown_probability.isnan().all())
    assert state.shown_probability.dtype == torch.float64
    assert len(state) == 2


def test_rows_hide_what_is_present_and_not_given() -> None:
    rows = Rows(
        torch.tensor([[1, 2, 3, 4]]),
        given=torch.tensor([[True, False, False, False]]),
        present=torch.tensor([[True, True, True, False]]),
        coordinates=torch.arange(4)[:, None],
    )
    state = rows.start(7, row=torch.tensor([30]))
    assert state.hidden.tolist() == [[False, True, True, False]]
    assert state.tokens.tolist() == [[1, 0, 0, 4]]
    assert (state.seed, state.row.tolist()) == (7, [30])
    assert state.coordinates is rows.coordinates
    assert len(rows) == 1
    assert torch.equal(state.rows.tokens, state.tokens.masked_fill(state.hidden, -1))
    assert torch.equal(state.rows.given, rows.given)
    assert torch.equal(state.rows.present, rows.present)


def test_open_is_hidden_in_the_window() -> None:
    state = rich()
    assert torch.equal(state.open, state.hidden & state.window)
    assert bool(state.open.any())


def test_revisable_is_shown_by_decoding_in_the_window() -> None:
    state = rich()
    for row, position in torch.cartesian_prod(torch.arange(5), torch.arange(7)).tolist():
        expected = bool(state.window[row, position] and state.present[row, position])
        expected = expected and not state.hidden[row, position] and not state.given[row, position]
        assert bool(state.revisable[row, position]) == expected
    assert bool(state.revisable.any())


def test_select_takes_every_field() -> None:
    state = rich()
    index = torch.tensor([4, 0, 0, 2])
    chosen = state.select(index)
    for name, tensor in everything(state).items():
        assert torch.equal(everything(chosen)[name].nan_to_num(), tensor[index].nan_to_num()), name
    assert (chosen.seed, chosen.steps) == (11, 6)


def test_select_of_none() -> None:
    chosen = rich().select(torch.zeros(0, dtype=torch.int64))
    assert len(chosen) == 0
    assert chosen.tokens.shape == (0, 7)
    assert chosen.memory["believed"].shape == (0, 7, 4)


@pytest.mark.parametrize("parts", [[[0], [1], [2], [3], [4]], [[3, 1], [4, 0, 2]], [[], [2, 1, 0, 4, 3]]])
def test_select_and_join_are_inverse(parts: list[list[int]]) -> None:
    state = rich()
    joined = State.join([state.select(torch.tensor(part, dtype=torch.int64)) for part in parts])
    order = torch.tensor([row for part in parts for row in part])
    assert_same(joined.select(order.argsort()), state)


def test_join_of_one_is_itself() -> None:
    state = rich()
    assert State.join([state]) is state


def test_join_of_two_decodes() -> None:
    one, other = rich(2), rich(3, first_key=100)
    joined = State.join([one, other])
    assert joined.row.tolist() == [0, 3, 100, 103, 106]
    assert_same(joined.select(torch.arange(2)), one)
    assert_same(joined.select(torch.arange(2, 5)), other)


@pytest.mark.parametrize("shared", [True, False])
def test_rows_are_selected_with_all_that_is_theirs(shared: bool) -> None:
    state, index = rich(), torch.tensor([3, 0, 3])
    where = torch.arange(5 * 7 * 2).view(5, 7, 2)
    rows = Rows(state.tokens, state.given, state.present, where[0] if shared else where, turn=state.place)
    some = rows.select(index)
    for name in ("tokens", "given", "present", "turn"):
        assert torch.equal(getattr(some, name), getattr(rows, name)[index]), name
    assert some.coordinates is not None
    assert torch.equal(some.coordinates, where[0] if shared else where[index])
    assert Rows(state.tokens, state.given, state.present).select(index).coordinates is None


def test_join_keeps_coordinates_that_all_rows_share() -> None:
    shared = torch.arange(14).view(7, 2)
    one, other = replace(rich(2), coordinates=shared), replace(rich(3), coordinates=shared)
    assert State.join([one, other]).coordinates is shared
    assert one.select(torch.tensor([1])).coordinates is shared


SHARED = torch.arange(14).view(7, 2)
UNLIKE = {
    "seed of state 1 is 12, that of state 0 is 11": lambda state: replace(state, seed=12),
    "number of steps of state 1 is 7": lambda state: replace(state, steps=7),
    "strategy of state 1 is '', that of state 0 is 'margin, evenly(6), greedy'": lambda s: replace(s, strategy=""),
    "length of state 1 is 8": lambda state: replace(rich(3, 8), memory=state.memory),
    "device of state 1 is 'meta'": lambda state: state.to("meta"),
    "memory of state 1 is {}, that of state 0 is {'believed': (4,": lambda state: replace(state, memory={}),
    "coordinates of state 1 are not those of state 0": lambda state: replace(state, coordinates=SHARED),
}


@pytest.mark.parametrize("what", UNLIKE)
def test_join_refuses_rows_that_would_be_decoded_otherwise(what: str) -> None:
    one = replace(rich(2), memory={"believed": torch.zeros((2, 4))})
    other = replace(rich(3), memory={"believed": torch.zeros((3, 4))})
    State.join([one, other])
    with pytest.raises(UnmaskError) as caught:
        State.join([one, UNLIKE[what](other)])
    assert str(caught.value).startswith(f"State.join: the {what}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("other", [SHARED + 1, SHARED[:, :1], None], ids=["other numbers", "other features", "none"])
def test_join_refuses_other_shared_coordinates(other: Tensor | None) -> None:
    one = replace(rich(2), coordinates=SHARED)
    State.join([one, replace(rich(3), coordinates=SHARED.clone())])
    with pytest.raises(UnmaskError, match="coordinates of state 1 are not those of state 0"):
        State.join([one, replace(rich(3), coordinates=other)])


def unchecked(*arguments: object, **options: object) -> State:
    """`State.start` as it is outside the tests, where nobody checks shapes before it does."""
    return inspect.unwrap(State.start)(*arguments, **options)


HIDDEN = torch.tensor([[True, False], [False, True]])
TOKENS = torch.zeros((2, 2), dtype=torch.int64)
WRONG = [
    ((TOKENS.double(), HIDDEN), {}, "tokens are torch.float64 of shape (2, 2); expected whole numbers"),
    ((TOKENS.bool(), HIDDEN), {}, "tokens are torch.bool"),
    ((TOKENS[0], HIDDEN[0]), {}, "tokens are torch.int64 of shape (2,); expected whole numbers of shape [B, L]"),
    ((TOKENS, HIDDEN[:, :1]), {}, "hidden is torch.bool of shape (2, 1); expected torch.bool of the tokens' (2, 2)"),
    ((TOKENS, HIDDEN.long()), {}, "hidden is torch.int64"),
    ((TOKENS, HIDDEN), {"given": HIDDEN[:1]}, "given is torch.bool of shape (1, 2)"),
    ((TOKENS, HIDDEN), {"present": TOKENS + 1}, "present is torch.int64"),
    ((TOKENS, HIDDEN), {"row": torch.arange(3)}, "row is torch.int64 of shape (3,); expected 2 whole numbers"),
    ((TOKENS, HIDDEN), {"row": torch.rand(2)}, "row is torch.float32"),
    ((TOKENS, HIDDEN), {"seed": 1.5}, "seed is 1.5; expected a whole number"),
    ((TOKENS, HIDDEN), {"seed": None}, "seed is None; expected a whole number"),
    ((TOKENS, HIDDEN), {"coordinates": torch.zeros((3, 1)).long()}, "coordinates are torch.int64 of shape (3, 1)"),
    ((TOKENS, HIDDEN), {"coordinates": torch.zeros((2, 1))}, "coordinates are torch.float32"),
]


@pytest.mark.parametrize(("arguments", "options", "message"), WRONG, ids=[message[:24] for *_, message in WRONG])
def test_start_refuses_other_shapes_and_types(arguments: tuple, options: dict, message: str) -> None:
    with pytest.raises(UnmaskError) as caught:
        unchecked(*arguments, **options)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_the_same_key_and_seed_are_the_same_noise_whatever_their_type() -> None:
    plain = State.start(TOKENS, HIDDEN, seed=7, row=torch.tensor([3, 2**31 - 1]))
    other = unchecked(TOKENS, HIDDEN, seed=numpy.int64(7), row=torch.tensor([3, 2**31 - 1], dtype=torch.int32))
    assert type(other.seed) is int
    assert_same(plain, other)
    ends = [decode(Toy(2), state, "random, per_step(1), sample").finish() for state in (plain, other)]
    assert_same(*ends)


def test_state_moves_with_everything() -> None:
    state = rich()
    moved = state.to("meta")
    assert {tensor.device.type for tensor in everything(moved).values()} == {"meta"}
    shared = replace(state, coordinates=torch.arange(7)[:, None]).to("meta")
    assert shared.coordinates is not None
    assert shared.coordinates.device.type == "meta"
    assert_same(state.to("cpu"), state)


@pytest.mark.parametrize(
    ("present", "place"),
    [
        ([1, 1, 1, 1], [0, 1, 2, 3]),
        ([0, 0, 1, 1], [0, 0, 0, 1]),
        ([1, 1, 0, 0], [0, 1, 1, 1]),
        ([1, 0, 0, 1], [0, 0, 0, 1]),
        ([0, 1, 0, 1], [0, 0, 0, 1]),
        ([0, 0, 0, 0], [0, 0, 0, 0]),
    ],
)
def test_place_counts_what_is_present(present: list[int], place: list[int]) -> None:
    mask = torch.tensor([present]).bool()
    state = State.start(torch.zeros((1, 4), dtype=torch.int64), mask, present=mask)
    assert state.place.tolist() == [place]


def test_place_of_present_positions_is_that_without_padding() -> None:
    present = torch.rand((50, 12), generator=torch.Generator().manual_seed(0)) < 0.6
    state = State.start(torch.zeros((50, 12), dtype=torch.int64), present, present=present)
    for row in range(50):
        assert state.place[row][present[row]].tolist() == list(range(int(present[row].sum())))


def test_state_is_frozen() -> None:
    with pytest.raises(AttributeError):
        rich().seed = 3  # type: ignore[misc]
