"""Oracles: where am I surest? One file each; higher scores are shown sooner, -inf is *not now*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from unmask.belief import FLOATS, Belief, expect
from unmask.errors import StrategyError
from unmask.part import Part
from unmask.state import State


class Oracle(Part):
    """Scores positions.

    The memory is a dictionary of tensors with B first, so that rows may leave the batch; an oracle that remembers
    reads it from `belief.state.memory` and returns `(score, memory)` from `score`. What `start` cannot make yet, such
    as a tensor sized by the number of values, may be added by `score`: rows that have left by then have NaN there, or
    0 in whole numbers.
    """

    def start(self, state: State) -> Mapping[str, Tensor]:
        """The memory before the first step: nothing, for most."""
        return {}

    def ask(self, state: State) -> Bool[Tensor, "B L"]:
        """The positions to ask about: all that may be shown now, unless the oracle knows better."""
        return state.open

    def score(self, belief: Belief) -> Float[Tensor, " n"] | tuple[Float[Tensor, " n"], Mapping[str, Tensor]]:
        """One score for each asked position."""
        raise StrategyError(f"{type(self).__name__} is an oracle without score(belief): write that method")


def asked_by(
    oracle: Oracle, state: State, is_open: Bool[Tensor, "B L"], last: Bool[Tensor, "B 1"]
) -> Bool[Tensor, "B L"]:
    """What the oracle asks about: some of what is open, and all of it at a stage's `last` step, which shows it."""
    if type(oracle).ask is Oracle.ask:
        return is_open
    asked = oracle.ask(state)
    expect(asked, oracle, "what to ask", tuple(state.hidden.shape), (torch.bool,))
    wrong = (asked & ~is_open).nonzero()
    if len(wrong):
        where = f"row {int(state.row[wrong[0, 0]])}, position {int(wrong[0, 1])}"
        raise StrategyError(f"the oracle {oracle} asks about {where}, which is not open; ask some of state.open")
    return asked | (is_open & last)


def scored(oracle: Oracle, belief: Belief) -> tuple[Float[Tensor, " n"], Mapping[str, Tensor]]:
    """The oracle's scores, and what it remembers after them."""
    answer = oracle.score(belief.seen_by(oracle))
    pair = isinstance(answer, tuple) and len(answer) == 2
    score, memory = answer if pair else (answer, belief.state.memory)
    expect(score, oracle, "its score", tuple(belief.flat.shape), FLOATS)
    if bool(score.isnan().any()):
        raise StrategyError(f"the oracle {oracle} returned NaN; scores are numbers, or -inf for 'not now'")
    return score, memory


def level(states: Sequence[State]) -> list[State]:
    """States of one decode, in which the memory of rows that left before it was first made is blank."""
    samples = {name: tensor for state in states for name, tensor in state.memory.items()}

    def blank(name: str, state: State) -> Tensor:
        sample = samples[name]
        return sample.new_full((len(state), *sample.shape[1:]), torch.nan if sample.is_floating_point() else 0)

    if all(len(state.memory) == len(samples) for state in states):
        return list(states)
    return [
        replace(state, memory={name: state.memory.get(name, blank(name, state)) for name in samples})
        for state in states
    ]
