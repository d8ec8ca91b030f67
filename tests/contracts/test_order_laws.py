"""Laws 1 to 3 and 8: what order may and may not change."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from compositions import LENGTH, fits, oracles
from laws import DRAWS, SMALLEST_P, joint, law_1_samples_the_joint
from scipy import stats
from toys import Stored, Toy, blank

from unmask.belief import Belief
from unmask.decode import decode
from unmask.exact.enumeration import Enumeration
from unmask.exact.hidden_markov import HiddenMarkov
from unmask.oracles import Oracle
from unmask.state import State
from unmask.strategy import parse
from unmask.trace import record

ORACLES = oracles()
ONE_AT_A_TIME = ("random, per_step(1), sample", "random, evenly(4), sample")


def ignores_the_proposal(oracle: Oracle) -> bool:
    """Whether two proposals are scored alike."""
    toy, state = Toy(LENGTH), dataclasses.replace(blank(2, LENGTH), window=torch.ones(2, LENGTH).bool(), steps=4)
    state = dataclasses.replace(state, memory=oracle.start(state))
    scores = []
    for value in (0, 1):
        belief = Belief(state, state.open, toy)
        belief.values = torch.full_like(belief.flat, value)
        score = oracle.score(belief)
        scores.append(score[0] if isinstance(score, tuple) else score)
    return torch.equal(*scores)


def test_just_the_chosen_probabilities_read_the_proposal():
    """The next law is about the others: no oracle may slip out of it unseen."""
    assert {type(o).__name__ for o in ORACLES if not ignores_the_proposal(o)} == {
        "calibrated",
        "chosen_probability",
        "log_chosen_probability",
    }


@pytest.mark.parametrize("oracle", [o for o in ORACLES if ignores_the_proposal(o)], ids=str)
def test_law_1_every_order_samples_the_joint(oracle):
    law_1_samples_the_joint(fits(oracle, ONE_AT_A_TIME))


def test_law_2_vanilla_reveals_at_uniform_uncorrelated_times():
    state = State.start(torch.zeros(DRAWS, 6, dtype=torch.int64), torch.ones(DRAWS, 6, dtype=torch.bool), seed=5)
    shown = record(decode(Toy(6), state, parse("random, ancestral(5), sample"))).step
    for position in range(6):
        counts = torch.bincount(shown[:, position], minlength=5).numpy()
        assert stats.chisquare(counts).pvalue > SMALLEST_P
    for one in range(6):
        for other in range(one):
            pairs = torch.bincount(shown[:, one] * 5 + shown[:, other], minlength=25).numpy()
            assert stats.chisquare(pairs).pvalue > SMALLEST_P


@pytest.mark.parametrize("oracle", ["margin", "log_margin", "log_probability", "entropy"])
def test_law_3_on_two_values_all_certainties_give_one_order(oracle):
    toy = Toy(LENGTH, values=2, seed=2)
    reference = record(decode(toy, blank(64, LENGTH), parse("top_probability, per_step(1), sample")))
    assert torch.equal(
        record(decode(toy, blank(64, LENGTH), parse(f"{oracle}, per_step(1), sample"))).step, reference.step
    )


def test_law_3_no_entropy_to_spend_is_one_at_a_time():
    """A bound of 0 lets through the largest entropy alone, wherever no entropy is 0."""
    bounded = record(decode(Toy(LENGTH), blank(16, LENGTH), parse("entropy, entropy_bound(0.0), sample")))
    single = record(decode(Toy(LENGTH), blank(16, LENGTH), parse("entropy, per_step(1), sample")))
    assert dataclasses.replace(bounded, strategy=single.strategy) == single


def test_certain_positions_are_free_under_an_entropy_bound_of_0():
    logits = torch.full((1, 5, 3), -torch.inf)
    logits[:, :3, 1] = 0.0  # three certain positions, two open ones
    logits[:, 3:] = torch.tensor([0.0, 1.0, 0.5])
    trace = record(decode(Stored(logits), blank(1, 5), parse("entropy, entropy_bound(0.0), greedy")))
    assert trace.step.tolist() == [[0, 0, 0, 0, 1]]


EXACT_ORDERS = [*ORACLES, parse('noisy(margin, "gumbel", 2.0), per_step(1), sample').oracle]


@pytest.mark.parametrize("oracle", EXACT_ORDERS, ids=str)
@pytest.mark.parametrize("model", ["enumeration", "hidden Markov"])
def test_law_8_the_likelihood_is_the_same_along_every_order(oracle, model):
    """Teacher-forced by the same loop: the sum of log p along the order is log p(row), to 1e-9."""
    if model == "enumeration":
        support, weights = joint()
        denoise = Enumeration(support, weights, values=3)
        rows = support[weights > 0]
        one_at_a_time: tuple[str, ...] = ONE_AT_A_TIME
    else:
        denoise = HiddenMarkov.draw(3, 4, seed=1)
        rows = torch.randint(0, 4, (20, LENGTH), generator=torch.Generator().manual_seed(0))
        one_at_a_time = (ONE_AT_A_TIME[0], f"random, evenly({LENGTH}), sample")
    strategy = fits(oracle, one_at_a_time)
    choice = parse(f"random, per_step(1), teacher({rows.tolist()})").choice
    strategy = dataclasses.replace(strategy, choice=choice)
    state = State.start(rows, torch.ones_like(rows, dtype=torch.bool))
    trace = record(decode(denoise, state, strategy))
    assert torch.equal(trace.tokens, rows)
    along = trace.probability.log().sum(1)
    torch.testing.assert_close(along, denoise.log_probability(rows), rtol=0, atol=1e-9)
