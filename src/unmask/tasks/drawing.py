"""Random words, numbers and shuffles for compiled generators: SplitMix64 (Steele, Lea and Flood 2014).

A generator begins a state from (seed, number) with `start`, so that example number i of a seed is a matter of these
two alone, whatever else is made with it and by how many processes. Then it draws from the state as it likes.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unmask.tasks.compiled import kernel


def key(seed: int) -> np.int64:
    """Any whole number as the word that `start` takes."""
    return np.int64((seed + (1 << 63)) % (1 << 64) - (1 << 63))


@kernel
@no_type_check
def mix(word):
    """The finaliser of SplitMix64: a word in which every bit depends on every bit."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel
@no_type_check
def next_word(state):
    """64 random bits."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return mix(state[0])


@kernel
@no_type_check
def below(state, bound):
    """A random number from 0, below a small bound."""
    return np.int64((next_word(state) >> np.uint64(32)) * np.uint64(bound) >> np.uint64(32))


@kernel
@no_type_check
def shuffle(state, numbers):
    """Every order equally likely, in place."""
    for last in range(len(numbers) - 1, 0, -1):
        other = below(state, last + 1)
        numbers[last], numbers[other] = numbers[other], numbers[last]


@kernel
@no_type_check
def start(key, number):
    """The state of one example."""
    state = np.empty(1, dtype=np.uint64)
    state[0] = np.uint64(key)
    state[0] = next_word(state) ^ (np.uint64(number) * np.uint64(0x9E3779B97F4A7C15))
    state[0] = next_word(state)
    return state
