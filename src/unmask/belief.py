"""Belief: what a denoiser says about the asked positions of a State, and the numbers that are read off it.

n = asked.sum(), row-major. Everything is worked out when first asked for and kept until the next step. Scores are
float64, and probabilities near 1 are built from the mass of *all other* values, so that certainty does not saturate
(in single precision everything above 1 - 6e-8 is a tie, and a tie shows left to right).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unmask import noise
from unmask.errors import DenoiserError, StrategyError, UnmaskError
from unmask.part import Part
from unmask.state import State

_CACHED = 1 << 18
"""Logits taken up at once: a megabyte in single precision."""

_TINY = 1e-30
"""Below this, single precision has lost some of a sum of exponentials."""

FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
WHOLES = (torch.int64, torch.int32, torch.int16, torch.uint8, torch.int8)

Denoiser = Callable[[State, Tensor], Tensor]
"""(state, asked [B,L] bool) -> logits [n,V], row-major. Must not read `state.tokens` under `state.hidden`.

A decode counts a call as one, unless the denoiser says otherwise in `calls_for(rows)`, as wrappers do: how many calls
of the model behind it a batch of so many rows takes.
"""


class Belief:
    """What a denoiser believes about `asked` in `state`; `values` [n] are the proposals, once chosen.

    `shares` are the shares that the pace's schedule wants shown before and after this step, where it has one.
    """

    values: Int[Tensor, " n"]

    def __init__(
        self,
        state: State,
        asked: Bool[Tensor, "B L"],
        denoise: Denoiser,
        shares: tuple[Float[Tensor, " B"], Float[Tensor, " B"]] | None = None,
    ) -> None:
        self.state = state
        self.asked = asked
        self.flat = asked.view(-1).nonzero().squeeze(1)
        self.shares = shares
        self.calls = 0
        self.row_calls = asked.any(1).long() * calls_for(denoise, 1)
        self._denoise = denoise
        self._logits: Tensor | None = torch.zeros((0, 1), device=asked.device)
        if len(self.flat):
            self._logits = self._call(state, asked, len(self.flat))
            _refuse_bad(state, asked, self._logits, self.top[0])

    def _call(self, state: State, asked: Tensor, count: int) -> Tensor:
        self.calls += calls_for(self._denoise, len(state))
        logits = self._denoise(state, asked)
        if not isinstance(logits, Tensor):
            raise DenoiserError(f"the denoiser returned {type(logits).__name__}; expected a tensor [n, V] of logits")
        if logits.dim() != 2 or logits.shape[0] != count or not logits.shape[1] or not logits.is_floating_point():
            raise DenoiserError(
                f"the denoiser returned a tensor of shape {tuple(logits.shape)} and type {_kind(logits)}; "
                f"expected [n, V] with n = asked.sum() = {count}, one row of floating-point logits for each asked "
                f"position, row by row, and at least one value"
            )
        if logits.device != state.tokens.device:
            raise DenoiserError(
                f"the denoiser returned logits on {logits.device}, the state is on {state.tokens.device}; "
                f"move one of them with .to(...)"
            )
        return logits.detach()

    def imagine(self, state: State, asked: Bool[Tensor, "B L"]) -> Float[Tensor, "n V"]:
        """Ask about a state that decoding is not in: an extra call, counted for every row that `state.row` names."""
        logits = self._call(state, asked, int(asked.sum()))
        _refuse_bad(state, asked, logits, logits.amax(-1), " of an imagined state")
        imagined = (self.state.row[:, None] == state.row[None, :]).sum(1)
        self.row_calls = self.row_calls + imagined * calls_for(self._denoise, 1)
        return logits

    def release(self) -> None:
        """Let go of everything sized [n,V]; the loop does so when the next step is asked for."""
        for name in ("log_probabilities", "probabilities", "wide", "top", "entropies"):
            self.__dict__.pop(name, None)
        self._logits = None
        self._denoise = _gone

    @property
    def logits(self) -> Float[Tensor, "n V"]:
        """As the denoiser gave them."""
        if self._logits is None:
            raise UnmaskError("this belief is gone: read it before the next step is asked for")
        return self._logits

    @cached_property
    def index(self) -> Int[Tensor, " n"]:
        """The row of each asked position within the batch (`state.row[index]` is its key)."""
        return self.flat // self.asked.shape[1]

    @cached_property
    def place(self) -> Int[Tensor, " n"]:
        """The place of each asked position: its number among those present."""
        return self.state.place.view(-1)[self.flat]

    @cached_property
    def waiting(self) -> Int[Tensor, " B"]:
        """How many positions are hidden in the window."""
        return self.state.open.sum(1)

    @cached_property
    def wide(self) -> Float[Tensor, "n V"]:
        """Logits in at least single precision."""
        return widened(self.logits)

    @cached_property
    def top(self) -> tuple[Float[Tensor, " n"], Int[Tensor, " n"]]:
        """The largest logit and its value; of equal ones the lowest value."""
        largest, value = self.wide.max(-1)
        return largest, value

    @cached_property
    def second(self) -> Float[Tensor, " n"]:
        """The second largest logit (-inf where there is no second value)."""
        return self._by_rows(lambda rows: [_without_top(self.wide[rows], self.top[1][rows]).amax(-1)])[0]

    @cached_property
    def rest(self) -> Float[Tensor, " n"]:
        """The mass of all values but the top one, as a multiple of the top one's."""
        (rest,) = self._by_rows(self._rest)
        return rest

    def _rest(self, rows: slice) -> list[Float[Tensor, " m"]]:
        logits, (top, value) = self.wide[rows], (self.top[0][rows], self.top[1][rows])
        rest = sum_rows((logits - top[:, None]).exp_().scatter_(-1, value[:, None], 0.0))
        tiny = rest < _TINY
        if bool(tiny.any()):  # measured from the second value, nothing underflows, however far ahead the top is
            few = tiny.nonzero().squeeze(1)
            second, mass, _ = _tail(logits[few], value[few])
            rest[few] = (second - top[few].double()).exp() * mass
        return [rest]

    def _by_rows(self, work: Callable[[slice], list[Tensor]]) -> list[Tensor]:
        """The work done a few rows at a time, so that what it takes up stays in the processor's cache."""
        count, values = self.wide.shape
        size = max(1, _CACHED // max(1, values))
        parts = [work(slice(begin, begin + size)) for begin in range(0, max(1, count), size)]
        return parts[0] if len(parts) == 1 else [torch.cat(column) for column in zip(*parts, strict=True)]

    @cached_property
    def _log_total(self) -> Float[Tensor, " n"]:
        """log of the mass of all values, as a multiple of the top one's."""
        return self.rest.log1p()

    @cached_property
    def log_normalizer(self) -> Float[Tensor, " n"]:
        """log sum exp of the logits."""
        return self.top[0].double() + self._log_total

    @cached_property
    def log_probabilities(self) -> Float[Tensor, "n V"]:
        """log p of every value, float64."""
        return self.wide.double() - self.log_normalizer[:, None]

    @cached_property
    def probabilities(self) -> Float[Tensor, "n V"]:
        """p of every value, float64."""
        return self.log_probabilities.exp()

    @cached_property
    def log_top(self) -> Float[Tensor, " n"]:
        """log p of the likeliest value: exact also where p itself would round to 1."""
        return -self._log_total

    @cached_property
    def log_second(self) -> Float[Tensor, " n"]:
        """log p of the second likeliest value."""
        return self.log_top + (self.second.double() - self.top[0].double())

    @cached_property
    def entropies(self) -> Float[Tensor, " n"]:
        """Entropy of each asked position, in nats; exact also where it is almost 0."""
        second, mass, surprise = self._by_rows(lambda rows: [*_tail(self.wide[rows], self.top[1][rows])])
        gap = torch.where(self.rest > 0, second - self.top[0].double(), 0.0)  # no second value, no surprise
        others = torch.where(self.rest > 0, gap.exp() * (surprise - gap * mass), 0.0)
        return self._log_total + others / (1 + self.rest)

    @cached_property
    def log_chosen(self) -> Float[Tensor, " n"]:
        """log p of the proposed values."""
        if self.values is self.top[1]:
            return self.log_top
        chosen = self.wide.gather(-1, self.values[:, None]).squeeze(-1)
        exact = self.log_top + (chosen.double() - self.top[0].double())
        return torch.where(self.values == self.top[1], self.log_top, exact)

    def seen_by(self, part: Part) -> Belief:
        """What an oracle or a pace is shown: all but the proposed values, unless it says that it reads them."""
        return self if part.reads_proposal else _Unproposed(self, part)

    def noise(self, stream: str, *, by_row: bool = False) -> Float[Tensor, " m"]:
        """Counted uniforms in (0, 1): one for each asked position, or one for each row."""
        state = self.state
        word = noise.key(state.seed, stream, state.row, state.step)
        if by_row:
            return noise.at(word, torch.full_like(state.row, -1))
        return noise.at(word[self.index], self.place)

    def spread(self, of_asked: Tensor, fill: float | int = -torch.inf) -> Tensor:
        """[n] -> [B,L], with `fill` where nothing was asked."""
        full = torch.full(self.asked.shape, fill, dtype=of_asked.dtype, device=of_asked.device)
        full.view(-1)[self.flat] = of_asked
        return full

    def walk(self, score: Float[Tensor, " n"], quantity: Float[Tensor, " n"]) -> Float[Tensor, "B L"]:
        """`quantity` in the order of falling score, row by row; NaN behind the last position that may be shown."""
        ranked = self.spread(score).masked_fill(~self.state.open, -torch.inf)
        order = ranked.sort(dim=1, descending=True, stable=True)
        walked = self.spread(quantity, torch.nan).gather(1, order.indices)
        return walked.masked_fill(order.values == -torch.inf, torch.nan)


class _Unproposed(Belief):
    """The same belief without the proposals: an order that reads them depends on values that are still to come."""

    __slots__ = ("_part",)

    def __init__(self, belief: Belief, part: Part) -> None:
        self.__dict__ = belief.__dict__  # the very same: what is worked out for one is kept for the other
        self._part = part

    def _refused(self) -> StrategyError:
        return StrategyError(
            f"{self._part} reads the proposed values and does not say so; write `reads_proposal = True` in its class"
        )

    @property
    def values(self) -> Tensor:  # ty: ignore[incompatible-property-override]
        raise self._refused()

    @property
    def log_chosen(self) -> Tensor:  # ty: ignore[incompatible-property-override]
        raise self._refused()


def calls_for(denoise: Denoiser, rows: int) -> int:
    """How many calls of the model a call of `denoise` with so many rows takes: one, unless it says otherwise."""
    count = getattr(denoise, "calls_for", None)
    return 1 if count is None else count(rows)


def widened(logits: Float[Tensor, "n V"]) -> Float[Tensor, "n V"]:
    """Logits in at least single precision, where half would overflow or lose what it is divided by."""
    return logits if logits.dtype in (torch.float32, torch.float64) else logits.float()


def _refuse_bad(
    state: State, asked: Bool[Tensor, "B L"], logits: Float[Tensor, "n V"], largest: Float[Tensor, " n"], of: str = ""
) -> None:
    """No NaN, no +inf and no position without a possible value passes: the largest logit shows them all."""
    if bool((largest * 0).sum() == 0):  # NaN where anything is NaN or infinite
        return
    at = int((~largest.isfinite()).nonzero()[0])
    found = logits[at]
    what = "NaN" if found.isnan().any() else "+inf" if (found == torch.inf).any() else "-inf for every value"
    row, position = asked.nonzero()[at].tolist()
    raise DenoiserError(
        f"the denoiser returned {what} at row {int(state.row[row])}, position {position}{of}; "
        f"expected finite logits, or -inf for some values but not all"
    )


def expect(answer: object, part: object, what: str, shape: tuple[int, ...], kinds: tuple[torch.dtype, ...]) -> None:
    """Refuse an answer of a part that has another shape or type, which would be broadcast or rounded in silence."""
    if isinstance(answer, Tensor) and answer.shape == shape and answer.dtype in kinds:
        return
    found = f"{_kind(answer)} {tuple(answer.shape)}" if isinstance(answer, Tensor) else type(answer).__name__
    wanted = str(kinds[0]).removeprefix("torch.")
    raise StrategyError(f"{part} returned {found} as {what}; expected a tensor {wanted} {shape}")


def _kind(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _without_top(logits: Float[Tensor, "m V"], value: Int[Tensor, " m"]) -> Float[Tensor, "m V"]:
    return logits.scatter(-1, value[:, None], -torch.inf)


def _tail(
    logits: Float[Tensor, "m V"], value: Int[Tensor, " m"]
) -> tuple[Float[Tensor, " m"], Float[Tensor, " m"], Float[Tensor, " m"]]:
    """Of all values but the top: the largest logit, their mass as a multiple of its, and their surprise so weighted."""
    below = _without_top(logits, value)
    second = below.amax(-1)
    below.sub_(second.clamp(min=torch.finfo(second.dtype).min)[:, None])  # -inf: the top is the only value
    weights = below.exp()
    return second.double(), sum_rows(weights), sum_rows(torch.where(weights > 0, -below * weights, 0.0))


def sum_rows(terms: Float[Tensor, "n V"]) -> Float[Tensor, " n"]:
    """Row sums, the same bits for a row alone: torch splits a sum to one single number over threads.

    In the terms' own precision, since torch adds in pairs and in blocks, whose error stays at the last bit or two.
    """
    if len(terms) == 1:
        return terms.expand(2, -1).contiguous().sum(-1)[:1].double()
    return terms.sum(-1).double()


def first(score: Float[Tensor, "B L"], count: Int[Tensor, " B"]) -> Bool[Tensor, "B L"]:
    """The `count` highest scores of each row; of equal ones the lowest position."""
    most = int(count.max()) if len(count) else 0
    picked = torch.zeros(score.shape, dtype=torch.bool, device=score.device)
    if most <= 0:
        return picked
    if most == 1:  # argmax names the first of equal ones, and costs far less than a sort
        return picked.scatter_(1, score.argmax(1, keepdim=True), count[:, None] > 0)
    order = score.sort(dim=1, descending=True, stable=True).indices
    rank = torch.arange(score.shape[1], device=score.device)
    return picked.scatter_(1, order, rank < count[:, None])


def nucleus(log_weights: Float[Tensor, "n V"], top_p: float) -> Float[Tensor, "n V"]:
    """Keep the likeliest values up to the first with which their mass reaches `top_p`; -inf for the others."""
    ordered = log_weights.sort(dim=-1, descending=True, stable=True)
    mass = ordered.values.double().softmax(-1)
    before = mass.cumsum(-1) - mass
    dropped = torch.zeros_like(log_weights, dtype=torch.bool).scatter_(-1, ordered.indices, before >= top_p)
    return log_weights.masked_fill(dropped, -torch.inf)


def _gone(state: State, asked: Tensor) -> Tensor:
    raise UnmaskError("this belief is gone: imagine before the next step is asked for")
