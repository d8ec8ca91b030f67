"""Likelihood: how probable a denoiser finds complete rows, over all orders and along one. In nats, in float64.

`elbo`, the bound that masked diffusion is trained by (equation 1 and section 2 of the paper, arXiv 2502.06768): for a
row with k answers,

    log p(x) >= E_n E_M  k/n * sum over l in M of log p(x_l | what M leaves shown)

with n even over 1..k and M any n of the answers alike. It is the mean over all orders of the log-likelihood along the
order: by Jensen at most the logarithm of the mean likelihood, and with beliefs that are exact the log probability.

`log_likelihood`, along the order that a strategy takes, fixed (the pi-learner, section 3) or adaptive (section 4):

    log p(x) = sum over steps t, and over l shown at t, of log p(x_l | what was shown before t)

Given and absent positions are conditioned on or passed over, and never counted. Sums are rounded once (`math.fsum`),
so that a row's number has the same bits in any batch, padded or not, where the denoiser's answer has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unmask import noise
from unmask.belief import Belief, Denoiser
from unmask.choices import proposed
from unmask.choices.sample import sample
from unmask.choices.teacher import teacher
from unmask.decode import decode
from unmask.errors import UnmaskError
from unmask.objectives import Key, begin
from unmask.state import Rows, State
from unmask.strategy import Strategy, parse


@dataclass(frozen=True, eq=False)
class Estimate:
    """The bound of B rows, each in the mean over its masks, and the standard error of that mean.

    `calls` are calls of the denoiser. An error is NaN where it cannot be told: of one mask, of one pair, of one row.
    """

    mean: Float[Tensor, " B"]
    error: Float[Tensor, " B"]
    calls: int

    @property
    def average(self) -> float:
        """The mean over rows."""
        return math.fsum(self.mean.tolist()) / max(1, len(self.mean))

    @property
    def average_error(self) -> float:
        """The standard error of the average as that of these very rows: what the masks leave open."""
        return math.hypot(*self.error.tolist()) / max(1, len(self.mean))

    @property
    def sampling_error(self) -> float:
        """The standard error of the average as that of the task that the rows were drawn from, the masks' included."""
        return _error(self.mean.tolist(), stratified=False)


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Log probabilities of B rows along the orders that a strategy took: `total`, and `by_step` what each step showed.

    Rows that took fewer than S steps have 0 behind their last. `calls` are calls of the denoiser.
    """

    total: Float[Tensor, " B"]
    by_step: Float[Tensor, "B S"]
    calls: int


@torch.no_grad()
def elbo(
    denoise: Denoiser,
    rows: Rows,
    *,
    draws: int,
    by: Literal["number", "time"] = "number",
    stratified: bool = True,
    antithetic: bool = True,
    seed: int = 0,
    size: int = 64,
) -> Estimate:
    """An unbiased estimate of each row's bound from `draws` masks, `size` masks to a call of the denoiser.

    `stratified`: a row's masks take one number of hidden answers from each of `draws` equal parts of 1..k.

    `antithetic`: masks come in pairs that share a random order of the answers. The first hides n from its beginning,
    the second k + 1 - n from its end, so that each by itself is as random as ever, and together they hide every answer,
    one of them twice. Were an answer as surprising whatever is shown, a mask's value would be k times the mean of the
    n that it hides, of variance k (k - n) s^2 / n (s^2: that of the surprises); but a mean too large among some answers
    is too small among all others, so that the two errors of a pair have opposite signs. And where surprises fall as
    more is shown, small masks have small values and large ones large: mirrored, these cancel too.

    `error` is honest under both: pairs are independent of each other, whatever there is between the two of a pair.
    Where they are stratified, each is compared with its neighbour alone (collapsed strata, Cochran 1977), which has
    another mean: so that the squared error is right, or too large, in the mean. Of a few masks it is itself uncertain
    (for each two pairs there is one difference to tell it by); that of an average over many rows is not.

    `by="time"` draws a time t evenly, hides each answer with probability t and weighs by 1/t instead (the second of a
    pair hides what the first shows): the same mean, but masks of few answers have weights without bound. The variance
    is infinite, and `error` NaN.
    """
    masks = _Masks(draws, by, stratified, antithetic, seed)
    if size < 1:
        raise UnmaskError(f"elbo: size is how many masks go into one call, at least 1, got {size}")
    right, device = _right(rows), rows.tokens.device
    found: list[float] = []
    calls = 0
    for first in range(0, len(rows) * draws, size):
        part = torch.arange(first, min(first + size, len(rows) * draws), device=device)
        row, draw = part // draws, part % draws
        some = rows.select(row)
        hidden, weight = masks(some, row, draw)
        belief = Belief(begin(some, hidden, Key(seed, 0, row, len(rows))), hidden, denoise)
        belief.values = proposed(right, belief)
        surprises = _groups(belief.index, belief.log_chosen, len(part))
        found += [math.fsum(one) * times for one, times in zip(surprises, weight.tolist(), strict=True)]
        calls += belief.calls
        belief.release()
    each = [found[at : at + draws] for at in range(0, len(found), draws)]
    apart = [[_mean(one[at : at + masks.step]) for at in range(0, draws, masks.step)] for one in each]
    errors = [math.nan if by == "time" else _error(one, stratified=stratified) for one in apart]
    return Estimate(_tensor([_mean(one) for one in each], device), _tensor(errors, device), calls)


@dataclass(frozen=True)
class _Masks:
    """What each draw hides of a row, and how much that weighs."""

    draws: int
    by: str
    stratified: bool
    antithetic: bool
    seed: int

    def __post_init__(self) -> None:
        if self.by not in ("number", "time"):
            raise UnmaskError(f'elbo: by is {self.by!r}; expected "number" (of hidden answers) or "time"')
        if self.draws < 1:
            raise UnmaskError(f"elbo: draws is how many masks a row has, at least 1, got {self.draws}")
        if self.draws % self.step:
            raise UnmaskError(
                f"elbo: antithetic masks come in pairs, and draws={self.draws} is odd; "
                f"take draws={self.draws + 1}, or antithetic=False"
            )

    @property
    def step(self) -> int:
        """How many masks share an order."""
        return 2 if self.antithetic else 1

    def __call__(
        self, rows: Rows, row: Int[Tensor, " B"], draw: Int[Tensor, " B"]
    ) -> tuple[Bool[Tensor, "B L"], Float[Tensor, " B"]]:
        """`row` are the rows' keys, `draw` the number of each one's mask: all that the noise goes by."""
        answers = rows.present & ~rows.given
        place = (rows.present.long().cumsum(1) - 1).clamp(min=0)
        number, second = draw // self.step, (draw % self.step == 1)[:, None]
        order = noise.everywhere(self.seed, "bound order", row, number, place)
        share = noise.at(noise.key(self.seed, "bound share", row, number), row * 0)
        share = ((number + share) / self.draws if self.stratified else share)[:, None]
        if self.by == "time":
            time = torch.where(second, 1 - share, share)
            return answers & (torch.where(second, 1 - order, order) < time), 1 / time.squeeze(1)
        count = answers.sum(1, keepdim=True).clamp(min=1)  # a row without answers has nothing hidden either way
        rank = order.masked_fill(~answers, torch.inf).argsort(dim=1, stable=True).argsort(dim=1)
        most = (share * count).long().minimum(count - 1) + 1
        most = torch.where(second, count + 1 - most, most)
        hidden = answers & (torch.where(second, count - 1 - rank, rank) < most)
        return hidden, (count / most.double()).squeeze(1)


def log_likelihood(
    denoise: Denoiser, rows: Rows, strategy: Strategy | str, *, seed: int = 0, size: int = 64
) -> Likelihood:
    """The log probability with which a strategy's sampler writes each row: in the order that it would take.

    The loop is `decode`'s own, with a teacher that proposes the row's values; `size` rows are followed at a time. Where
    several positions are shown at a step it is the probability under the sampler that draws them independently,
    not under the joint of the denoiser's beliefs. Where the order is random (the oracle `random`, noise on scores, a
    binomial pace) it is given the order that `seed` drew: its mean over seeds is at most the log probability of the
    sampler that draws its order as well, by Jensen. Once a value is impossible the row is given up, at -inf.

    Over all rows these probabilities sum to 1, as nothing that decides what is shown next depends on values that are
    still hidden. What would break that is refused: revisions, oracles and paces that read the proposed values, and
    choices other than `sample`, which is what makes the sampler's values those that are counted here.
    """
    strategy = parse(strategy) if isinstance(strategy, str) else strategy
    if not isinstance(strategy, Strategy):
        raise UnmaskError(
            f"log_likelihood: expected a Strategy, got a {type(strategy).__name__}; "
            f'a text such as "margin, per_step(1), sample", or Strategy.of(...)'
        )
    _require_normalised(strategy)
    if size < 1:
        raise UnmaskError(f"log_likelihood: size is how many rows are followed at a time, at least 1, got {size}")
    followed = replace(strategy, choice=_right(rows))
    terms: list[list[float]] = [[] for _ in range(len(rows))]
    steps: list[list[float]] = [[] for _ in range(len(rows))]
    impossible = torch.zeros(len(rows), dtype=torch.bool, device=rows.tokens.device)

    def until(state: State) -> Tensor:
        return impossible[state.row]

    calls = 0
    for part in torch.arange(len(rows), device=rows.tokens.device).split(size):
        run = decode(denoise, rows.select(part).start(seed, row=part), followed, until=until)
        for step in run:
            belief = step.belief
            shown = step.shown.view(-1)[belief.flat]
            row, log_p = belief.index[shown], belief.log_chosen[shown]  # not the log of `shown_probability`, rounded
            impossible[step.before.row[row[log_p.isneginf()]]] = True
            for number, group in zip(step.before.row.tolist(), _groups(row, log_p, len(step.rows)), strict=True):
                terms[number] += group
                steps[number].append(math.fsum(group))
        calls += run.calls
    most = max(map(len, steps), default=0)
    by_step = [one + [0.0] * (most - len(one)) for one in steps]
    device = rows.tokens.device
    total = _tensor([math.fsum(one) for one in terms], device)
    return Likelihood(total, _tensor(by_step, device).view(len(rows), most), calls)


def _require_normalised(strategy: Strategy) -> None:
    """Refuse a strategy along whose order the probabilities of all rows would not sum to 1."""
    told = None
    if strategy.revision is not None:
        told = (
            f"the revision {strategy.revision} takes back what was shown, so that many ways lead to a row; leave it out"
        )
    elif strategy.choice != sample():
        told = (
            f"the choice {strategy.choice} does not draw values as the model believes in them, and this is the "
            f"probability of values that are drawn so; write sample in its place"
        )
    elif strategy.oracle.reads_proposal:
        told = (
            f"the oracle {strategy.oracle} reads the proposed value, so that the order depends on values to come and "
            f"the probabilities of all rows do not sum to 1; take one that reads beliefs alone, such as margin"
        )
    elif strategy.pace.reads_proposal:
        told = (
            f"the pace {strategy.pace} reads the proposed values, so that what is shown together depends on values to "
            f"come and the probabilities of all rows do not sum to 1; take another, such as per_step(1)"
        )
    if told is not None:
        raise UnmaskError(f"log_likelihood: {told}")


def _right(rows: Rows) -> teacher:
    """The rows' own values, by their numbers and by place; it refuses those that the model does not have."""
    table = torch.zeros_like(rows.tokens)
    row, position = rows.present.nonzero(as_tuple=True)
    table[row, rows.present.long().cumsum(1)[row, position] - 1] = rows.tokens[row, position]
    return teacher(tuple(map(tuple, table.tolist())))


def _groups(row: Int[Tensor, " n"], terms: Float[Tensor, " n"], count: int) -> list[list[float]]:
    """The terms of each row."""
    found: list[list[float]] = [[] for _ in range(count)]
    for number, term in zip(row.tolist(), terms.tolist(), strict=True):
        found[number].append(term)
    return found


def _tensor(values: Sequence[object], device: torch.device) -> Tensor:
    return torch.tensor(values, dtype=torch.float64, device=device)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _error(values: Sequence[float], *, stratified: bool) -> float:
    """The standard error of the mean of independent values: alike, or each from a stratum of its own, one by one."""
    count = len(values)
    if count < 2:
        return math.nan
    ends = [*range(2, count - 1, 2), count] if stratified else [count]  # in twos, the last three together if need be
    squares: list[float] = []
    for begins, end in zip([0, *ends], ends, strict=False):
        some = values[begins:end]
        middle, times = _mean(some), len(some) / (len(some) - 1)
        squares += [times * (value - middle) * (value - middle) for value in some]
    return math.sqrt(math.fsum(squares)) / count
