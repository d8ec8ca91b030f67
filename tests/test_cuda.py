"""The same decode on a GPU as on the CPU: noise is integers, and toy logits do not round."""

from __future__ import annotations

import pytest
import torch
from toys import Toy, blank

from unmask.decode import decode
from unmask.exact.enumeration import Enumeration
from unmask.exact.hidden_markov import HiddenMarkov
from unmask.strategies import LITERATURE, named
from unmask.tasks.sudoku import Sudoku
from unmask.trace import record

if not torch.cuda.is_available():
    pytest.skip("no CUDA device here", allow_module_level=True)


def on_gpu(toy: Toy) -> Toy:
    toy.base, toy.pull = toy.base.cuda(), toy.pull.cuda()
    return toy


@pytest.mark.parametrize("name", LITERATURE)
def test_every_named_strategy_decodes_alike(name):
    state = blank(64, 40, seed=3, given=0.3)
    here = record(decode(Toy(40), state, named(name)), candidates=2)
    there = record(decode(on_gpu(Toy(40)), state.to("cuda"), named(name)), candidates=2)
    assert torch.equal(here.tokens, there.tokens)
    assert torch.equal(here.step, there.step)
    assert torch.equal(here.calls, there.calls)
    torch.testing.assert_close(here.probability, there.probability, rtol=1e-12, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", LITERATURE)
def test_a_row_decodes_alike_alone_and_in_a_batch_on_the_gpu(name):
    state, toy = blank(64, 40, seed=3, given=0.3).to("cuda"), on_gpu(Toy(40))
    together = record(decode(toy, state, named(name)))
    for number in (0, 31, 63):
        alone = record(decode(toy, state.select(torch.tensor([number], device="cuda")), named(name)))
        assert torch.equal(alone.tokens[0], together.tokens[number])
        assert torch.equal(alone.step[0], together.step[number])
        assert torch.equal(alone.probability[0].nan_to_num(), together.probability[number].nan_to_num())


def test_exact_models_run_there():
    rows = Sudoku(4).sample(20, 0)
    final = decode(Enumeration(Sudoku(4).support()), rows.start().to("cuda"), "margin, per_step(1), greedy").finish()
    assert torch.equal(final.tokens.cpu(), rows.tokens)
    chain, state = HiddenMarkov.draw(3, 4), blank(8, 12)
    here = decode(chain, state, "entropy, per_step(1), sample").finish()
    there = decode(chain, state.to("cuda"), "entropy, per_step(1), sample").finish()
    assert torch.equal(here.tokens, there.tokens.cpu())
