"""Parts: made in Python as they are read from a text, and refused with the same line; texts of a user's own parts."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from toys import Toy, blank

import unmask
from unmask.decode import decode
from unmask.errors import StrategyError
from unmask.oracles import Oracle
from unmask.strategy import Strategy, parse

WRONG = {
    'remdm("confi")': "cannot be 'confi'; did you mean 'conf'?",
    'noisy(margin(), "gumbell", 1.0)': "did you mean 'gumbel'?",
    'lowest("agan")': "did you mean 'again'?",
    'ancestral(4, "cosin", "downn")': "did you mean 'cosine'?",
    "per_step(1.5)": "a whole number, got 1.5",
    "per_step(True)": "a whole number, got True",
    "per_step()": "needs 'k'",
    "per_step(q=1)": "no option 'q'",
    "per_step(1, 2)": "at most 1 option, got 2",
    "per_step(1, k=2)": "given twice",
    "margin(1)": "takes no options, got 1",
    "per_step(10**30)": "too large",
    "evenly(9223372036854775807)": "too large",
    "blocks(9223372036854775807)": "too large",
    "threshold('a')": "must be a number, got 'a'",
    "threshold(10**400)": "too large",
    "threshold(math.nan)": "must be a number, got nan",
    "sample(math.inf)": "must be at least 0 and finite",
    "noisy(margin, 'gumbel', math.inf)": "must be at least 0 and finite",
    "calibrated(math.inf)": "decay must be finite",
    "calibrated(0.1, 1.0, (0.1, -1.0))": "at least 0 and finite",
    "noisy(greedy, 'gumbel', 1.0)": "of the kind Oracle, got greedy",
    "noisy(per_step, 'gumbel', 1.0)": "needs 'k'",
    "noisy(1, 'gumbel', 1.0)": "of the kind Oracle, got 1",
    "fixed(3)": "must be a tuple",
    "fixed((99999999999999,))": "too large",
    "teacher(((1, 2), (1,)))": "of one length, got 1 and 2",
    "Strategy(greedy(), per_step(1), margin())": "must be a part of the kind Oracle, got greedy",
    "Strategy(margin(), per_step(1), greedy(), whole())": "must be a part of the kind Revision, got whole",
    "Strategy(margin(), per_step(1))": "needs 'choice'",
    "Strategy.of(margin, per_step, greedy)": "needs 'k'",
}


@pytest.mark.parametrize("code", WRONG)
def test_python_refuses_what_a_text_refuses(code):
    with pytest.raises(StrategyError) as caught:
        eval(code, {name: getattr(unmask, name) for name in unmask.__all__} | {"math": math})
    assert WRONG[code] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_options_become_what_they_are_declared_to_be():
    assert unmask.noisy(unmask.margin, "gumbel", 1) == parse('noisy(margin, "gumbel", 1.0), per_step(1), greedy').oracle
    assert str(unmask.threshold(1)) == "threshold(1.0)"
    assert unmask.fixed([2, 0, 1]) == unmask.fixed(torch.tensor([2, 0, 1])) == unmask.fixed((2, 0, 1))
    assert unmask.teacher(torch.tensor([[1, 2], [3, 4]])).rows == ((1, 2), (3, 4))
    assert Strategy(unmask.margin, unmask.per_step(1), unmask.greedy) == parse("margin, per_step(1), greedy")


def test_parts_are_copied_pickled_and_replaced():
    part = unmask.noisy(unmask.margin(), "gumbel", 1.0)
    assert pickle.loads(pickle.dumps(part)) == copy.deepcopy(part) == part
    assert dataclasses.replace(part, scale=2) == unmask.noisy(unmask.margin(), "gumbel", 2.0)
    with pytest.raises(StrategyError, match="'gaussian'"):
        dataclasses.replace(part, law="gausian")


@pytest.mark.parametrize("text", ["entropy, entropy_bound(1e999), greedy", "margin, factor(1e999), greedy"])
def test_infinities_read_back(text):
    assert str(parse(text)) == text
    assert parse(str(parse(text))) == parse(text)


@dataclass(frozen=True)
class Optional(Oracle):
    """An option that may be left open."""

    k: int | None = None


def test_an_option_may_be_left_open():
    assert Optional(None) == Optional()
    assert Optional(2).k == 2
    with pytest.raises(StrategyError, match="a whole number"):
        Optional("two")  # type: ignore[invalid-argument-type]


@pytest.mark.parametrize("source", ["-c", "-"])
def test_a_part_without_a_file_has_a_text_all_the_same(source):
    code = (
        "import unmask, torch\nfrom dataclasses import dataclass\n"
        "@dataclass(frozen=True)\nclass Mine(unmask.Oracle):\n"
        "    k: int = 1\n    def score(self, belief): return belief.log_top\n"
        "task = unmask.task('sudoku4')\nstart = task.parse('1... ..2. .3.. ...4').start()\n"
        "strategy = unmask.Strategy.of(Mine(k=2), unmask.per_step(1), unmask.greedy)\n"
        "print(unmask.record(unmask.decode(unmask.Enumeration(task.support()), start, strategy)).strategy)\n"
    )
    arguments = [sys.executable, *(["-c", code] if source == "-c" else ["-"])]
    done = subprocess.run(arguments, input=code, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == "Mine(2), per_step(1), greedy\n"
    with pytest.raises(StrategyError, match="there is no part 'Mine'"):
        parse(done.stdout.replace("Mine(2)", "Mine"))


OWN = """
import sys
from dataclasses import dataclass
from unmask import Choice, Oracle, Pace

