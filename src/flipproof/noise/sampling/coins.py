"""The compiled loops that toss exact coins: they compare random words with a probability's digits until they differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from flipproof.base.compiled import compiled, inlined, lowest_bit
from flipproof.noise.sampling.counter import ONE, U64
from flipproof.noise.sampling.philox import fill_tile, further_word

_ALL = U64(2**64 - 1)


@compiled
def flips(word: Any, digits: Any, place: Any, purpose: Any, number: Any) -> bool:
    """Whether a coin flips, with exactly the probability of the digits, given a uniform word; more words break ties."""
    for i in range(1, digits.size):
        if word != digits[i - 1]:
            return bool(word < digits[i - 1])
        word = further_word(place, purpose, number, i)
    return bool(word < digits[digits.size - 1])


@inlined
def coins(words: Any, digits: Any, place: Any, purpose: Any, first: Any) -> Any:
    """Tosses 64 coins from number `first`, a multiple of 64: each bit is set with exactly the digits' probability.

    A coin is a binary fraction. Bit j of the sixteen 64-bit numbers in a tile holds the first sixteen bits of coin j.
    `words` must already hold this tile. The next tile holds the following bits, which few coins need.
    """
    if digits[0] >> U64(32):
        return _ALL
    below, undecided = _compared(U64(0), _ALL, words, digits[0] >> U64(16))
    if undecided:
        fill_tile(words, 0, place, purpose, (first >> 5) + 1)
        below, undecided = _compared(below, undecided, words, digits[0])
        while undecided:
            coin = lowest_bit(undecided)
            # The coin equals the first digit, so the following digits decide.
            below |= U64(flips(digits[0], digits, place, purpose, first + np.int64(coin))) << coin
            undecided &= undecided - ONE
    return below


@inlined
def _compared(below: Any, undecided: Any, words: Any, half_digit: Any) -> Any:
    """Compares the next sixteen bits of undecided coins with those of the probability."""
    for k in range(16):
        random = U64(words[2 * k]) | (U64(words[2 * k + 1]) << U64(32))
        bit = U64(0) - ((half_digit >> U64(15 - k)) & ONE)
        below |= undecided & ~random & bit
        undecided &= ~(random ^ bit)
    return below, undecided
