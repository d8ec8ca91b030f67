"""The one decoding loop. Everything by which samplers differ is a value in the Strategy; nothing is a branch here.

belief = denoise(state)         what would stand there?     the model
what would I write?             Choice
what do I take back?            Revision (none, for most)
where am I surest?              Oracle
how many stay hidden?           Pace
write, and yield the Step
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unmask.belief import Belief, Denoiser, first
from unmask.choices import proposed
from unmask.errors import StrategyError, UnmaskError
from unmask.oracles import asked_by, level, scored
from unmask.paces import left_by
from unmask.revisions import taken_back
from unmask.state import State
from unmask.strategy import Strategy, parse
from unmask.windows import due, next_stage

Until = Callable[[State], Tensor]
"""(state) -> bool [B]: True where a row is done early, for instance at an end-of-text value."""


@dataclass(frozen=True, eq=False)
class Step:
    """One step of the rows that were still at work: b of them, `rows` saying which of the batch.

    `score` and `belief` are for the positions of `belief.asked`; the belief is valid until the next Step is asked
    for. `shown` and `back` are what was written and what was taken back (and not shown again). `calls` counts the
    calls of the denoiser so far, `row_calls` those that this step spent on each row.
    """

    rows: Int[Tensor, " b"]
    before: State
    after: State
    belief: Belief
    score: Float[Tensor, " n"]
    shown: Bool[Tensor, "b L"]
    back: Bool[Tensor, "b L"]
    calls: int
    row_calls: Int[Tensor, " b"]
    left: tuple[tuple[Tensor, State], ...]  # the rows that have left the batch, as they were then

    @property
    def state(self) -> State:
        """All rows of the batch after this step: a decode can go on from here, or fork."""
        return _whole((*self.left, (self.rows, self.after)))


class Decoding(Iterator[Step]):
    """The Steps of a decode, made as they are asked for. `state` is always the latest State of the whole batch."""

    def __init__(self, denoise: Denoiser, state: State, strategy: Strategy, until: Until | None) -> None:
        self.strategy = strategy
        self.calls = 0
        self._until = until
        self._denoise = denoise
        self._rows = torch.arange(len(state), device=state.tokens.device)
        if state.strategy != (text := str(strategy)):
            state = state.begin(text, strategy.steps)
            state = replace(state, memory=strategy.oracle.start(state))
        self._now = state
        self._left: tuple[tuple[Tensor, State], ...] = ()
        self._belief: Belief | None = None

    @property
    def state(self) -> State:
        """All rows of the batch as they stand."""
        return _whole((*self._left, (self._rows, self._now)))

    def finish(self) -> State:
        """Take all steps that are left; the final State."""
        for _ in self:
            pass
        return self.state

    def __next__(self) -> Step:
        if self._belief is not None:
            self._belief.release()
        self._settle()
        if not len(self._now):
            raise StopIteration
        step = self._take()
        self._belief, self._now = step.belief, step.after
        return step

    @torch.no_grad()
    def _settle(self) -> None:
        """Open the next stage where one is over; let rows leave that have none, or that meet `until`."""
        state, revised = self._now, self.strategy.revision is not None
        if not len(state):
            return
        over = ~(state.window if revised else state.open).any(1)
        if state.steps is not None:
            over = over | (state.stage_step >= state.steps)
        ended = None if self._until is None else self._until(state)
        if ended is None and not bool(over.any()):
            return
        to_do = due(state, revised=revised)
        more = to_do.any(1)
        state = next_stage(self.strategy.window, state, to_do, over & more)
        leaves = over & ~more if ended is None else (over & ~more) | ended
        if bool(leaves.any()):
            gone, stay = leaves.nonzero().squeeze(1), (~leaves).nonzero().squeeze(1)
            self._left = (*self._left, (self._rows[gone], state.select(gone)))
            self._rows, state = self._rows[stay], state.select(stay)
        self._now = state

    @torch.no_grad()
    def _take(self) -> Step:
        state, strategy, pace, revision = self._now, self.strategy, self.strategy.pace, self.strategy.revision
        is_open = state.open
        # The clock's last step shows all: it is the loop that promises an end, not the pace.
        last = (state.stage_step + 1 >= _limit(state))[:, None]
        asked = asked_by(strategy.oracle, state, is_open, last)
        looked = asked if revision is None else asked | (revision.ask(state) & state.revisable)

        belief = Belief(state, looked, self._denoise, pace.shares(state))
        belief.values = proposed(strategy.choice, belief)
        candidates, back = is_open, torch.zeros_like(is_open)
        if revision is not None:
            back = taken_back(revision, belief) & (looked if revision.again else ~last)
            candidates = is_open | back if revision.again else is_open
        score, memory = scored(strategy.oracle, belief)
        left = left_by(pace, belief, score)
        if revision is None:
            ranked, count = belief.spread(score), belief.waiting - left
        else:
            ranked = belief.spread(revision.rescore(belief, score)).masked_fill(~candidates, -torch.inf)
            count = candidates.sum(1) - revision.leave(belief, left)
        shown = first(ranked, count) & (ranked > -torch.inf)
        if state.steps is not None:
            shown = torch.where(last, candidates, shown)
        elif not bool(shown.any(1).all()):
            stuck = int(state.row[(~shown.any(1)).nonzero()[0]])
            raise StrategyError(
                f"row {stuck} cannot go on: the oracle {strategy.oracle} offered nothing, or the pace {pace} "
                f"showed nothing; a pace without a number of steps must show at least one position a step"
            )
        written = shown if revision is None or revision.rewrite else shown & is_open
        gone = back & ~shown
        chosen = written.view(-1)[belief.flat].nonzero().squeeze(1)
        tokens, probability = state.tokens.masked_fill(gone, 0), state.shown_probability.masked_fill(gone, torch.nan)
        tokens.view(-1)[belief.flat[chosen]] = belief.values[chosen]
        probability.view(-1)[belief.flat[chosen]] = belief.log_chosen[chosen].exp()
        after = replace(
            state,
            tokens=tokens,
            hidden=(state.hidden & ~shown) | gone,
            shown_probability=probability,
            step=state.step + 1,
            stage_step=state.stage_step + 1,
            memory=memory,
        )
        self.calls += belief.calls
        return Step(self._rows, state, after, belief, score, shown, gone, self.calls, belief.row_calls, self._left)


def decode(denoise: Denoiser, state: State, strategy: Strategy | str, *, until: Until | None = None) -> Decoding:
    """Fill what is hidden in `state`, in the order that `strategy` takes. Lazy: each Step is made when asked for.

    Ties are broken by the lowest position, and by the lowest value. The seed is the State's, so that going on from
    any Step's state needs nothing else. From a State that another strategy was at work on, this one begins anew with
    what is shown. `decode(...).finish()` is the final State; `record` makes a Trace.
    """
    strategy = parse(strategy) if isinstance(strategy, str) else strategy
    for given, kind, hint in (
        (state, State, "rows have .start(seed=0), texts a task's .parse(text).start()"),
        (strategy, Strategy, 'a text such as "margin, per_step(1), greedy", named("llada"), or Strategy.of(...)'),
    ):
        if not isinstance(given, kind):
            raise UnmaskError(f"decode: expected a {kind.__name__}, got a {type(given).__name__}; {hint}")
    return Decoding(denoise, state, strategy, until)


def _limit(state: State) -> int:
    """The number of steps in a stage, where the pace has one; else more than there will ever be."""
    return 1 << 62 if state.steps is None else state.steps


def _whole(parts: tuple[tuple[Tensor, State], ...]) -> State:
    order = torch.cat([rows for rows, _ in parts]).argsort()
    return State.join(level([state for _, state in parts])).select(order)
