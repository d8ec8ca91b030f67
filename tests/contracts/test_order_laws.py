"""Laws 1 to 3 and 8: what order may and may not change."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
import torch
from compositions import LENGTH, fits, oracles, parts
from laws import DRAWS, SMALLEST_P, joint, law_1_samples_the_joint
from scipy import stats
from toys import Stored, Toy, blank

from unmask.belief import Belief
from unmask.decode import decode
from unmask.errors import StrategyError
from unmask.exact.enumeration import Enumeration
from unmask.exact.hidden_markov import HiddenMarkov
from unmask.oracles import Oracle, scored
from unmask.paces import Pace, left_by
from unmask.part import Part
from unmask.state import State
from unmask.strategy import find, parse
from unmask.trace import record

ORACLES = oracles()
ONE_AT_A_TIME = ("random, per_step(1), sample", "random, evenly(4), sample")


def follows_the_proposal(part: Part) -> bool:
    """Whether likely and unlikely values get two answers: of an oracle its scores, of a pace how many it leaves."""
    toy, state = Toy(LENGTH, floor=1.0), replace(blank(40, LENGTH), window=torch.ones(40, LENGTH).bool(), steps=4)
    if isinstance(part, Oracle):
        state = replace(state, memory=part.start(state))
    answers = []
    for likely in (True, False):
        belief = Belief(state, state.open, toy, (torch.zeros(40).double(), torch.full((40,), 0.25).double()))
        belief.values = belief.top[1] if likely else belief.logits.argmin(-1)
        answer = scored(part, belief)[0] if isinstance(part, Oracle) else left_by(part, belief, belief.log_top)
        answers.append(answer)
    return not torch.equal(*answers)


@pytest.mark.parametrize("part", [*ORACLES, *parts("paces")], ids=str)
def test_parts_say_whether_they_read_the_proposal(part):
    """The next law, and likelihoods, are about those that do not: none may slip in, or out, unseen."""
    assert part.reads_proposal == follows_the_proposal(part)


@dataclass(frozen=True)
class peeks(Oracle):
    """Reads the proposal, and does not say so."""

    reads: str

    def score(self, belief):
        return getattr(belief, self.reads).double()


@dataclass(frozen=True)
class looks(peeks):
    """The same, and says so."""

    reads_proposal = True


@dataclass(frozen=True)
class hurries(Pace):
    """Goes by the proposal, and does not say so."""

    def __call__(self, belief, score):
        return (belief.waiting - (belief.log_chosen > -1).sum()).clamp(min=0)


@pytest.mark.parametrize("reads", ["values", "log_chosen"])
def test_a_part_is_not_shown_a_proposal_that_it_does_not_say_it_reads(reads):
    plain = parse("margin, per_step(1), sample")
    hidden_from = [
        replace(plain, oracle=peeks(reads)),
        replace(plain, oracle=find("running")(peeks(reads))),
        replace(plain, pace=hurries()),
    ]
    for strategy in hidden_from:
        with pytest.raises(StrategyError, match="reads the proposed values and does not say so; write `reads_proposal"):
            decode(Toy(LENGTH), blank(2, LENGTH), strategy).finish()
    assert not decode(Toy(LENGTH), blank(2, LENGTH), replace(plain, oracle=looks(reads))).finish().hidden.any()


@pytest.mark.parametrize("oracle", [o for o in ORACLES if not o.reads_proposal], ids=str)
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
    assert replace(bounded, strategy=single.strategy) == single


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
    strategy = replace(strategy, choice=choice)
    state = State.start(rows, torch.ones_like(rows, dtype=torch.bool))
    trace = record(decode(denoise, state, strategy))
    assert torch.equal(trace.tokens, rows)
    along = trace.probability.log().sum(1)
    torch.testing.assert_close(along, denoise.log_probability(rows), rtol=0, atol=1e-9)
