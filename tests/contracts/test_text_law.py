"""Law 6: a strategy's text reads back as the same strategy, and what is misspelt is named with its remedy."""

from __future__ import annotations

import dataclasses

import pytest
from compositions import examples, pairs_of_rooms, strategies
from hypothesis import given
from hypothesis import strategies as draw

from unmask.errors import StrategyError, UnmaskError
from unmask.part import spell
from unmask.strategies import LITERATURE, named, resolve
from unmask.strategy import Strategy, names, parse


@pytest.mark.parametrize("strategy", strategies(), ids=lambda s: str(s)[:60])
def test_every_part_reads_back(strategy):
    assert parse(str(strategy)) == strategy
    assert hash(parse(str(strategy))) == hash(strategy)


@pytest.mark.parametrize("name", LITERATURE)
def test_every_named_strategy_reads_back(name):
    assert parse(str(named(name))) == named(name) == resolve(name) == resolve(LITERATURE[name].text)


def test_every_mixture_of_oracle_pace_and_choice_reads_back():
    count = 0
    for oracle, pace, choice in pairs_of_rooms():
        try:
            strategy = Strategy.of(oracle, pace, choice)
        except StrategyError:
            continue
        assert parse(str(strategy)) == strategy
        count += 1
    assert count > 200


@given(draw.floats(0, 1e6), draw.floats(1e-9, 1e9, exclude_min=True), draw.integers(1, 10**12), draw.floats(1e-300, 1))
def test_numbers_read_back_exactly(scale, temperature, steps, top_p):
    text = f'noisy(margin, "gaussian", {scale!r}), evenly({steps}), sample({temperature!r}, {top_p!r})'
    strategy = parse(text)
    assert strategy.choice.temperature == temperature
    assert parse(str(strategy)) == strategy


@given(draw.text(max_size=40))
def test_no_text_ends_in_anything_but_a_strategy_or_one_clear_line(text):
    told = None
    try:
        parse(text)
    except UnmaskError as error:
        told = str(error)
    assert told is None or (told and "\n" not in told)


@pytest.mark.parametrize("name", names())
def test_a_misspelt_name_is_told_the_right_one(name):
    wrong = name[:-1] + ("x" if name[-1] != "x" else "y")
    if wrong in names():
        pytest.skip(f"{wrong!r} is a name of its own")
    with pytest.raises(StrategyError, match=f"{wrong!r}; did you mean"):
        parse(f"{wrong}, per_step(1), greedy")


@pytest.mark.parametrize("name", [n for n in names() if dataclasses.fields(examples(n)[0])])  # type: ignore[arg-type]
def test_a_misspelt_option_is_told_the_right_one(name):
    option = dataclasses.fields(examples(name)[0])[0].name  # type: ignore[arg-type]
    with pytest.raises(StrategyError, match=rf"has no option '{option}q'; .*{option}"):
        parse(f"{name}({option}q=1), per_step(1), greedy")


WRONG = {
    "margn, per_step(1), greedy": "'margin'",
    "margin, per_step(1), gredy": "'greedy'",
    "margin, per_step, greedy": "needs 'k'",
    "margin, per_step(0), greedy": "at least 1, got 0",
    "margin, per_step('a'), greedy": "a whole number, got 'a'",
    "margin, per_step(1.5), greedy": "a whole number, got 1.5",
    "margin, per_step(True), greedy": "a whole number, got True",
    "margin, per_step(1, 2), greedy": "at most 1 option, got 2",
    "margin, per_step(1, k=2), greedy": "given twice",
    "margin(1), per_step(1), greedy": "no options, got 1",
    "per_step(1), margin, greedy": "an oracle is expected",
    "margin, per_step(1), greedy, margin": "a revision is expected",
    "margin, per_step(1)": "2 parts",
    "margin, per_step(1), greedy, lowest": "needs a pace with a number of steps",
    "margin, threshold(0.9), greedy, remdm('conf')": "needs a pace with a number of steps",
    "random, evenly(4), sample, remdm('loop')": "looped(steps)",
    "noisy(margin, 'gumbel', 1.0, 'annealed'), per_step(1), greedy": "needs a pace with a number of steps",
    "noisy(margin, 'gumbell', 1.0), per_step(1), greedy": "'gumbel'",
    "margin, threshold(1.5), greedy": "from 0 to 1, got 1.5",
    "margin per_step(1)": "cannot read",
    "margin, per_step(1), greedy, blocks(4), blocks(4)": "expected",
    "().__class__, per_step(1), greedy": "cannot read",
    "./nowhere.py:Mine, per_step(1), greedy": "./nowhere.py is not a file",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_in_one_line(text):
    with pytest.raises(StrategyError) as caught:
        parse(text)
    assert WRONG[text] in str(caught.value)
    assert "\n" not in str(caught.value)


OWN = """
from dataclasses import dataclass
from unmask import Oracle

@dataclass(frozen=True)
class Mine(Oracle):
    k: int = 1
    def score(self, belief):
        return belief.place.double() * self.k

class NotAPart:
    pass
"""


def test_a_part_of_ones_own_is_named_by_its_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    strategy = parse("./mine.py:Mine(k=2), per_step(1), greedy")
    assert str(strategy) == "./mine.py:Mine(2), per_step(1), greedy" or str(strategy).startswith("mine.py:Mine(2)")
    assert parse(str(strategy)) == strategy
    nested = parse('noisy(./mine.py:Mine, "gumbel", 1.0), per_step(1), greedy')
    assert parse(str(nested)) == nested
    assert type(nested.oracle.inner) is type(strategy.oracle)  # type: ignore[attr-defined]


def test_a_part_of_ones_own_that_is_wrong_is_said_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "broken.py").write_text("import nothing_of_that_name", encoding="utf-8")
    for text, expected in {
        "./mine.py:Mien, per_step(1), greedy": "'Mine'",
        "./mine.py:NotAPart, per_step(1), greedy": "no part 'NotAPart'",
        "./mine.py:Mine(j=1), per_step(1), greedy": "no option 'j'",
        "./broken.py:Mine, per_step(1), greedy": "cannot be loaded: ModuleNotFoundError",
    }.items():
        with pytest.raises(StrategyError) as caught:
            parse(text)
        assert expected in str(caught.value)


def test_texts_leave_defaults_out():
    assert str(parse('noisy(margin, "gumbel", 0.5, "constant"), ancestral(8, "linear", eps=0.001), sample(1)')) == (
        'noisy(margin, "gumbel", 0.5), ancestral(8, eps=0.001), sample'
    )
    assert spell((1,)) == "(1,)"
