"""Every sampler of the literature against its transcription: the same tokens, at the same steps, bit for bit.

The transcriptions share nothing with the library but the numbers of `noise`, so a rule that was taken apart wrongly,
or a clock that runs differently in a block, shows as a position in another step. Where a source flips a coin for
every position and the library draws a number first, outcomes are also counted against the published probabilities.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor
from toys import Toy
from transcriptions import (
    Logits,
    Mask,
    Numbers,
    Row,
    Tokens,
    ancestral_random,
    bisection,
    dream,
    eb_sampler,
    fast_dllm,
    fast_dllm_factor,
    first_hitting,
    hierarchy,
    in_order,
    klass,
    llada,
    log_margin,
    loop_code,
    loop_schedule,
    margin_for_text,
    maskgit,
    p2_self,
    pc_sampler,
    puzzle_code,
    rcr,
    remdm,
    sharpened,
    softmax,
    top_probability,
    top_probability_margin,
)

from unmask.belief import Denoiser
from unmask.decode import decode
from unmask.state import State
from unmask.strategies import LITERATURE
from unmask.strategy import parse
from unmask.trace import record
from unmask.wrappers.tempered import tempered

LENGTH, VALUES, SEED = 70, 4, 5
KEYS = (3, 0, 12)
TOY = Toy(LENGTH, VALUES, seed=1, sharpness=0.8)
Transcription = Callable[[Row], None]


@dataclass(frozen=True)
class Case:
    """A strategy, its transcription, and what must happen in its decodes, so that they test what they are for.

    `happens`: "none", "one", "several": so many are shown at some step; "back": shown ones are masked; "rewritten":
    they take another value. `sharp`: temperature and top_p of a denoiser that is sharpened before it is scored.
    """

    text: str
    transcription: Transcription
    happens: str
    sharp: tuple[float, float] | None = None


TRANSCRIPTIONS: dict[str, tuple[Transcription, str]] = {
    "vanilla": (partial(ancestral_random, steps=50), "none one several"),
    "first_hitting": (first_hitting, "one"),
    "top_probability": (top_probability, "one"),
    "top_probability_margin": (top_probability_margin, "one"),
    "margin_for_text": (margin_for_text, "one several"),
    "puzzle_code": (partial(puzzle_code, steps=20), "several back rewritten"),
    "puzzle_margin": (partial(puzzle_code, steps=50, scoring="margin"), "several back rewritten"),
    "maskgit": (partial(maskgit, steps=12), "several"),
    "llada": (partial(llada, steps=32), "one"),
    "llada_sampled": (partial(llada, steps=32, temperature=0.5), "one"),
    "llada_random": (partial(llada, steps=32, remasking="random"), "one"),
    "dream_origin": (partial(ancestral_random, steps=64, eps=0.001, temperature=0.2), "none one several"),
    "dream_maskgit_plus": (partial(dream, scoring="maskgit_plus"), "none one several"),
    "dream_margin": (partial(dream, scoring="topk_margin"), "none one several"),
    "dream_entropy": (partial(dream, scoring="entropy"), "none one several"),
    "dream_alg_temp": (partial(dream, scoring="entropy", alg_temp=0.1), "none one several"),
    "fast_dllm": (fast_dllm, "one several"),
    "fast_dllm_factor": (fast_dllm_factor, "one several"),
    "eb_sampler": (eb_sampler, "one several"),
    "klass": (klass, "one several"),
    "remdm_cap": (partial(remdm, rule="cap", eta=0.04), "none one several back"),
    "remdm_rescale": (partial(remdm, rule="rescale", eta=0.015), "none one several back"),
    "remdm_conf": (partial(remdm, rule="conf"), "none one several back"),
    "remdm_loop": (partial(remdm, rule="loop", eta=0.02, top_p=0.9), "none one several back"),
    "p2_self": (p2_self, "one several back"),
    "log_margin": (log_margin, "one"),
    "rcr": (rcr, "one several back rewritten"),
    "pc_sampler": (pc_sampler, "one"),
    "hierarchy": (hierarchy, "one several"),
    "bisection": (bisection, "several"),
    "autoregressive": (in_order, "one"),
}

DREAM = {"chosen_probability": "maskgit_plus", "margin": "topk_margin", "entropy": "entropy"}
"""Oracles, and what Dream calls them."""

DREAM_PACE = 'ancestral({}, rounding="down", eps=0.001)'
NEAREST = 'ancestral(20, rounding="nearest")'
BACKWARDS = tuple(reversed(range(LENGTH)))

VARIANTS: tuple[Case, ...] = (
    Case('random, ancestral(20, "cosine"), sample', partial(ancestral_random, steps=20, schedule="cosine"), "several"),
    Case(
        "random, ancestral(64, eps=0.001), sample(0.4)",
        partial(ancestral_random, steps=64, eps=0.001, temperature=0.4),
        "none one several",
    ),
    Case("top_probability, per_step(3), sample(0.7)", partial(top_probability, count=3, temperature=0.7), "several"),
    Case("margin, per_step(2), sample", partial(top_probability_margin, count=2, temperature=1.0), "several"),
    Case(
        f'noisy(margin, "gaussian", 0.3), {NEAREST}, greedy',
        partial(margin_for_text, steps=20, scale=0.3, temperature=0.0),
        "several",
    ),
    Case(
        'noisy(log_probability, "gumbel", 0.5, "annealed"), evenly(20, "down"), sample, lowest',
        partial(puzzle_code, steps=20, temperature=1.0),
        "several back rewritten",
    ),
    Case(
        'noisy(log_chosen_probability, "gumbel", 4.5, "annealed"), cosine(8), sample(0.6)',
        partial(maskgit, steps=8, choice_temperature=4.5, temperature=0.6),
        "several",
    ),
    Case(  # more rounds than positions: at least one is shown, and one is left
        'noisy(log_chosen_probability, "gumbel", 1.0, "annealed"), cosine(90), greedy',
        partial(maskgit, steps=90, temperature=0.0),
        "none one",
    ),
    Case("chosen_probability, evenly(32), sample(0.7), blocks(32)", partial(llada, temperature=0.7), "one"),
    Case(
        "chosen_probability, evenly(12), sample(0.7), blocks(32)",
        partial(llada, steps=12, temperature=0.7),
        "one several",
    ),
    Case(
        "random, evenly(10), sample(0.7), blocks(16)",
        partial(llada, steps=10, temperature=0.7, size=16, remasking="random"),
        "one several",
    ),
    *(
        Case(
            f"{oracle}, {DREAM_PACE.format(64)}, sample(0.4)",
            partial(dream, scoring=scoring, temperature=0.4),
            "none one several",
        )
        for oracle, scoring in DREAM.items()
    ),
    Case(  # with eps 0, hidden (1 - s / t) is often whole
        'entropy, ancestral(10, rounding="down"), greedy',
        partial(dream, scoring="entropy", steps=10, eps=0.0, temperature=0.0),
        "several",
    ),
    *(  # what Dream's code does with temperature=0.4, top_p=0.9: both act before the score
        Case(
            f"{oracle}, {DREAM_PACE.format(20)}, sample",
            partial(dream, scoring=scoring, steps=20, temperature=1.0),
            "several",
            sharp=(0.4, 0.9),
        )
        for oracle, scoring in DREAM.items()
    ),
    Case(
        f'noisy(entropy, "gumbel", 0.4), {DREAM_PACE.format(20)}, sample',
        partial(dream, scoring="entropy", steps=20, temperature=1.0, alg_temp=0.4),
        "several",
        sharp=(0.4, 0.9),
    ),
    Case(
        "chosen_probability, threshold(0.9), sample(0.7), blocks(32)",
        partial(fast_dllm, temperature=0.7),
        "one several",
    ),
    Case(
        "chosen_probability, threshold(0.6), sample, blocks(20)",
        partial(fast_dllm, threshold=0.6, temperature=1.0, size=20),
        "one several",
    ),
    Case(
        "chosen_probability, factor(1.0), sample(0.7), blocks(32)",
        partial(fast_dllm_factor, temperature=0.7),
        "one several",
    ),
    Case(
        "chosen_probability, factor(0.5), greedy, blocks(32)",
        partial(fast_dllm_factor, factor=0.5),
        "one several",
    ),
    Case("entropy, entropy_bound(0.1), greedy", partial(eb_sampler, temperature=0.0), "one several"),
    Case("entropy, entropy_bound(1.0), sample(0.7)", partial(eb_sampler, gamma=1.0, temperature=0.7), "one several"),
    Case("klass(0.9, 0.01, 2), threshold(0.0), sample(0.7)", partial(klass, temperature=0.7), "one several"),
    Case(
        "klass(0.6, 0.05, 1), threshold(0.0), greedy, blocks(32)",
        partial(klass, confidence=0.6, divergence=0.05, history=1, size=32),
        "one several",
    ),
    Case(
        "klass(0.9, 0.02, 3), threshold(0.0), sample, blocks(32)",
        partial(klass, divergence=0.02, history=3, temperature=1.0, size=32),
        "one several",
    ),
    Case(
        'random, ancestral(64), sample(0.7), remdm("cap", 0.3)',
        partial(remdm, rule="cap", eta=0.3, temperature=0.7),
        "none one several back",
    ),
    Case(
        'random, ancestral(30), sample, remdm("rescale", 0.5)',
        partial(remdm, rule="rescale", eta=0.5, steps=30),
        "one several back",
    ),
    Case(
        'random, ancestral(30), sample(0.7), remdm("conf")',
        partial(remdm, rule="conf", steps=30, temperature=0.7),
        "one several back",
    ),
    Case(
        'random, looped(40), sample, remdm("loop", 0.1)',
        partial(remdm, rule="loop", eta=0.1, steps=40),
        "none one several back",
    ),
    Case(  # never back
        'log_chosen_probability, evenly(64, "down"), sample, p2(0.0)', partial(p2_self, eta=0.0), "one several"
    ),
    Case(
        'log_chosen_probability, evenly(64, "down"), sample(0.7), p2(0.5)',
        partial(p2_self, eta=0.5, temperature=0.7),
        "one several back",
    ),
    Case('log_chosen_probability, evenly(64, "down"), sample, p2(2.0)', partial(p2_self, eta=2.0), "one several back"),
    Case(
        'log_chosen_probability, evenly(20, "down"), greedy, p2(2.0)',
        partial(p2_self, eta=2.0, steps=20, temperature=0.0),
        "several back",
    ),
    Case(
        'running(chosen_probability), evenly(20, "down"), sample(0.7), lowest("again", "rewrite")',
        partial(rcr, steps=20, temperature=0.7),
        "several back rewritten",
    ),
    Case(
        "calibrated(0.02, 0.4, (0.1, 0.2, 0.3, 0.4)), evenly(10), sample(0.7), blocks(16)",
        partial(
            pc_sampler, decay=0.02, ceiling=0.4, frequencies=(0.1, 0.2, 0.3, 0.4), steps=10, temperature=0.7, size=16
        ),
        "one several",
    ),
    Case(
        "hierarchical(0.8, 0.6), threshold(0.0), sample(0.7)",
        partial(hierarchy, high=0.8, low=0.6, temperature=0.7, size=None),
        "one several",
    ),
    Case("midpoints, threshold(0.0), greedy", partial(bisection, temperature=0.0), "several"),
    Case("left_to_right, per_step(1), greedy", partial(in_order, temperature=0.0), "one"),
    Case(f"fixed({BACKWARDS}), per_step(1), sample(0.7)", partial(in_order, order=BACKWARDS, temperature=0.7), "one"),
)

CASES = {name: Case(LITERATURE[name].text, *rule) for name, rule in TRANSCRIPTIONS.items() if name in LITERATURE}
CASES |= {case.text[:90] + (" sharp" if case.sharp else ""): case for case in VARIANTS}


def problem() -> tuple[Tensor, Tensor]:
    """Tokens and what is hidden: the first row begins with given positions, so that its blocks start later."""
    draw = torch.Generator().manual_seed(2)
    tokens = torch.randint(0, VALUES, (len(KEYS), LENGTH), generator=draw)
    hidden = torch.rand((len(KEYS), LENGTH), generator=draw) > 0.06
    hidden[0, :3], hidden[1, 0] = False, True
    return tokens, hidden


def toy_logits(tokens: Tokens, hidden: Mask) -> Numbers:
    """TOY for one row: its sums do not round, so that these are the same bits."""
    known = np.zeros((LENGTH, VALUES))
    known[np.flatnonzero(~hidden), tokens[~hidden]] = 1.0
    return (TOY.base.numpy() + TOY.pull.numpy() @ known.ravel()).reshape(LENGTH, VALUES)


@cache
def published(name: str) -> list[Row]:
    """Every row, decoded by the transcription of a case."""
    return transcribed(CASES[name])


def transcribed(case: Case) -> list[Row]:
    """Every row, decoded by the transcription."""
    rows = []
    for key, tokens, hidden in zip(KEYS, *problem(), strict=True):
        logits: Logits = sharpened(toy_logits, *case.sharp) if case.sharp else toy_logits
        row = Row(np.where(hidden, 0, tokens), hidden.numpy(), logits, key, SEED)
        case.transcription(row)
        rows.append(row)
    return rows


def started(case: Case) -> tuple[Denoiser, State]:
    """What the library is given."""
    denoise = tempered(TOY, *case.sharp) if case.sharp else TOY
    return denoise, State.start(*problem(), seed=SEED, row=torch.tensor(KEYS))


def events(row: Row) -> set[str]:
    """What happened in a decode, in the words of `Case.happens`."""
    seen: set[str] = set()
    before = (np.where(row.free, 0, row.tokens), row.free)
    for after in row.history:
        shown = int((before[1] & ~after[1]).sum())
        seen.add("none" if shown == 0 else "one" if shown == 1 else "several")
        if (~before[1] & after[1]).any():
            seen.add("back")
        if ((before[0] != after[0]) & ~before[1] & ~after[1]).any():
            seen.add("rewritten")
        before = after
    return seen


def last_changes(row: Row) -> list[int]:
    """The step at which each position was shown, or last took a value; -1 where it was given."""
    steps = np.full(LENGTH, -1)
    before = (np.where(row.free, 0, row.tokens), row.free)
    for number, after in enumerate(row.history):
        steps[~after[1] & (before[1] | (before[0] != after[0]))] = number
        before = after
    return steps.tolist()


def test_every_name_of_the_literature_is_transcribed() -> None:
    assert TRANSCRIPTIONS.keys() == LITERATURE.keys()


def test_transcriptions_are_independent(root: Path) -> None:
    """They use one function of the package, the numbers, and would be no check if they used more."""
    tree = ast.parse((root / "tests" / "transcriptions.py").read_text())
    used = {
        f"{node.module}.{name.name}" if isinstance(node, ast.ImportFrom) else name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }
    assert {name for name in used if name.startswith(("unmask", "torch"))} == {"unmask.noise.uniform"}


@pytest.mark.parametrize("name", CASES)
def test_decodes_as_published(name: str) -> None:
    case = CASES[name]
    expected = published(name)
    happened: set[str] = set().union(*map(events, expected))
    wanted = set(case.happens.split())
    assert wanted <= happened, f"these rows do not test the rule: {happened}"
    assert wanted != {"one"} or happened == {"one"}

    denoise, state = started(case)
    steps = decode(denoise, state, parse(case.text))
    trace = record(steps)
    assert steps.state.step.tolist() == [len(row.history) for row in expected]
    for index, row in enumerate(expected):
        assert not row.hidden.any()
        assert trace.tokens[index].tolist() == row.tokens.tolist()
        assert trace.step[index].tolist() == last_changes(row)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if parse(case.text).revision is not None])
def test_revises_as_published(name: str) -> None:
    """Everything that is held after every single step, also what is overwritten later."""
    case = CASES[name]
    expected = published(name)
    denoise, state = started(case)
    taken = [0] * len(expected)
    for step in decode(denoise, state, parse(case.text)):
        for index, tokens, hidden in zip(step.rows.tolist(), step.after.tokens, step.after.hidden, strict=True):
            row_tokens, row_hidden = expected[index].history[taken[index]]
            assert (tokens.tolist(), hidden.tolist()) == (row_tokens.tolist(), row_hidden.tolist()), (
                f"row {index} differs after step {taken[index]}"
            )
            taken[index] += 1
    assert taken == [len(row.history) for row in expected]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("vanilla", partial(ancestral_random, steps=51)),
        ("margin_for_text", partial(margin_for_text, scale=0.11)),
        ("puzzle_code", partial(puzzle_code, noise=0.55)),
        ("puzzle_margin", partial(puzzle_code, steps=50)),
        ("maskgit", partial(maskgit, choice_temperature=1.1)),
        ("llada", partial(llada, size=33)),
        ("llada_sampled", partial(llada, temperature=0.6)),
        ("dream_origin", partial(ancestral_random, steps=64, temperature=0.2)),
        ("dream_maskgit_plus", partial(dream, scoring="topk_margin")),
        ("dream_margin", partial(dream, scoring="entropy")),
        ("dream_entropy", partial(dream, scoring="entropy", eps=0.1)),
        ("dream_alg_temp", partial(dream, scoring="entropy", alg_temp=0.12)),
        ("fast_dllm", partial(fast_dllm, threshold=0.88)),
        ("fast_dllm_factor", partial(fast_dllm_factor, factor=0.95)),
        ("eb_sampler", partial(eb_sampler, gamma=0.11)),
        ("klass", partial(klass, confidence=0.88)),
        ("klass", partial(klass, divergence=0.012)),
        ("klass", partial(klass, history=1)),
        ("klass", partial(klass, history=3)),
        ("remdm_cap", partial(remdm, rule="cap", eta=0.045)),
        ("remdm_rescale", partial(remdm, rule="rescale", eta=0.017)),
        ("remdm_conf", partial(remdm, rule="rescale", eta=1.0)),
        ("remdm_loop", partial(remdm, rule="loop", eta=0.022, top_p=0.9)),
        ("remdm_loop", partial(remdm, rule="loop", eta=0.02, top_p=0.92)),
        ("p2_self", partial(p2_self, eta=1.02)),
    ],
)
def test_another_number_would_show(name: str, other: Transcription) -> None:
    """These rows tell each rule from its near misses; else agreement on them would say little."""
    right, wrong = published(name), transcribed(replace(CASES[name], transcription=other))
    assert any(_story(one) != _story(two) for one, two in zip(right, wrong, strict=True))


def _story(row: Row) -> list[tuple[list[int], list[bool]]]:
    return [(tokens.tolist(), hidden.tolist()) for tokens, hidden in row.history]


def test_the_loop_leaves_the_authors_code_where_a_step_straddles_the_plateaus_ends() -> None:
    """ReMDM-loop's code decides by the time before the step; the schedule of the paper is exact at both ends of it."""
    steps, eta = 64, 0.02
    differ = []
    for i in range(steps):
        alpha_t, alpha_s = loop_schedule(i / steps), loop_schedule((i + 1) / steps)
        sigma = eta if alpha_t == alpha_s else 0.0
        ours = ((1 - alpha_s - sigma * alpha_t) / (1 - alpha_t), sigma)
        if ours != pytest.approx(loop_code(i, steps, eta), abs=1e-9):
            differ.append(i)
    assert differ == [28, 60]  # times 0.5625 to 0.5469 about t_on = 0.55, and 0.0625 to 0.0469 about t_off = 0.05


