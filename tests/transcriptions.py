"""Every sampler of `strategies.LITERATURE` once more: straight down from its source, one row at a time, in numpy.

The library cuts decoding at its joints, so that a rule of the literature is spread over an oracle, a pace, a choice
and a revision. A transcription is the opposite: the published loop as it stands, without any of those, so that the two
agree only if the joints were cut rightly. Nothing of the package is used but `noise.uniform`, the number that the
library looks up where a source draws one; with it both sides must agree in every token of every step.

Where a source leaves a choice, the library's documented one is taken: of equal scores the lowest position, of equal
logits the lowest value; steps in which a stage has nothing hidden are not taken; blocks count from the first hidden
position. Two draws are made in another way than in the sources, with the same distribution (test_transcriptions
checks that too): a source that shows each position by a coin of its own has the *number* shown drawn first, and then
the positions at random; and a source that takes the argmax of Gumbel noise has its value drawn by inverse CDF.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from unmask.noise import uniform

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]
Tokens = NDArray[np.int64]
Logits = Callable[[Tokens, Mask], Numbers]
"""(tokens [L], hidden [L]) -> logits [L, V]."""

uniform_once = cache(uniform)
"""Transcriptions look up the same numbers again and again."""


@dataclass
class Row:
    """A row being decoded: what it holds now, and what it held after each step. Tokens under `hidden` are 0."""

    tokens: Tokens
    hidden: Mask
    logits: Logits
    key: int = 0
    seed: int = 0
    history: list[tuple[Tokens, Mask]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.free = self.hidden.copy()
        """What is not given."""

    def probabilities(self) -> Numbers:
        """Softmax of the logits at every position."""
        return softmax(self.logits(self.tokens, self.hidden))

    def noise(self, stream: str, where: Mask) -> Numbers:
        """This step's uniforms; NaN where none is wanted."""
        step = len(self.history)
        numbers = np.full(len(where), np.nan)
        for position in np.flatnonzero(where).tolist():
            numbers[position] = uniform_once(self.seed, stream, self.key, step, position)
        return numbers

    def gumbel(self, where: Mask) -> Numbers:
        """Standard Gumbel noise on scores."""
        return -np.log(-np.log(self.noise("perturbation", where)))

    def draw(self, p: Numbers, temperature: float, where: Mask, top_p: float = 1.0) -> Tokens:
        """A value for each position of `where`: v ~ p^(1/temperature) by inverse CDF, the likeliest at 0."""
        values = p.argmax(1)
        if temperature > 0:
            point = self.noise("value", where)
            for position in np.flatnonzero(where).tolist():
                weights = nucleus(p[position] ** (1 / temperature), top_p)
                mass = weights.cumsum()
                values[position] = int((mass <= point[position] * mass[-1]).sum())
        return values

    def become(self, tokens: Tokens, hidden: Mask) -> None:
        """End the step."""
        self.tokens, self.hidden = np.where(hidden, 0, tokens), hidden
        self.history.append((self.tokens, self.hidden))

    def show(self, where: Mask, values: Tokens) -> None:
        """End the step by showing `where`, and nothing else."""
        self.become(np.where(where, values, self.tokens), self.hidden & ~where)

    def blocks(self, size: int | None) -> Iterator[Mask]:
        """The blocks from the first hidden position that have something hidden when their turn comes; None: one."""
        position = np.arange(len(self.tokens))
        size = size or len(position)
        for start in range(int(self.hidden.argmax()), len(position), size):
            block = (position >= start) & (position < start + size)
            if (self.hidden & block).any():
                yield block


def softmax(logits: Numbers) -> Numbers:
    """Along the last axis."""
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def nucleus(weights: Numbers, top_p: float) -> Numbers:
    """The likeliest values up to the first with which their share reaches `top_p`; the others 0."""
    order = np.argsort(-weights, kind="stable")
    before = np.concatenate([[0.0], (weights[order] / weights.sum()).cumsum()[:-1]])
    kept = weights.copy()
    kept[order[before >= top_p]] = 0.0
    return kept if top_p < 1 else weights


