"""Counted noise: uniform, independent in every coordinate, the same for ever and in every batch."""

from __future__ import annotations

import math

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy import stats
from torch import Tensor

from unmask import noise

COUNT = 1 << 16
WORD = (1 << 64) - 1
ANY_INTEGER = some.integers(-(2**63), 2**63 - 1)

GOLDEN = {
    (0, "order", 0, 0, 0): 0.6894797213239673,
    (0, "value", 0, 0, 0): 0.0780443249437398,
    (1, "value", 0, 0, 0): 0.47331336609437014,
    (0, "value", 1, 0, 0): 0.2286398261631536,
    (0, "value", 0, 1, 0): 0.14525108694297584,
    (0, "value", 0, 0, 1): 0.81305546071321,
    (0, "value", 0, 0, -1): 0.560596936020214,
    (-7, "revision", 123, 45, 678): 0.0730496150134955,
    (2**64 + 3, "ünïcode", 2**40, 2**33, 2**50): 0.1562057809940135,
}


def by_hand(seed: int, stream: str, row: int, step: int, position: int) -> float:
    """The documented hash, in whole numbers of Python: fold one integer at a time with SplitMix64's finaliser."""

    def finalise(word: int) -> int:
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
        return word ^ (word >> 31)

    word = finalise((seed + 0x9E3779B97F4A7C15) % 2**64)
    for number in [byte + 1 for byte in stream.encode()] + [row, step, position]:
        word = finalise(word ^ (number * 0x9E3779B97F4A7C15 % 2**64))
    return ((word >> 12) + 0.5) / 2**52


def draw(
    seed: int = 0, stream: str = "value", row: int = 0, step: int = 0, position: int = 0, along: str = "position"
) -> Tensor:
    """COUNT uniforms, counting up `along` one coordinate from the given point."""
    place = {"row": row, "step": step, "position": position}
    counted = {name: torch.full((COUNT,), start) for name, start in place.items()}
    counted[along] = counted[along] + torch.arange(COUNT)
    return noise.at(noise.key(seed, stream, counted["row"], counted["step"]), counted["position"])


def assert_plausible(p_value: float) -> None:
    """Neither too uneven nor too even: both would be a fault."""
    assert 1e-5 < p_value < 1 - 1e-5


def assert_independent(one: Tensor, other: Tensor) -> None:
    """No correlation, and all cells of a 16 x 16 grid alike."""
    correlation = numpy.corrcoef(one.numpy(), other.numpy())[0, 1]
    assert abs(correlation) < 4.5 / math.sqrt(COUNT)
    cells = torch.bincount((one * 16).long() * 16 + (other * 16).long(), minlength=256)
    assert_plausible(stats.chisquare(cells.numpy()).pvalue)


@pytest.mark.parametrize("along", ["row", "step", "position"])
@pytest.mark.parametrize("seed", [0, 1, -1, 2**62])
def test_uniform_along_every_coordinate(along: str, seed: int) -> None:
    drawn = draw(seed, along=along)
    assert_plausible(stats.chisquare(torch.bincount((drawn * 512).long(), minlength=512).numpy()).pvalue)
    assert_plausible(stats.kstest(drawn.numpy(), "uniform").pvalue)


def test_uniform_along_seeds() -> None:
    drawn = numpy.array([noise.uniform(seed, "order", 0, 0, 0) for seed in range(4096)])
    assert_plausible(stats.kstest(drawn, "uniform").pvalue)
    assert abs(numpy.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 4.5 / math.sqrt(len(drawn))


def test_low_bits_are_uniform_too() -> None:
    bits = (draw() * 2**52).long()
    assert_plausible(stats.chisquare(torch.bincount(bits % 256, minlength=256).numpy()).pvalue)


@pytest.mark.parametrize("along", ["row", "step", "position"])
def test_neighbours_are_independent(along: str) -> None:
    drawn = draw(along=along)
    assert_independent(drawn, drawn.roll(1))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"seed": 0}, {"seed": 1}),
        ({"seed": 5}, {"seed": -5}),
        ({"stream": "order"}, {"stream": "value"}),
        ({"stream": "revision"}, {"stream": "revision count"}),
        ({"stream": "a"}, {"stream": ""}),
        ({"row": 0}, {"row": 1}),
        ({"row": 1, "step": 0}, {"row": 0, "step": 1}),
        ({"step": 0}, {"step": 1}),
        ({"along": "row", "step": 3}, {"along": "row", "step": 4}),
        ({"along": "row"}, {"along": "step"}),
        ({"along": "row"}, {"along": "position"}),
        ({"along": "step"}, {"along": "position"}),
    ],
)
def test_sequences_are_independent(one: dict, other: dict) -> None:
    assert_independent(draw(**one), draw(**other))