# Counted outcomes: one step from a state in which position 0 is given, 1 and 2 were shown, 3, 4 and 5 are hidden.

DRAWS = 20_000
SMALLEST_P = 1e-4
BELIEFS = np.array(
    [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8], [0.5, 0.3, 0.2], [0.85, 0.1, 0.05], [0.3, 0.3, 0.4]]
)
WHEN_SHOWN = np.array([np.nan, 0.9, 0.3, np.nan, np.nan, np.nan])
HELD = np.array([2, 0, 1, 0, 0, 0])
HIDDEN = np.arange(6) > 2
Outcome = tuple[int, ...]
"""The value at each position, or -1 where it is hidden."""


def after_one_step(text: str, step: int, hidden: Mask = HIDDEN) -> dict[Outcome, int]:
    """How often each outcome comes of step number `step`, over many rows."""
    held = torch.from_numpy(np.where(hidden, 0, HELD)).expand(DRAWS, -1)
    given = torch.arange(6).expand(DRAWS, -1) == 0
    state = State.start(
        held, torch.from_numpy(hidden).expand(DRAWS, -1), given=given & ~torch.from_numpy(hidden), seed=23
    )
    clock = torch.full((DRAWS,), step)
    strategy = parse(text)
    state = replace(
        state,
        strategy=str(strategy),
        steps=strategy.steps,
        window=torch.ones_like(state.hidden),
        step=clock,
        stage_step=clock,
        stage_hidden=torch.full((DRAWS,), 5),
        shown_probability=torch.from_numpy(np.where(hidden, np.nan, WHEN_SHOWN)).repeat(DRAWS, 1),
    )
    logits = torch.from_numpy(np.log(BELIEFS))

    def denoise(state: State, asked: Tensor) -> Tensor:
        return logits.expand(len(state), -1, -1)[asked]

    after = next(decode(denoise, state, strategy)).after
    outcomes = after.tokens.masked_fill(after.hidden, -1)
    kinds, counts = outcomes.unique(dim=0, return_counts=True)
    return {tuple(kind): count for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True)}


