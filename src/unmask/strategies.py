"""The literature's samplers, a name and a line each: `named("maskgit")`, or the name in place of a strategy's text.

Numbers are the sources' defaults where they state them; every line is a text to copy and change. A source that counts
its steps over a whole answer has them divided among the blocks here, since a pace counts per stage. `checked` says
against what the rule was checked: the authors' "code", the "paper", or just a "summary" of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from unmask.errors import StrategyError, nearest
from unmask.strategy import Strategy, parse
from unmask.strategy import names as part_names


@dataclass(frozen=True)
class Named:
    """A sampler of the literature: its text, where it comes from, what its rule was checked against, what to know."""

    text: str
    source: str
    checked: str
    note: str = ""


_MDM = "Kim et al. 2025, 2502.06768"
_FAST = "Wu et al. 2025, Fast-dLLM, 2505.22618"
_LLADA = "Nie et al. 2025, LLaDA, 2502.09992"
_DREAM = "Ye et al. 2025, Dream, 2508.15487"
_REMDM = "Wang et al. 2025, ReMDM, 2503.00307"
_SHARP = "Dream scores the sharpened belief: wrap the model in tempered(model, 0.2), and write sample for sample(0.2)"

LITERATURE: dict[str, Named] = {
    "vanilla": Named("random, ancestral(50), sample", "Sahoo et al. 2024, MDLM, 2406.07524", "paper"),
    "first_hitting": Named("random, per_step(1), sample", "Zheng et al. 2024, 2409.02908", "paper", "vanilla, exact"),
    "top_probability": Named("top_probability, per_step(1), greedy", _MDM, "paper"),
    "top_probability_margin": Named("margin, per_step(1), greedy", _MDM, "paper"),
    "log_margin": Named("log_margin, per_step(1), greedy", "this project", "paper", "margin of the log probabilities"),
    "margin_for_text": Named(
        'noisy(margin, "gaussian", 0.1), ancestral(50, rounding="nearest"), sample',
        _MDM,
        "paper",
        "the paper does not state the scale of its noise",
    ),
    "puzzle_code": Named(
        'noisy(log_probability, "gumbel", 0.5, "annealed"), evenly(20, "down"), greedy, lowest("again", "rewrite")',
        "Ye et al. 2025, 2410.14157; Zheng et al. 2023, RDM, 2302.05737",
        "code",
        "order and revision mixed: shown values are predicted anew at every step",
    ),
    "puzzle_margin": Named(
        'noisy(margin, "gumbel", 0.5, "annealed"), evenly(50, "down"), greedy, lowest("again", "rewrite")',
        _MDM,
        "paper",
        "the paper's margin in that code",
    ),
    "maskgit": Named(
        'noisy(log_chosen_probability, "gumbel", 1.0, "annealed"), cosine(12), sample',
        "Chang et al. 2022, MaskGIT, 2202.04200",
        "code",
    ),
    "llada": Named("chosen_probability, evenly(32), greedy, blocks(32)", _LLADA, "code", "temperature 0"),
    "llada_sampled": Named("chosen_probability, evenly(32), sample(0.5), blocks(32)", _LLADA, "code"),
    "llada_random": Named("random, evenly(32), greedy, blocks(32)", _LLADA, "code", 'remasking="random"'),
    "dream_origin": Named("random, ancestral(64, eps=0.001), sample(0.2)", _DREAM, "code", 'alg="origin"'),
    "dream_maskgit_plus": Named(
        'chosen_probability, ancestral(64, rounding="down", eps=0.001), sample(0.2)', _DREAM, "code", _SHARP
    ),
    "dream_margin": Named('margin, ancestral(64, rounding="down", eps=0.001), sample(0.2)', _DREAM, "code", _SHARP),
    "dream_entropy": Named('entropy, ancestral(64, rounding="down", eps=0.001), sample(0.2)', _DREAM, "code", _SHARP),
    "dream_alg_temp": Named(
        'noisy(entropy, "gumbel", 0.1), ancestral(64, rounding="down", eps=0.001), sample(0.2)',
        _DREAM,
        "code",
        f"drawing by softmax(score / alg_temp) without replacement is Gumbel noise of that scale. {_SHARP}",
    ),
    "fast_dllm": Named("chosen_probability, threshold(0.9), greedy, blocks(32)", _FAST, "code"),
    "fast_dllm_factor": Named("chosen_probability, factor(1.0), greedy, blocks(32)", _FAST, "paper"),
    "eb_sampler": Named("entropy, entropy_bound(0.1), sample", "Ben-Hamu et al. 2025, 2505.24857", "paper"),
    "klass": Named(
        "klass(0.9, 0.01, 2), threshold(0.0), greedy",
        "Kim et al. 2025, KLASS, 2511.05664",
        "code",
        "the code falls back on LLaDA's count, not on the surest position, and works in blocks",
    ),
    "remdm_cap": Named('random, ancestral(64), sample, remdm("cap", 0.04)', _REMDM, "paper"),
    "remdm_rescale": Named('random, ancestral(64), sample, remdm("rescale", 0.015)', _REMDM, "paper"),
    "remdm_conf": Named('random, ancestral(64), sample, remdm("conf")', _REMDM, "code"),
    "remdm_loop": Named(
        'random, looped(64), sample(top_p=0.9), remdm("loop", 0.02)',
        _REMDM,
        "paper",
        "the code chooses the phase by the time before the step, which differs at the two ends of the plateau",
    ),
    "p2_self": Named(
        'log_chosen_probability, evenly(64, "down"), sample, p2(1.0)',
        "Peng et al. 2025, P2, 2502.03540",
        "code",
        "scores are plain log probabilities, without the noise that drew the proposals",
    ),
    "rcr": Named(
        'running(chosen_probability), evenly(64, "down"), greedy, lowest("again", "rewrite")',
        "He et al. 2025, MDPO, 2508.13148",
        "summary",
        "re-masks by the highest confidence that a position ever had",
    ),
    "pc_sampler": Named(
        "calibrated(0.25, 10.0), evenly(32), greedy, blocks(32)",
        "Huang et al. 2025, PC-Sampler, 2508.13021",
        "code",
        "give it the background frequencies of your values",
    ),
    "hierarchy": Named(
        "hierarchical(0.9, 0.5), threshold(0.0), greedy, blocks(32)",
        "Ma et al. 2025, dInfer, 2510.08666",
        "summary",
        "the summary states neither threshold",
    ),
    "bisection": Named("midpoints, threshold(0.0), sample", "2606.22976", "summary", "exact for Markov data, it says"),
    "autoregressive": Named("left_to_right, per_step(1), sample", "any fixed order: fixed(pi)", "paper"),
}


def named(name: str) -> Strategy:
    """The strategy of the literature that has this name."""
    if name not in LITERATURE:
        raise StrategyError(f"there is no strategy {name!r}; {nearest(name, LITERATURE)}")
    return parse(LITERATURE[name].text)


def resolve(text: str) -> Strategy:
    """A strategy from its text or its name in the literature: what the command line takes.

    >>> str(resolve("fast_dllm"))
    'chosen_probability, threshold(0.9), greedy, blocks(32)'
    """
    text = text.strip()
    if text in LITERATURE:
        return named(text)
    if text.isidentifier() and text not in part_names():
        raise StrategyError(
            f"there is no strategy {text!r}; {nearest(text, [*LITERATURE, *part_names()])} "
            f"(a strategy is a name of `unmask strategies`, or written out: margin, per_step(1), greedy)"
        )
    return parse(text)
