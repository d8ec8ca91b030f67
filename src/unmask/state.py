"""State: all that decoding knows about a batch of rows. Rows: sequences as a task gives them.

B rows, L positions. What is hidden is said by `hidden` and by nothing else: there is no mask token here, so a prompt
may hold any value, and padding (`present` is False) cannot be mistaken for something to fill. A decode can start,
stop, fork and go on from any State: everything that the next step depends on is in it, the clocks included.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unmask.errors import UnmaskError


@dataclass(frozen=True, eq=False)
class Rows:
    """Sequences of a task: complete or partly given. `coordinates` say where each position *is* (-1: nowhere).

    `turn` is when each position is to be filled, where rows have an order of their own (a solver's): the lower, the
    sooner. Where coordinates follow from the tokens themselves (a sequence that says where it writes), `locate` makes
    them: then what is hidden has none, and `start` tells no more than a model may know.
    """

    tokens: Int[Tensor, "B L"]
    given: Bool[Tensor, "B L"]
    present: Bool[Tensor, "B L"]
    coordinates: Int[Tensor, "L F"] | Int[Tensor, "B L F"] | None = None
    locate: Callable[[Tensor], Tensor] | None = None
    turn: Int[Tensor, "B L"] | None = None

    def __len__(self) -> int:
        return self.tokens.shape[0]

    @property
    def puzzle(self) -> Int[Tensor, "B L"]:
        """The tokens, -1 where they are to be filled in: as a task renders what is not solved yet."""
        return self.tokens.masked_fill(self.present & ~self.given, -1)

    def select(self, index: Int[Tensor, " K"]) -> Rows:
        """Some of the rows, in the order of `index`; a row may be taken more than once."""

        def picked(tensor: Tensor | None, axes: int = 2) -> Tensor | None:
            return tensor if tensor is None or tensor.dim() < axes else tensor.index_select(0, index)

        tensors = {name: picked(getattr(self, name)) for name in ("tokens", "given", "present", "turn")}
        return replace(self, **tensors, coordinates=picked(self.coordinates, 3))

    def to(self, device: torch.device | str) -> Rows:
        """The same rows on another device."""
        tensors = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        moved = {name: value.to(device) for name, value in tensors.items() if isinstance(value, Tensor)}
        return replace(self, **moved)

    def start(self, seed: int = 0, *, row: Int[Tensor, " B"] | None = None) -> State:
        """The State in which everything that is present and not given is hidden."""
        return State.start(
            self.tokens,
            self.present & ~self.given,
            given=self.given,
            present=self.present,
            coordinates=self.coordinates if self.locate is None else self.locate(self.puzzle),
            seed=seed,
            row=row,
        )


@dataclass(frozen=True, eq=False)
class State:
    """All that decoding knows. Made by `State.start`; changed only by making a new one (`dataclasses.replace`).

    `row` is each row's key, unique among all decodes that share a denoiser: noise, teachers and caches go by it.
    `place` numbers the positions that are present: noise and fixed orders go by it, so padding changes nothing.
    The clocks: `step` counts all steps of a row; `stage_step` those in the window's current stage, which began with
    `stage_hidden` hidden positions and has `steps` in all where the pace has a total. `shown_probability` is the
    probability of each value when it was shown (NaN where decoding showed nothing). `memory` is the oracle's.
    `strategy` is the text of the strategy at work, set by the loop: to any other, the window, the stage's clock and
    the memory mean nothing, and it begins with its own. `step` goes on all the same, so that no noise is used twice.
    """

    tokens: Int[Tensor, "B L"]
    hidden: Bool[Tensor, "B L"]
    given: Bool[Tensor, "B L"]
    present: Bool[Tensor, "B L"]
    window: Bool[Tensor, "B L"]
    place: Int[Tensor, "B L"]
    row: Int[Tensor, " B"]
    step: Int[Tensor, " B"]
    stage_step: Int[Tensor, " B"]
    stage_hidden: Int[Tensor, " B"]
    shown_probability: Float[Tensor, "B L"]
    coordinates: Int[Tensor, "L F"] | Int[Tensor, "B L F"] | None = None
    seed: int = 0
    steps: int | None = None
    strategy: str = ""
    memory: Mapping[str, Tensor] = field(default_factory=dict)

    @staticmethod
    def start(
        tokens: Int[Tensor, "B L"],
        hidden: Bool[Tensor, "B L"],
        *,
        given: Bool[Tensor, "B L"] | None = None,
        present: Bool[Tensor, "B L"] | None = None,
        coordinates: Int[Tensor, "L F"] | Int[Tensor, "B L F"] | None = None,
        seed: int = 0,
        row: Int[Tensor, " B"] | None = None,
    ) -> State:
        """A State before the first step. Tokens under hidden positions are set to 0, so that nothing can leak."""
        _check_rows(tokens, {"hidden": hidden, "given": given, "present": present}, coordinates)
        present = torch.ones_like(hidden) if present is None else present
        given = present & ~hidden if given is None else given
        for name, mask in (("given", given), ("absent", ~present)):
            clash = (hidden & mask).nonzero()
            if len(clash):
                where = clash[0].tolist()
                raise UnmaskError(
                    f"row {where[0]}, position {where[1]} is both hidden and {name}; "
                    f"hide only what is present and not given"
                )
        count = torch.zeros(len(tokens), dtype=torch.int64, device=tokens.device)
        return State(
            tokens=tokens.long().masked_fill(hidden, 0),
            hidden=hidden,
            given=given,
            present=present,
            window=torch.zeros_like(hidden),
            place=(present.long().cumsum(1) - 1).clamp(min=0),
            row=torch.arange(len(tokens), device=tokens.device) if row is None else _keys(row, tokens),
            step=count,
            stage_step=count,
            stage_hidden=count,
            shown_probability=torch.full(tokens.shape, torch.nan, dtype=torch.float64, device=tokens.device),
            coordinates=coordinates,
            seed=_whole_number(seed),
        )

    def __len__(self) -> int:
        return self.tokens.shape[0]

    def begin(self, strategy: str, steps: int | None) -> State:
        """The same rows for a strategy that has not been at work on them: no window, no memory, a new stage's clock."""
        none = torch.zeros_like(self.step)
        return replace(
            self,
            window=torch.zeros_like(self.window),
            stage_step=none,
            stage_hidden=none,
            steps=steps,
            strategy=strategy,
            memory={},
        )

    @property
    def open(self) -> Bool[Tensor, "B L"]:
        """What may be shown now: hidden, and in the window."""
        return self.hidden & self.window

    @property
    def revisable(self) -> Bool[Tensor, "B L"]:
        """What may be taken back: shown by decoding, in the window."""
        return self.window & self.present & ~self.hidden & ~self.given

    @property
    def rows(self) -> Rows:
        """The sequences as they stand, -1 where they are hidden, for a task to measure or render."""
        return Rows(self.tokens.masked_fill(self.hidden, -1), self.given, self.present, self.coordinates)

    def select(self, index: Int[Tensor, " K"]) -> State:
        """Some of the rows, in the order of `index`; a row may be taken more than once."""
        return self._map(lambda tensor: tensor.index_select(0, index))

    def to(self, device: torch.device | str) -> State:
        """The same State on another device."""
        moved = self._map(lambda tensor: tensor.to(device))
        if self.coordinates is not None and self.coordinates.dim() == 2:
            moved = replace(moved, coordinates=self.coordinates.to(device))
        return moved

    def _map(self, change) -> State:
        changed = {name: change(getattr(self, name)) for name in _TENSORS}
        coordinates = self.coordinates
        if coordinates is not None and coordinates.dim() == 3:
            coordinates = change(coordinates)
        memory = {name: change(tensor) for name, tensor in self.memory.items()} if self.memory else self.memory
        return replace(self, **changed, coordinates=coordinates, memory=memory)

    @staticmethod
    def join(states: Sequence[State]) -> State:
        """Rows of several States under each other: of one decode, or of several that could be one."""
        if len(states) == 1:
            return states[0]
        _check_alike(states)
        joined = {name: torch.cat([getattr(state, name) for state in states]) for name in _TENSORS}
        coordinates = states[0].coordinates
        if coordinates is not None and coordinates.dim() == 3:
            coordinates = torch.cat([state.coordinates for state in states if state.coordinates is not None])
        memory = {name: torch.cat([state.memory[name] for state in states]) for name in states[0].memory}
        return replace(states[0], **joined, coordinates=coordinates, memory=memory)


_SHARED = ("coordinates", "seed", "steps", "strategy", "memory")
_TENSORS = tuple(f.name for f in dataclasses.fields(State) if f.name not in _SHARED)


def _check_rows(tokens: Tensor, masks: Mapping[str, Tensor | None], coordinates: Tensor | None) -> None:
    if tokens.dim() != 2 or tokens.is_floating_point() or tokens.is_complex() or tokens.dtype == torch.bool:
        raise UnmaskError(
            f"tokens are {_describe(tokens)}; expected whole numbers of shape [B, L], such as torch.int64"
        )
    for name, mask in masks.items():
        if mask is not None and (mask.shape != tokens.shape or mask.dtype != torch.bool):
            raise UnmaskError(f"{name} is {_describe(mask)}; expected torch.bool of the tokens' {tuple(tokens.shape)}")
    if coordinates is None:
        return
    batch, length = tokens.shape
    if coordinates.shape[:-1] not in ((length,), (batch, length)) or coordinates.is_floating_point():
        raise UnmaskError(
            f"coordinates are {_describe(coordinates)}; expected whole numbers, [L, F] or [B, L, F] with B = {batch} "
            f"and L = {length}"
        )


def _keys(row: Tensor, tokens: Tensor) -> Int[Tensor, " B"]:
    if row.shape != tokens.shape[:1] or row.is_floating_point() or row.dtype == torch.bool:
        raise UnmaskError(f"row is {_describe(row)}; expected {len(tokens)} whole numbers, one key for each row")
    return row.long()  # noise is a hash of 64 bits: the same key must be the same number


def _whole_number(seed: Any) -> int:
    try:
        return operator.index(seed)  # numpy's whole numbers too
    except TypeError:
        raise UnmaskError(f"seed is {seed!r}; expected a whole number") from None


def _describe(tensor: Tensor) -> str:
    return f"{tensor.dtype} of shape {tuple(tensor.shape)}"


def _check_alike(states: Sequence[State]) -> None:
    """Refuse rows that would be decoded otherwise together than by themselves."""
    one = _alike(states[0])
    for number, state in enumerate(states[1:], start=1):
        for what, found in _alike(state).items():
            if found != one[what]:
                raise UnmaskError(
                    f"State.join: the {what} of state {number} is {found!r}, that of state 0 is {one[what]!r}; "
                    f"join rows of one decode, or of decodes that differ in nothing but their rows"
                )
        if not _same_coordinates(states[0].coordinates, state.coordinates):
            raise UnmaskError(
                f"State.join: the coordinates of state {number} are not those of state 0; "
                f"give all states the same [L, F], or all of them [B, L, F]"
            )


def _alike(state: State) -> dict[str, object]:
    return {
        "seed": state.seed,
        "number of steps": state.steps,
        "strategy": state.strategy,
        "length": state.tokens.shape[1],
        "device": str(state.tokens.device),
        "memory": {name: tuple(tensor.shape[1:]) for name, tensor in sorted(state.memory.items())},
    }


def _same_coordinates(one: Tensor | None, other: Tensor | None) -> bool:
    if one is None or other is None or one.dim() == 3:
        return one is other or (one is not None and other is not None and one.shape[1:] == other.shape[1:])
    return one is other or torch.equal(one, other)