def agree(counts: dict[Outcome, int], expected: dict[Outcome, float]) -> None:
    """Chi-square; outcomes that are expected fewer than five times are counted together."""
    assert sum(expected.values()) == pytest.approx(1)
    assert counts.keys() <= {outcome for outcome, probability in expected.items() if probability > 0}
    rare = {outcome for outcome, probability in expected.items() if probability * DRAWS < 5}
    seen = [counts.get(outcome, 0) for outcome in expected if outcome not in rare]
    wanted = [probability * DRAWS for outcome, probability in expected.items() if outcome not in rare]
    if (together := sum(expected[outcome] for outcome in rare) * DRAWS) >= 5:
        seen.append(sum(counts.get(outcome, 0) for outcome in rare))
        wanted.append(together)
    else:
        assert sum(counts.get(outcome, 0) for outcome in rare) <= 20
        wanted = [number * sum(seen) / sum(wanted) for number in wanted]
    assert len(wanted) > 3
    assert stats.chisquare(seen, wanted).pvalue > SMALLEST_P


def coins(shown: float, masked: Numbers, temperature: float = 1.0, top_p: float = 1.0) -> dict[Outcome, float]:
    """The published rule: every hidden position is shown with probability `shown`, every shown one masked, alone."""
    positions: list[dict[int, float]] = [{int(HELD[0]): 1.0}]
    positions += [{int(HELD[place]): 1 - masked[place], -1: masked[place]} for place in (1, 2)]
    for place in (3, 4, 5):
        weights = BELIEFS[place] ** (1 / temperature)
        order = np.argsort(-weights, kind="stable")
        reached = (weights[order].cumsum() / weights.sum() >= top_p - 1e-12).argmax()
        weights[order[reached + 1 :]] = 0.0
        values = shown * weights / weights.sum()
        positions.append({-1: 1 - shown, **{value: values[value] for value in range(3) if values[value] > 0}})
    return {
        outcome: float(np.prod([one[v] for one, v in zip(positions, outcome, strict=True)]))
        for outcome in itertools.product(*positions)
    }


