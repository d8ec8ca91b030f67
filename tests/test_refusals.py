"""What a denoiser or a part must not return is refused by name, before anything reads it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor
from toys import Stored, Toy, blank

from unmask.belief import Belief
from unmask.choices import Choice
from unmask.decode import decode
from unmask.errors import DenoiserError, StrategyError
from unmask.oracles import Oracle
from unmask.paces import Pace
from unmask.revisions import Revision
from unmask.state import State
from unmask.strategies import LITERATURE, named
from unmask.strategy import Strategy, parse
from unmask.windows import Window

KINDS = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
POISON = [
    ("NaN", [0.0, math.nan, 1.0]),
    ("NaN", [math.nan, math.nan, math.nan]),
    ("+inf", [0.0, 1.0, math.inf]),
    ("+inf", [math.inf, math.inf, -math.inf]),
    ("-inf for every value", [-math.inf, -math.inf, -math.inf]),
]
OTHERS = {
    "running": "running(chosen_probability), per_step(1), sample",
    "calibrated": "calibrated, per_step(1), sample(0.5, 0.9)",
    "teacher": f"chosen_probability, per_step(1), teacher({((1, 1, 1, 1),) * 60})",
    "never": 'log_chosen_probability, evenly(4), sample, lowest("never", "rewrite")',
    "leave one out": "chosen_probability, evenly(4), sample, leave_one_out",
}
EVERY = {name: named(name) for name in LITERATURE} | {name: parse(text) for name, text in OTHERS.items()}


def keyed(keys: list[int], length: int = 4) -> State:
    hidden = torch.ones((len(keys), length), dtype=torch.bool)
    return State.start(torch.zeros_like(hidden).long(), hidden, row=torch.tensor(keys))


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("name", EVERY)
def test_bad_logits_are_a_denoisers_error_under_every_strategy(name: str, kind: torch.dtype) -> None:
    for what, row in POISON:
        logits = torch.zeros((60, 4, 3), dtype=kind)
        logits[42, 3] = torch.tensor(row, dtype=kind)
        with pytest.raises(DenoiserError) as caught:
            decode(Stored(logits), keyed([17, 42, 3]), EVERY[name]).finish()
        expected = f"the denoiser returned {what} at row 42, position 3; expected finite logits, or -inf for some "
        assert str(caught.value).startswith(expected)


@pytest.mark.parametrize(("what", "row"), POISON)
def test_bad_imagined_logits_are_refused(what: str, row: list[float]) -> None:
    def denoise(state: State, asked: Tensor) -> Tensor:
        logits = torch.zeros((int(asked.sum()), 3))
        if len(state) != 3:  # the imagined rows: one for each position that is shown
            logits[-1] = torch.tensor(row)
        return logits

    state = replace(keyed([17, 42, 3]), hidden=torch.tensor([[True] * 4, [True] * 4, [True, True, True, False]]))
    with pytest.raises(DenoiserError) as caught:
        decode(denoise, state, "margin, evenly(4), greedy, leave_one_out").finish()
    assert str(caught.value).startswith(f"the denoiser returned {what} at row 3, position 3 of an imagined state; ")


RETURNED = {
    "NoneType; expected a tensor [n, V]": lambda n: None,
    "ndarray; expected": lambda n: torch.zeros((n, 3)).numpy(),
    "type int64; expected": lambda n: torch.zeros((n, 3), dtype=torch.int64),
    "type bool; expected": lambda n: torch.ones((n, 3), dtype=torch.bool),
    "type complex64; expected": lambda n: torch.ones((n, 3), dtype=torch.complex64),
    "(12, 0) and type float32; expected [n, V] with n = asked.sum() = 12": lambda n: torch.zeros((n, 0)),
}


@pytest.mark.parametrize("message", RETURNED)
def test_what_is_no_tensor_of_logits_is_a_denoisers_error(message: str) -> None:
    with pytest.raises(DenoiserError) as caught:
        decode(
            lambda state, asked: RETURNED[message](int(asked.sum())), keyed([0, 1, 2]), "margin, per_step(1), greedy"
        ).finish()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


# Parts of one's own


@dataclass(frozen=True)
class scores(Oracle):
    what: str = ""

    def score(self, belief):
        return ANSWERS[self.what](belief.log_top)


@dataclass(frozen=True)
class asks(Oracle):
    what: str = ""

    def ask(self, state):
        return ANSWERS[self.what](state.open)


@dataclass(frozen=True)
class leaves(Pace):
    what: str = ""
    steps: int = 3

    def __call__(self, belief, score):
        return ANSWERS[self.what](belief.waiting)


@dataclass(frozen=True)
class writes(Choice):
    what: str = ""

    def __call__(self, belief):
        return ANSWERS[self.what](belief.top[1])


@dataclass(frozen=True)
class undoes(Revision):
    what: str = ""

    def back(self, belief):
        return ANSWERS[self.what](belief.state.revisable)


@dataclass(frozen=True)
class opens(Window):
    what: str = ""

    def __call__(self, state):
        return ANSWERS[self.what](state.present)


ANSWERS = {
    "one": lambda right: right[:1],
    "column": lambda right: right[..., None],
    "none": lambda right: None,
    "list": lambda right: right.tolist(),
    "another type": lambda right: right.int() if right.dtype in (torch.bool, torch.float64) else right.double(),
    "right": lambda right: right,
}
PARTS = {"oracle": scores, "ask": asks, "pace": leaves, "choice": writes, "revision": undoes, "window": opens}
SHAPES = {"oracle": "(12,)", "choice": "(12,)", "pace": "(3,)"}


def with_part(role: str, what: str) -> Strategy:
    plain = parse("margin, evenly(3), greedy")
    return replace(plain, **{"oracle" if role == "ask" else role: PARTS[role](what)})


@pytest.mark.parametrize("role", PARTS)
@pytest.mark.parametrize("what", [what for what in ANSWERS if what != "right"])
def test_an_answer_of_another_shape_or_type_is_refused_by_the_parts_name(role: str, what: str) -> None:
    strategy = with_part(role, what)
    with pytest.raises(StrategyError) as caught:
        decode(Toy(4), keyed([5, 6, 7]), strategy).finish()
    message = str(caught.value)
    assert f'{PARTS[role].__name__}("{what}") returned ' in message
    assert message.endswith(SHAPES.get(role, "(3, 4)"))
    assert "\n" not in message


@pytest.mark.parametrize("role", [role for role in PARTS if role != "ask"])
def test_the_right_answer_is_taken(role: str) -> None:
    assert not decode(Toy(4), keyed([5, 6, 7]), with_part(role, "right")).finish().hidden.any()


def test_a_window_that_opens_nothing_is_refused() -> None:
    nowhere = replace(parse("margin, evenly(3), greedy"), window=opens("nowhere"))
    ANSWERS["nowhere"] = torch.zeros_like
    with pytest.raises(StrategyError, match=r'opens\("nowhere"\) opens nothing that is hidden in row 5'):
        decode(Toy(4), keyed([5, 6, 7]), nowhere).finish()


# The number of values


def test_klass_refuses_another_number_of_values() -> None:
    def denoise(state: State, asked: Tensor) -> Tensor:
        return torch.zeros((int(asked.sum()), 3 + int(state.step.max())))

    with pytest.raises(DenoiserError, match=r"returned 4 values, and 3 at the step before; klass compares the two"):
        decode(denoise, blank(2, 4), "klass, per_step(1), greedy").finish()


@pytest.mark.parametrize("oracle", ["klass", "running(klass)", 'noisy(klass, "gumbel", 0.1)'])
def test_klass_knows_no_values_until_it_is_asked(oracle: str) -> None:
    """A draft under a revision that asks nothing: the first steps have no belief, and so no number of values."""
    draft = decode(Toy(), blank(6, 12, seed=3), "random, per_step(4), sample").finish()
    end = decode(Toy(), draft, f'{oracle}, ancestral(12), sample, remdm("cap", 0.4)').finish()
    assert not end.hidden.any()
    assert not torch.equal(end.tokens, draft.tokens)


@pytest.mark.parametrize("strategy", ["margin, per_step(1), greedy, blocks(4)", "klass, evenly(3), sample, lowest"])
def test_rows_without_positions_are_done(strategy: str) -> None:
    empty = torch.zeros((3, 0), dtype=torch.bool)
    steps = decode(Toy(), State.start(empty.long(), empty), strategy)
    assert steps.finish().tokens.shape == (3, 0)
    assert steps.calls == 0


def test_a_belief_is_checked_when_it_is_made() -> None:
    state = blank(1, 2)
    with pytest.raises(DenoiserError, match="NaN at row 0, position 1"):
        Belief(state, state.hidden, lambda state, asked: torch.tensor([[0.0, 1.0], [math.nan, 0.0]]))