@dataclass(frozen=True)
class Mine(Oracle):
    name: str = "a"
    def score(self, belief):
        return belief.log_top

@dataclass(frozen=True)
class Nothing(Oracle):
    pass

@dataclass(frozen=True)
class Fails(Oracle):
    k: int = 1
    def score(self, belief):
        raise KeyError("two\\nlines")

@dataclass(frozen=True)
class Leaves(Oracle):
    def start(self, state):
        sys.exit(3)

@dataclass(frozen=True)
class Unmade(Oracle):
    def __post_init__(self):
        self.nothing

class Forgotten(Oracle):
    k: int = 1

@dataclass
class Thawed(Oracle):
    k: int = 1

class Half(Mine):
    j: int = 1

@dataclass(frozen=True)
class Still(Pace):
    pass

@dataclass(frozen=True)
class Mute(Choice):
    pass
"""

MISTAKES = {
    "mine.py:Nothing, per_step(1), greedy": "Nothing is an oracle without score(belief)",
    "margin, mine.py:Still, greedy": "Still is a pace without __call__(belief, score)",
    "margin, per_step(1), mine.py:Mute": "Mute is a choice without __call__(belief)",
    "mine.py:Fails(2), per_step(1), greedy": "mine.py:Fails(2): score raised KeyError: 'two\\nlines'",
    "noisy(mine.py:Fails, 'gumbel', 1.0), per_step(1), greedy": "mine.py:Fails: score raised KeyError",
    "noisy(inner=mine.py:Fails, law='gumbel', scale=1.0), per_step(1), greedy": "mine.py:Fails: score raised KeyError",
    "mine.py:Leaves, per_step(1), greedy": "mine.py:Leaves: start raised SystemExit: 3",
    "mine.py:Unmade, per_step(1), greedy": "Unmade cannot be made: AttributeError",
    "mine.py:Forgotten(k=2), per_step(1), greedy": "write @dataclass(frozen=True) above the class",
    "mine.py:Thawed, per_step(1), greedy": "write @dataclass(frozen=True) above the class",
    "mine.py:Half, per_step(1), greedy": "write @dataclass(frozen=True) above the class",
    "leaves.py:Mine, per_step(1), greedy": "leaves.py cannot be loaded: SystemExit: 3",
    "lines.py:Mine, per_step(1), greedy": "lines.py cannot be loaded: ValueError: a b",
    "\x00.py:Mine, per_step(1), greedy": "is not a file",
    "x" * 5000 + ".py:Mine, per_step(1), greedy": "is not a file",
    "margin, per_step(" + "-" * 20_000 + "1), greedy": "nested too deeply",
    "margin" + ".a" * 20_000 + ", per_step(1), greedy": "nested too deeply",
    "running(" * 200 + "margin" + ")" * 200 + ", per_step(1), greedy": "nested too deeply",
}


@pytest.fixture
def own(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(3)", encoding="utf-8")
    (tmp_path / "lines.py").write_text('raise ValueError("a\\nb")', encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("text", MISTAKES, ids=lambda text: text[:40].replace("\x00", "0"))
def test_a_mistake_in_a_part_of_ones_own_is_one_line_that_names_it(own, text):
    with pytest.raises(StrategyError) as caught:
        decode(Toy(), blank(2, 12), text).finish()
    assert MISTAKES[text] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_cause_of_a_mistake_stays_to_be_seen(own):
    with pytest.raises(StrategyError) as caught:
        decode(Toy(), blank(2, 12), "mine.py:Fails, per_step(1), greedy").finish()
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("folder", ["my folder", "it's", 'a "b"', "k=1", "(x)", "a,b", "back\\slash"])
@pytest.mark.skipif(sys.platform == "win32", reason="not every name is one on Windows")
def test_a_file_in_any_folder_can_be_named(own, folder):
    (own / folder).mkdir()
    (own / "mine.py").rename(own / folder / "mine.py")
    for path in (f"./{folder}/mine.py", str(own / folder / "mine.py")):
        quoted = repr(path) if '"' in path else '"' + path.replace("\\", "\\\\") + '"'
        strategy = parse(f'noisy({quoted}:Mine(name="x"), "gumbel", 1.0), per_step(1), greedy')
        assert parse(str(strategy)) == strategy
        assert strategy.oracle.inner.name == "x"  # type: ignore[attr-defined]


def test_a_path_within_a_string_is_a_string(own):
    strategy = parse("mine.py:Mine(name='see ./mine.py:Mine'), per_step(1), greedy")
    assert strategy.oracle.name == "see ./mine.py:Mine"  # type: ignore[attr-defined]
    assert parse(str(strategy)) == strategy
    strategy = dataclasses.replace(strategy, oracle=dataclasses.replace(strategy.oracle, name="two\nlines"))
    assert parse(str(strategy)) == strategy


def test_a_class_that_inherits_is_named_by_its_own_file(own):
    (own / "second.py").write_text(
        "from dataclasses import dataclass\nfrom unmask.strategy import load\nMine = load('mine.py:Mine')\n"
        "@dataclass(frozen=True)\nclass Second(Mine):\n    pass\n",
        encoding="utf-8",
    )
    second = parse("second.py:Second, per_step(1), greedy")
    assert parse(str(second)) == second
    assert "second.py:Second" in str(second)


def test_a_teacher_s_values_are_those_of_the_model():
    for rows, value in ((torch.full((4, 12), 9), 9), (torch.full((4, 12), -1), -1)):
        with pytest.raises(StrategyError, match=rf"row 0 has the value {value} at place 0; .* are 0 to 4"):
            decode(Toy(), blank(2, 12), Strategy.of(unmask.random, unmask.per_step(1), unmask.teacher(rows))).finish()


def test_noise_within_noise_is_other_noise():
    """Two levels of scale 1 on equal scores: were they one stream, the score would be twice one noise."""

    def scores(oracle: str) -> torch.Tensor:
        strategy = parse(f"{oracle}, per_step(1), greedy")
        return next(decode(lambda state, asked: torch.zeros(int(asked.sum()), 3), blank(64, 40), strategy)).score

    def correlation(one: torch.Tensor, other: torch.Tensor) -> float:
        return float(torch.corrcoef(torch.stack([one, other]))[0, 1])

    once = scores("noisy(margin, 'gaussian', 1.0)")
    for twice in (
        "noisy(noisy(margin, 'gaussian', 1.0), 'gaussian', 1.0)",
        "noisy(running(noisy(margin, 'gaussian', 1.0)), 'gaussian', 1.0)",
    ):
        assert correlation(scores(twice) - once, once) == pytest.approx(0, abs=0.06)
        assert float((scores(twice) - once).std()) == pytest.approx(1, abs=0.05)
    thrice = scores("noisy(noisy(noisy(margin, 'gaussian', 1.0), 'gaussian', 1.0), 'gaussian', 1.0)")
    assert float(thrice.std()) == pytest.approx(3**0.5, abs=0.1)


def test_the_noise_of_one_level_keeps_its_name():
    step = next(decode(Toy(), blank(2, 12), "noisy(margin, 'gaussian', 1.0), per_step(1), greedy"))
    uniform = step.belief.noise("perturbation")
    assert torch.equal(
        step.score,
        next(decode(Toy(), blank(2, 12), "margin, per_step(1), greedy")).score + torch.special.ndtri(uniform),
    )


def test_a_fixed_order_may_name_places_that_a_row_does_not_have():
    near, far = (parse(f"fixed({pi}), per_step(1), greedy") for pi in ((2, 0), (2, 10**11, 0)))
    assert torch.equal(*(unmask.record(decode(Toy(), blank(2, 12), s)).step for s in (near, far)))