def masked_by(sigma: float) -> Numbers:
    """The same probability to be masked at every shown position."""
    return np.full(6, sigma)


def remasking(alpha_t: float, alpha_s: float, rule: str, eta: float, top_p: float = 1.0) -> dict[Outcome, float]:
    """ReMDM's transition (2503.00307, section 3; diffusion.py, _ddpm_caching_update)."""
    ceiling = min(1.0, (1 - alpha_s) / alpha_t)
    if rule == "conf":
        shares = softmax(-WHEN_SHOWN[1:3])
        return coins((alpha_s - alpha_t) / (1 - alpha_t), np.array([0.0, *(ceiling * shares), 0.0, 0.0, 0.0]))
    sigma = {"cap": min(eta, ceiling), "rescale": eta * ceiling, "loop": eta}[rule]
    return coins((alpha_s - (1 - sigma) * alpha_t) / (1 - alpha_t), masked_by(sigma), top_p=top_p)


@pytest.mark.parametrize(
    ("text", "step", "expected"),
    [
        (LITERATURE["vanilla"].text, 40, coins(1 / 10, masked_by(0.0))),
        (LITERATURE["vanilla"].text, 46, coins(1 / 4, masked_by(0.0))),
        (
            'random, ancestral(20, "cosine"), sample',
            15,
            coins(1 - np.sin(0.2 * np.pi / 2) / np.sin(0.25 * np.pi / 2), masked_by(0.0)),
        ),
        (
            LITERATURE["dream_origin"].text,
            60,
            coins(1 - (1 - 61 / 64 * 0.999) / (1 - 60 / 64 * 0.999), masked_by(0.0), temperature=0.2),
        ),
        (LITERATURE["remdm_cap"].text, 60, remasking(60 / 64, 61 / 64, "cap", 0.04)),
        ('random, ancestral(64), sample, remdm("cap", 0.3)', 32, remasking(0.5, 33 / 64, "cap", 0.3)),
        (LITERATURE["remdm_rescale"].text, 32, remasking(0.5, 33 / 64, "rescale", 0.015)),
        ('random, ancestral(64), sample, remdm("rescale", 0.6)', 44, remasking(44 / 64, 45 / 64, "rescale", 0.6)),
        (LITERATURE["remdm_conf"].text, 48, remasking(48 / 64, 49 / 64, "conf", 1.0)),
        (LITERATURE["remdm_loop"].text, 20, coins(1 / 64 * 2 / (1 - 20 / 64 * 2), masked_by(0.0), top_p=0.9)),
        (LITERATURE["remdm_loop"].text, 40, remasking(0.9, 0.9, "loop", 0.02, top_p=0.9)),
        (LITERATURE["remdm_loop"].text, 61, coins(1 / 3, masked_by(0.0), top_p=0.9)),
        ('random, looped(64), sample, remdm("loop", 0.08)', 50, remasking(0.9, 0.9, "loop", 0.08)),
    ],
)
def test_outcomes_are_as_often_as_published(text: str, step: int, expected: dict[Outcome, float]) -> None:
    """Drawing the number first and then the positions is the same as a coin for each, values included."""
    agree(after_one_step(text, step), expected)


