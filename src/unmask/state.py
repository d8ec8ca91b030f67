"""State: all that decoding knows about a batch of rows. Rows: sequences as a task gives them.

B rows, L positions. What is hidden is said by `hidden` and by nothing else: there is no mask token here, so a prompt
may hold any value, and padding (`present` is False) cannot be mistaken for something to fill. A decode can start,
stop, fork and go on from any State: everything that the next step depends on is in it, the clocks included.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unmask.errors import UnmaskError


@dataclass(frozen=True, eq=False)
class Rows:
    """Sequences of a task: complete or partly given. `coordinates` say where each position *is* (-1: nowhere)."""

    tokens: Int[Tensor, "B L"]
    given: Bool[Tensor, "B L"]
    present: Bool[Tensor, "B L"]
    coordinates: Int[Tensor, "L F"] | Int[Tensor, "B L F"] | None = None

    def __len__(self) -> int:
        return self.tokens.shape[0]

    def start(self, seed: int = 0, *, row: Int[Tensor, " B"] | None = None) -> State:
        """The State in which everything that is present and not given is hidden."""
        return State.start(
            self.tokens,
            self.present & ~self.given,
            given=self.given,
            present=self.present,
            coordinates=self.coordinates,
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
        batch = tokens.shape[0]
        count = torch.zeros(batch, dtype=torch.int64, device=tokens.device)
        return State(
            tokens=tokens.long().masked_fill(hidden, 0),
            hidden=hidden,
            given=given,
            present=present,
            window=torch.zeros_like(hidden),
            place=(present.long().cumsum(1) - 1).clamp(min=0),
            row=torch.arange(batch, device=tokens.device) if row is None else row,
            step=count,
            stage_step=count,
            stage_hidden=count,
            shown_probability=torch.full(tokens.shape, torch.nan, dtype=torch.float64, device=tokens.device),
            coordinates=coordinates,
            seed=seed,
        )

    def __len__(self) -> int:
        return self.tokens.shape[0]

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
        """The sequences as they stand, for a task to measure or render."""
        return Rows(self.tokens, self.given, self.present, self.coordinates)

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
        return State(**changed, coordinates=coordinates, seed=self.seed, steps=self.steps, memory=memory)

    @staticmethod
    def join(states: Sequence[State]) -> State:
        """Rows of several States under each other. Memory that some rows never had is filled with zeros."""
        if len(states) == 1:
            return states[0]
        joined = {name: torch.cat([getattr(state, name) for state in states]) for name in _TENSORS}
        coordinates = states[0].coordinates
        if coordinates is not None and coordinates.dim() == 3:
            coordinates = torch.cat([state.coordinates for state in states if state.coordinates is not None])
        samples = {name: tensor for state in states for name, tensor in state.memory.items()}
        memory = {
            name: torch.cat(
                [state.memory.get(name, sample.new_zeros((len(state), *sample.shape[1:]))) for state in states]
            )
            for name, sample in samples.items()
        }
        return State(**joined, coordinates=coordinates, seed=states[0].seed, steps=states[0].steps, memory=memory)


_TENSORS = tuple(f.name for f in dataclasses.fields(State) if f.name not in ("coordinates", "seed", "steps", "memory"))
