"""A probability as the digits of its binary fraction, and random bits compared with them: exact coin flips."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.noise.philox import further_word
from flipproof.theory.compiled import compiled

Digits = NDArray[np.uint64]


@functools.lru_cache(maxsize=256)
def digits_of(probability: float) -> Digits:
    """The probability in base 2**32, most significant digit first, without trailing zeros.

    Every float64 has at most 34 such digits. One is the single digit 2**32, which every word is below.

    Example:
        >>> digits_of(0.75)
        array([3221225472], dtype=uint64)
    """
    rest = Fraction(probability)
    digits: list[int] = []
    while rest or not digits:
        rest *= 2**32
        digit = 2**32 if probability == 1.0 else int(rest)
        rest -= digit
        digits.append(digit)
    array = np.array(digits, dtype=np.uint64)
    array.setflags(write=False)
    return array


@compiled
def flips(word: Any, digits: Any, place: Any, purpose: Any, number: Any) -> bool:
    """True with exactly the probability of the digits, given a uniform word; on a tie further ones decide."""
    for i in range(1, digits.size):
        if word != digits[i - 1]:
            return bool(word < digits[i - 1])
        word = further_word(place, purpose, number, i)
    return bool(word < digits[digits.size - 1])