def of(p: Numbers, values: Tokens) -> Numbers:
    """p of one value at each position."""
    return p[np.arange(len(p)), values]


def entropy(p: Numbers) -> Numbers:
    """In nats, at each position."""
    return -np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0).sum(1)


def margin(p: Numbers) -> Numbers:
    """Between the two likeliest values at each position."""
    ordered = np.sort(p, axis=1)
    return ordered[:, -1] - ordered[:, -2]


def ranked(score: Numbers, among: Mask) -> list[int]:
    """The positions of `among`, highest score first, of equal ones the lowest position."""
    return sorted(np.flatnonzero(among).tolist(), key=lambda position: (-score[position], position))


def highest(score: Numbers, count: int, among: Mask) -> Mask:
    """The `count` highest scores of `among`."""
    picked = np.zeros_like(among)
    picked[ranked(score, among)[:count]] = True
    return picked


# The reverse process of masked diffusion


def ancestral_random(
    row: Row, steps: int, temperature: float = 1.0, eps: float = 0.0, schedule: str = "linear"
) -> None:
    """MDLM (2406.07524), the paper's vanilla inference, and Dream's alg="origin" (generation_utils.py).

    Each hidden position is shown with probability (alpha_s - alpha_t) / (1 - alpha_t), on times from 1 to eps; at the
    last step all are. Linear: alpha = 1 - t; for Dream that probability is its 1 - s / t. Cosine: 1 - sin(t pi / 2).
    """
    for i in range(steps):
        if not row.hidden.any():
            break
        t, s = (1 - step / steps * (1 - eps) for step in (i, i + 1))
        hides_t, hides_s = (t, s) if schedule == "linear" else (math.sin(t * math.pi / 2), math.sin(s * math.pi / 2))
        stays = hides_s / hides_t if i < steps - 1 else 0.0
        values = row.draw(row.probabilities(), temperature, row.hidden)
        stay = int((row.noise("count", row.hidden) < stays).sum())
        row.show(highest(row.noise("order", row.hidden), row.hidden.sum() - stay, row.hidden), values)


def first_hitting(row: Row) -> None:
    """First-hitting sampler (2409.02908): at each event one hidden position, uniformly at random, takes a value.

    Its times matter to a denoiser that is told the time, and ours is not.
    """
    while row.hidden.any():
        values = row.draw(row.probabilities(), 1.0, row.hidden)
        row.show(highest(row.noise("order", row.hidden), 1, row.hidden), values)


# The paper's oracles


def top_probability(row: Row, count: int = 1, temperature: float = 0.0) -> None:
    """The paper (2502.06768, section 4.1): the K largest max_j p(j)."""
    while row.hidden.any():
        p = row.probabilities()
        row.show(highest(p.max(1), count, row.hidden), row.draw(p, temperature, row.hidden))


def top_probability_margin(row: Row, count: int = 1, temperature: float = 0.0) -> None:
    """The paper (2502.06768, section 4.1): the K largest p(j1) - p(j2)."""
    while row.hidden.any():
        p = row.probabilities()
        row.show(highest(margin(p), count, row.hidden), row.draw(p, temperature, row.hidden))


def margin_for_text(row: Row, steps: int = 50, scale: float = 0.1, temperature: float = 1.0) -> None:
    """The paper (appendix, text data): margin + Gaussian noise, K = hidden (alpha_s - alpha_t) / (1 - alpha_t).

    It states neither the scale nor how K becomes whole: the number that stays hidden is the nearest to its mean.
    """
    for i in range(steps):
        if not row.hidden.any():
            break
        # 1 - (alpha_s - alpha_t) / (1 - alpha_t) = (steps - i - 1) / (steps - i), where alpha = 1 - t.
        stay = round(Fraction(int(row.hidden.sum()) * (steps - i - 1), steps - i))
        p = row.probabilities()
        score = margin(p) + scale * norm.ppf(row.noise("perturbation", row.hidden))
        row.show(highest(score, row.hidden.sum() - stay, row.hidden), row.draw(p, temperature, row.hidden))