def test_the_first_to_be_hit_is_any() -> None:
    """First hitting: one of the hidden positions, all alike, takes a value."""
    held = (*HELD[:3].tolist(), -1, -1, -1)
    expected = {
        (*held[:place], value, *held[place + 1 :]): BELIEFS[place, value] / 3
        for place in (3, 4, 5)
        for value in range(3)
    }
    agree(after_one_step(LITERATURE["first_hitting"].text, 7), expected)


def test_noise_draws_positions_without_replacement() -> None:
    """Dream's alg_temp: positions by softmax(confidence / alg_temp), one after the other. At step 3 of 5, 2 of 6."""
    weights = np.exp((BELIEFS * np.log(BELIEFS)).sum(1) / 0.4)
    expected: dict[Outcome, float] = dict.fromkeys(itertools.combinations(range(6), 2), 0.0)
    for one, two in itertools.permutations(range(6), 2):
        probability = weights[one] / weights.sum() * weights[two] / (weights.sum() - weights[one])
        expected[min(one, two), max(one, two)] += probability
    counts: dict[Outcome, int] = {}
    text = 'noisy(entropy, "gumbel", 0.4), ancestral(5, rounding="down", eps=0.001), sample(0.2)'
    for outcome, count in after_one_step(text, 3, np.full(6, True)).items():
        pair = tuple(place for place in range(6) if outcome[place] >= 0)
        counts[pair] = counts.get(pair, 0) + count
    agree(counts, expected)
