"""Counted noise: uniforms that are looked up, not drawn.

`uniform(seed, stream, row, step, position)` is a stateless hash, so that a row's noise does not depend on which rows
share its batch, on padding, or on rows that finished early; a decode stopped at any step goes on with the noise it
would have had. Streams are names ("order", "value", ...): different streams are independent, so that the order in
which positions are shown says nothing of the values drawn for them. Integers only until the last line: the same bits
on every device.

The hash folds one integer at a time into a 64-bit word with the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
"""

import functools

import torch
from jaxtyping import Float, Int
from torch import Tensor

_WORD = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


def _mix_number(word: int) -> int:
    word = ((word ^ (word >> 30)) * _FIRST) & _WORD
    word = ((word ^ (word >> 27)) * _SECOND) & _WORD
    return word ^ (word >> 31)


def _mix(word: Tensor) -> Tensor:
    # int64 shifts are arithmetic in torch; the masks make them logical. Products wrap, as they must.
    word = (word ^ ((word >> 30) & ((1 << 34) - 1))) * _signed(_FIRST)
    word = (word ^ ((word >> 27) & ((1 << 37) - 1))) * _signed(_SECOND)
    return word ^ ((word >> 31) & ((1 << 33) - 1))


def _fold(word: Tensor | int, number: Tensor) -> Tensor:
    return _mix((number * _signed(_GOLDEN)) ^ word)


@functools.lru_cache(maxsize=256)
def _root(seed: int, stream: str) -> int:
    word = _mix_number((seed + _GOLDEN) & _WORD)
    for byte in stream.encode():
        word = _mix_number(((byte + 1) * _GOLDEN & _WORD) ^ word)
    return _signed(word)


def key(seed: int, stream: str, row: Int[Tensor, " B"], step: Int[Tensor, " B"]) -> Int[Tensor, " B"]:
    """The word of a (seed, stream, row, step), from which `at` makes one uniform for each position."""
    return _fold(_fold(_root(seed, stream), row), step)


def at(word: Int[Tensor, "*n"], position: Int[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """Uniforms in the open interval (0, 1), float64: 52 bits and a half, so that neither end can be met."""
    bits = (_fold(word, position) >> 12) & ((1 << 52) - 1)
    return (bits.to(torch.float64) + 0.5) * 2.0**-52


def everywhere(
    seed: int, stream: str, row: Int[Tensor, " B"], step: Int[Tensor, " B"], place: Int[Tensor, "B L"]
) -> Float[Tensor, "B L"]:
    """One uniform for each place of each row, whether or not anybody asked about it."""
    return at(key(seed, stream, row, step)[:, None].expand_as(place), place)


def uniform(seed: int, stream: str, row: int, step: int, position: int) -> float:
    """One uniform, for a reader or a test: `noise("value")` of a belief is this, for many positions at once."""
    word = key(seed, stream, torch.tensor([row]), torch.tensor([step]))
    return float(at(word, torch.tensor([position])))