def puzzle_code(
    row: Row, steps: int = 20, noise: float = 0.5, scoring: str = "log probability", temperature: float = 0.0
) -> None:
    """The paper's puzzle code (hengyuf/diffusion-vs-ar, src/llmtuner/tuner/mdm/trainer.py, "stochastic0.5-linear").

    Every answer position is predicted anew, shown or not; at time t of T, all but the floor(n t / T) lowest of
    score + 0.5 (t / T) Gumbel are written, and those are masked. At t = 0 all are written.
    """
    size = int(row.free.sum())
    for t in range(steps - 1, -1, -1):
        p = row.probabilities()
        values = row.draw(p, temperature, row.free)
        certainty = margin(p) if scoring == "margin" else np.log(p.max(1))
        score = certainty + noise * (t / steps) * row.gumbel(row.free)
        kept = highest(score, size - size * t // steps, row.free)
        row.become(np.where(kept, values, row.tokens), row.free & ~kept)


# Confidence orders


def maskgit(row: Row, steps: int = 12, choice_temperature: float = 1.0, temperature: float = 1.0) -> None:
    """MaskGIT (2202.04200), yair-schiff/maskgit, maskgit/libml/parallel_decode.py, decode, cosine schedule.

    All hidden are sampled; floor(n cos(pi / 2 ratio)) of them, at least 1 and at most all but one, are masked again:
    those with the lowest log p(sample) + choice_temperature (1 - ratio) Gumbel. The last round's sample is the answer.
    """
    unknown = int(row.hidden.sum())
    for i in range(steps):
        ratio = (i + 1) / steps
        p = row.probabilities()
        values = row.draw(p, temperature, row.hidden)
        masks = max(1, min(int(row.hidden.sum()) - 1, math.floor(unknown * math.cos(math.pi / 2 * ratio))))
        confidence = np.log(of(p, values)) + choice_temperature * (1 - ratio) * row.gumbel(row.hidden)
        kept = highest(confidence, row.hidden.sum() - masks, row.hidden) if i < steps - 1 else row.hidden
        row.show(kept, values)


def llada(
    row: Row, steps: int = 32, temperature: float = 0.0, size: int = 32, remasking: str = "low_confidence"
) -> None:
    """LLaDA (2502.09992), ML-GSAI/LLaDA, generate.py: generate and get_num_transfer_tokens, `steps` for each block.

    The block's hidden are divided over the steps, remainders first; shown are those whose proposal is likeliest by the
    untempered softmax, or random ones.
    """
    for block in row.blocks(size):
        base, remainder = divmod(int((row.hidden & block).sum()), steps)
        for i in range(steps):
            inside = row.hidden & block
            if not inside.any():
                break
            p = row.probabilities()
            values = row.draw(p, temperature, inside)
            confidence = of(p, values) if remasking == "low_confidence" else row.noise("order", inside)
            row.show(highest(confidence, base + (i < remainder), inside), values)


def dream(
    row: Row, scoring: str, steps: int = 64, temperature: float = 0.2, eps: float = 0.001, alg_temp: float = 0.0
) -> None:
    """Dream (2508.15487), generation_utils.py, _sample: maskgit_plus, topk_margin, entropy, and alg_temp.

    On times from 1 to eps, int(hidden (1 - s / t)) are shown, at the last step all. With alg_temp the positions are
    drawn by softmax(confidence / alg_temp) without replacement, which Gumbel noise of that scale does.
    Dream reads confidence off the sharpened belief (see `sharpened`); the plain strategy does not.
    """
    for i in range(steps):
        if not row.hidden.any():
            break
        t, s = (1 - Fraction(step, steps) * (1 - Fraction(str(eps))) for step in (i, i + 1))
        hidden = int(row.hidden.sum())
        transfers = int(hidden * (1 - s / t)) if i < steps - 1 else hidden
        p = row.probabilities()
        values = row.draw(p, temperature, row.hidden)
        confidence = {"maskgit_plus": of(p, values), "topk_margin": margin(p), "entropy": -entropy(p)}[scoring]
        if alg_temp > 0:
            confidence = confidence + alg_temp * row.gumbel(row.hidden)
        row.show(highest(confidence, transfers, row.hidden), values)


def sharpened(logits: Logits, temperature: float, top_p: float) -> Logits:
    """Dream's sample_tokens, before it scores or samples: logits / temperature, cut to the nucleus."""

    def sharp(tokens: Tokens, hidden: Mask) -> Numbers:
        p = softmax(logits(tokens, hidden) / temperature)
        with np.errstate(divide="ignore"):
            return np.log(np.stack([nucleus(one, top_p) for one in p]))

    return sharp


# As many as are sure


def fast_dllm(row: Row, threshold: float = 0.9, temperature: float = 0.0, size: int = 32) -> None:
    """Fast-dLLM (2505.22618), NVlabs/Fast-dLLM, llada/generate.py, get_transfer_index with a threshold.

    In the block: all whose proposal has at least the threshold's probability, and the surest in any case.
    """
    for block in row.blocks(size):
        while (row.hidden & block).any():
            inside = row.hidden & block
            p = row.probabilities()
            values = row.draw(p, temperature, inside)
            confidence = of(p, values)
            row.show(highest(confidence, 1, inside) | (inside & (confidence >= threshold)), values)


def fast_dllm_factor(row: Row, factor: float = 1.0, temperature: float = 0.0, size: int = 32) -> None:
    """Fast-dLLM (2505.22618, section 3.3): the largest n with (n + 1) (1 - c_(n)) < f, c sorted downwards; at least 1.

    Its code (get_transfer_index_dynamic) admits equality, and shows the whole block where only its last is too unsure.
    """
    for block in row.blocks(size):
        while (row.hidden & block).any():
            inside = row.hidden & block
            p = row.probabilities()
            values = row.draw(p, temperature, inside)
            confidence = of(p, values)
            in_order = confidence[ranked(confidence, inside)]
            fitting = [n for n, c in enumerate(in_order, start=1) if (n + 1) * (1 - c) < factor]
            row.show(highest(confidence, max(fitting, default=1), inside), values)


def eb_sampler(row: Row, gamma: float = 0.1, temperature: float = 1.0) -> None:
    """EB-Sampler (2505.24857), as in NEUIR/PC-Sampler, src/generate.py, generate_with_eb_sampler.

    By rising entropy, the longest prefix whose entropies have sum - max <= gamma; one at least.
    """
    while row.hidden.any():
        p = row.probabilities()
        entropies = entropy(p)
        in_order = entropies[ranked(-entropies, row.hidden)]
        accepted = int((in_order.cumsum() - np.maximum.accumulate(in_order) <= gamma).sum())
        row.show(highest(-entropies, max(1, accepted), row.hidden), row.draw(p, temperature, row.hidden))


def klass(
    row: Row,
    confidence: float = 0.9,
    divergence: float = 0.01,
    history: int = 2,
    temperature: float = 0.0,
    size: int | None = None,
) -> None:
    """KLASS (2511.05664), shkim0116/KLASS, src/model/llada_klass.py, stable_confident_decode with alg="klass".

    Ready: top probability above `confidence`, and KL(now || step before) below `divergence` at each of the last
    `history` steps; a first belief has no step before, and counts as unstable. All ready ones, else the surest.
    """
    for block in row.blocks(size):
        before, divergences = None, []
        while (row.hidden & block).any():
            inside = row.hidden & block
            p = row.probabilities()
            if before is not None:
                divergences.append((p * (np.log(p) - np.log(before))).sum(1))
            before = p
            stable = len(divergences) >= history and (np.stack(divergences[-history:]) < divergence).all(0)
            ready = inside & stable & (p.max(1) > confidence)
            values = row.draw(p, temperature, inside)
            row.show(ready if ready.any() else highest(p.max(1), 1, inside), values)


# Taking back


def remdm(row: Row, rule: str, eta: float = 1.0, steps: int = 64, temperature: float = 1.0, top_p: float = 1.0) -> None:
    """ReMDM (2503.00307), the authors' diffusion.py, _ddpm_caching_update: remdm-cap, -rescale, -conf and -loop.

    A shown position is masked with probability sigma; a hidden one stays so with (1 - alpha_s - sigma alpha_t) /
    (1 - alpha_t). That is a coin (1 - alpha_s) / (1 - alpha_t) to stay, and of those a coin 1 - sigma alpha_t /
    (1 - alpha_s) to stay all the same; both numbers are drawn first. At the last step all are shown.
    conf: sigma_max shared out by the softmax of minus the probabilities at which positions were shown; 0 where hidden.
    The code's nucleus leaves out the value with which top_p is passed; here it is kept, as in Dream's.
    """
    confidence = np.full(len(row.tokens), -np.inf)
    for i in range(steps):
        alpha_t, alpha_s = (loop_schedule(over / steps) if rule == "loop" else over / steps for over in (i, i + 1))
        ceiling = min(1.0, (1 - alpha_s) / alpha_t) if alpha_t > 0 else 1.0
        level = eta if alpha_s == alpha_t else 0.0
        sigma = {"cap": min(eta, ceiling), "rescale": eta * ceiling, "conf": 0.0, "loop": level}[rule]
        shown = row.free & ~row.hidden
        doubt = np.where(shown, np.exp(confidence), 0.0)
        masked = ceiling * doubt / max(doubt.sum(), 1e-300) if rule == "conf" else np.full(len(shown), sigma)
        p = row.probabilities()
        values = row.draw(p, temperature, row.hidden, top_p)
        stay = int((row.noise("count", row.hidden) < (1 - alpha_s) / (1 - alpha_t)).sum())
        if alpha_s < 1:
            staying = np.arange(len(shown)) < stay
            stay = int((row.noise("revision count", staying)[staying] >= sigma * alpha_t / (1 - alpha_s)).sum())
        new = highest(row.noise("order", row.hidden), row.hidden.sum() - stay, row.hidden)
        back = shown & (row.noise("revision", shown) < masked) & (i < steps - 1)
        confidence = np.where(back, -np.inf, np.where(new, -of(p, values), confidence))
        row.become(np.where(new, values, row.tokens), (row.hidden & ~new) | back)


def loop_schedule(over: float, on: float = 0.55, off: float = 0.05, plateau: float = 0.9) -> float:
    """alpha of ReMDM-loop at time t = 1 - over: up to the plateau at t_on, level until t_off, then up to 1."""
    t = 1 - over
    if t > on:
        return plateau * (1 - t) / (1 - on)
    return plateau if t > off else 1 - (1 - plateau) * t / off


def loop_code(i: int, steps: int, eta: float) -> tuple[float, float]:
    """The authors' remdm-loop at step i: the probabilities to stay hidden and to be masked. It looks at t alone."""
    t, s = 1 - i / steps, 1 - (i + 1) / steps
    if t > 0.55:
        return (1 - (1 - s) * 0.9 / 0.45) / (1 - (1 - t) * 0.9 / 0.45), 0.0
    if t <= 0.05:
        return s / t, 0.0
    return (1 - 0.9 - 0.9 * eta) / (1 - 0.9), eta


def p2_self(row: Row, eta: float = 1.0, steps: int = 64, temperature: float = 1.0) -> None:
    """P2 self-planning (2502.03540), pengzhangzhi/Path-Planning, src/path_planning/p2.py, p2_sampling, kappa = t.

    Fresh proposals everywhere, scored by log p, times eta where a position is shown; the floor(n (1 - kappa)) lowest
    of what is not given are masked, and the hidden ones among the others take their proposals. In the code the scored
    logits hold the Gumbel noise that sampled the proposals; here, as score_function.logP says, they are the model's.
    """
    size = int(row.free.sum())
    for i in range(1, steps + 1):
        p = row.probabilities()
        values = row.draw(p, temperature, row.free)
        score = np.log(of(p, values)) * np.where(row.hidden, 1.0, eta)
        kept = highest(score, size - size * (steps - i) // steps, row.free)
        row.become(np.where(kept & row.hidden, values, row.tokens), row.free & ~kept)


def rcr(row: Row, steps: int = 64, temperature: float = 0.0) -> None:
    """MDPO's running confidence remasking (2508.13148): all that is not given is predicted anew; the floor of an even
    share of it with the lowest *running maximum* of the confidence is masked."""
    size, highest_yet = int(row.free.sum()), np.full(len(row.tokens), -np.inf)
    for i in range(1, steps + 1):
        p = row.probabilities()
        values = row.draw(p, temperature, row.free)
        highest_yet = np.maximum(highest_yet, of(p, values))
        kept = highest(highest_yet, size - size * (steps - i) // steps, row.free)
        row.become(np.where(kept, values, row.tokens), row.free & ~kept)


# By where positions lie


def pc_sampler(
    row: Row,
    decay: float = 0.25,
    ceiling: float = 10.0,
    frequencies: tuple[float, ...] = (),
    steps: int = 32,
    temperature: float = 0.0,
    size: int | None = 32,
) -> None:
    """PC-Sampler (2508.13021), NEUIR/PC-Sampler, src/generate.py, generate_with_pc_sampler: LLaDA's counts, scores
    min(alpha, -p log f) exp(-lambda j), where j counts from the start of the block."""
    for block in row.blocks(size):
        for i in range(steps):
            inside = row.hidden & block
            if not inside.any():
                break
            p = row.probabilities()
            values = row.draw(p, temperature, inside)
            f = np.array(frequencies)[values] + 1e-9 if frequencies else np.full(len(values), 1 / p.shape[1])
            score = np.minimum(ceiling, -of(p, values) * np.log(f)) * np.exp(-decay * (block.cumsum() - 1))
            row.show(highest(score, math.ceil(inside.sum() / (steps - i)), inside), values)


def hidden_runs(hidden: Mask) -> Iterator[list[int]]:
    """The unbroken runs of hidden positions."""
    run: list[int] = []
    for position, inside in enumerate([*hidden.tolist(), False]):
        if inside:
            run.append(position)
        elif run:
            yield run
            run = []


def hierarchy(row: Row, high: float = 0.9, low: float = 0.5, temperature: float = 0.0, size: int | None = 32) -> None:
    """Hierarchy decoding (2510.08666): in each run its best, if above `low`; all above `high`; at least one."""
    for block in row.blocks(size):
        while (row.hidden & block).any():
            inside = row.hidden & block
            p = row.probabilities()
            sure = p.max(1)
            taken = inside & (sure > high)
            for run in hidden_runs(inside):
                best = max(run, key=lambda position: (sure[position], -position))
                taken[best] |= sure[best] > low
            row.show(taken if taken.any() else highest(sure, 1, inside), row.draw(p, temperature, inside))


def bisection(row: Row, temperature: float = 1.0) -> None:
    """Bisection (2606.22976): the middle of every run, and so on with what is left on either side."""
    while row.hidden.any():
        middles = np.zeros_like(row.hidden)
        for run in hidden_runs(row.hidden):
            middles[run[(len(run) - 1) // 2]] = True
        row.show(middles, row.draw(row.probabilities(), temperature, row.hidden))


def log_margin(row: Row, count: int = 1, temperature: float = 0.0) -> None:
    """The log-odds of the two likeliest values, largest first."""
    while row.hidden.any():
        logits = np.sort(row.logits(row.tokens, row.hidden), axis=1)
        shown = highest(logits[:, -1] - logits[:, -2], count, row.hidden)
        row.show(shown, row.draw(row.probabilities(), temperature, row.hidden))


# Without a choice of order


def in_order(row: Row, order: tuple[int, ...] | None = None, temperature: float = 1.0) -> None:
    """Any fixed order, left to right by default: each position takes a value given all before it."""
    for position in order or range(len(row.tokens)):
        if row.hidden[position]:
            values = row.draw(row.probabilities(), temperature, row.hidden)
            row.show(np.arange(len(row.tokens)) == position, values)