def test_no_two_of_a_million_are_equal() -> None:
    rows, steps = torch.arange(100).repeat_interleave(100), torch.arange(100).repeat(100)
    word = noise.key(0, "value", rows, steps)
    drawn = noise.at(word[:, None].expand(-1, 100).reshape(-1), torch.arange(100).repeat(10_000))
    assert len(drawn.unique()) == 1_000_000


@settings(max_examples=300, deadline=None)
@given(ANY_INTEGER, some.text(max_size=6), ANY_INTEGER, ANY_INTEGER, ANY_INTEGER)
def test_agrees_with_whole_numbers(seed: int, stream: str, row: int, step: int, position: int) -> None:
    assert noise.uniform(seed, stream, row, step, position) == by_hand(seed, stream, row, step, position)


def test_interval_is_open_at_its_ends() -> None:
    # The smallest and the largest of the 2^52 numbers that there are.
    assert (0 + 0.5) / 2**52 > 0
    assert (2**52 - 1 + 0.5) / 2**52 < 1
    drawn = draw()
    assert 0 < float(drawn.min()) < 1e-3
    assert 1 - 1e-3 < float(drawn.max()) < 1


@settings(max_examples=100, deadline=None)
@given(ANY_INTEGER, ANY_INTEGER)
def test_every_number_is_inside(word: int, position: int) -> None:
    value = float(noise.at(torch.tensor([word]), torch.tensor([position])))
    assert 0 < value < 1
    assert (value * 2**52) % 1 == 0.5


def test_extreme_bits_stay_inside() -> None:
    """Words, found by running the finaliser backwards, whose bits are all 0 and all 1."""

    def undo_shift(word: int, by: int) -> int:
        found = word
        for _ in range(64 // by + 1):
            found = word ^ (found >> by)
        return found

    def unfinalise(word: int) -> int:
        word = undo_shift(word, 31) * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
        word = undo_shift(word, 27) * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
        return undo_shift(word, 30)

    for bits, expected in ((0, 2.0**-53), (WORD, 1 - 2.0**-53)):
        word = unfinalise(bits)
        signed = word - 2**64 if word >= 2**63 else word
        assert float(noise.at(torch.tensor([signed]), torch.tensor([0]))) == expected


def test_bits_do_not_depend_on_the_batch() -> None:
    row, step, position = torch.arange(1000), torch.arange(1000) % 17, torch.arange(1000) * 31 % 101
    together = noise.at(noise.key(3, "value", row, step), position)
    turned = noise.at(noise.key(3, "value", row.flip(0), step.flip(0)), position.flip(0))
    assert torch.equal(turned.flip(0), together)
    for number in (0, 1, 500, 999):
        assert float(together[number]) == noise.uniform(3, "value", number, number % 17, number * 31 % 101)


def test_shape_does_not_matter() -> None:
    word, position = noise.key(0, "value", torch.arange(12), torch.arange(12)), torch.arange(12)
    assert torch.equal(noise.at(word.view(3, 4), position.view(3, 4)).view(-1), noise.at(word, position))


def test_is_looked_up_not_drawn() -> None:
    torch.manual_seed(0)
    before = draw()
    torch.rand(5)
    assert torch.equal(draw(), before)
    assert before.dtype == torch.float64


@pytest.mark.parametrize("point", GOLDEN)
def test_never_changes(point: tuple[int, str, int, int, int]) -> None:
    assert noise.uniform(*point) == GOLDEN[point]
