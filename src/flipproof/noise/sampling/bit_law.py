"""The values that the compiled loops for rows of bits take: digits and thresholds of exact coins, the law, the rows."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flipproof.noise.sampling.counter import BLOCK_LIMIT, WORD_LIMIT

Digits = NDArray[np.uint64]


@functools.lru_cache(maxsize=256)
def digits_of(probability: float) -> Digits:
    """The probability in base 2**32, most significant digit first, without trailing zeros.

    A float64 probability has at most 34 such digits. The probability 1 is the single digit 2**32, above every word.

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


_SCALE_BITS = 256
_TAIL_BITS = 136
_TABLE_BITS = 128


@dataclass(frozen=True, slots=True, eq=False)
class BinomialTable:
    """Inverse distribution function of Bin(n, p): the count is `first` + the number of thresholds <= U.

    U is a uniform 128-bit number, and thresholds are split into their high and low 64 bits. The first `guide[b]`
    thresholds are <= U for every U whose top eight bits are b. The law of the count is within `distance` of Bin(n, p)
    in total variation.
    """

    first: int
    high: NDArray[np.uint64]
    low: NDArray[np.uint64]
    guide: NDArray[np.int64]
    distance: Fraction


@functools.lru_cache(maxsize=256)
def binomial_table(n: int, p: float) -> BinomialTable:
    """The table of thresholds of Bin(n, p) for 0 < p < 1.

    Weights relative to the mode follow from the ratios of neighbours, in integers scaled by 2**256. Ratios away from
    the mode are at most 1, so each of the fewer than 2**20 weights is short by less than 2**20 units, and their sum by
    less than 2**40 units. This is negligible beside the 2**-128 by which a threshold is rounded. A tail is dropped
    where its weight is below 2**-136 of the mode's and at least halves with every step, so the tail is less than
    2**-135. Hence every threshold is within 2**-127 of the distribution function, and the total variation distance is
    at most the sum of these errors.
    """
    ones, zeros = _odds(p)
    mode = min(n, (n + 1) * ones // (ones + zeros))
    up = _weights(lambda k: (n - mode - k) * ones, lambda k: (mode + k + 1) * zeros)
    down = _weights(lambda k: (mode - k) * zeros, lambda k: (n - mode + k + 1) * ones)
    weights = [*reversed(down[1:]), *up]
    total = sum(weights)
    thresholds = [(cumulated << _TABLE_BITS) // total for cumulated in itertools.accumulate(weights[:-1])]
    mask = 2**64 - 1
    return BinomialTable(
        first=mode - len(down) + 1,
        high=np.array([threshold >> 64 for threshold in thresholds], dtype=np.uint64),
        low=np.array([threshold & mask for threshold in thresholds], dtype=np.uint64),
        guide=np.searchsorted([t >> 120 for t in thresholds], np.arange(256), side="left").astype(np.int64),
        distance=Fraction(len(weights), 2 ** (_TABLE_BITS - 1)),
    )


def _odds(p: float) -> tuple[int, int]:
    """Two integers in the ratio p : (1 - p)."""
    numerator, denominator = p.as_integer_ratio()
    return numerator, denominator - numerator


def _weights(numerator: Callable[[int], int], denominator: Callable[[int], int]) -> list[int]:
    """Weights from the mode outwards; each is the previous weight times numerator(k) / denominator(k)."""
    weights = [1 << _SCALE_BITS]
    while True:
        k = len(weights) - 1
        following = weights[-1] * numerator(k) // denominator(k)
        if following >> (_SCALE_BITS - _TAIL_BITS) == 0 and 2 * following <= weights[-1]:
            return weights
        weights.append(following)


NO_TABLE = BinomialTable(
    0, np.zeros(0, np.uint64), np.zeros(0, np.uint64), np.zeros(256, np.int64), distance=Fraction(0)
)
"""The empty table, for rows whose zeros never flip or flip one by one."""


DELETE_ONLY, SCATTERED, EVERY_ENTRY = 0, 1, 2
"""Methods: flip only ones; find the few flipping zeros block by block; or toss a coin for every entry."""
STRETCH = 4096
"""The number of random words generated at a time when every entry gets a coin."""
_FLIPS_PER_BLOCK = 64
_SMALLEST_BLOCK, _LARGEST_BLOCK = 2**12, 2**20
_DENSE_FROM = 0.125
"""From this p_plus on, a coin for every entry costs no more than finding the entries that flip."""


class BitLaw(NamedTuple):
    """How bits flip: the digits of both probabilities, and the method that finds flipping zeros."""

    p_plus: Digits
    p_minus: Digits
    method: int
    block_size: int
    first: int
    high: NDArray[np.uint64]
    low: NDArray[np.uint64]
    guide: NDArray[np.int64]

    @classmethod
    def of(cls, p_plus: float, p_minus: float, most_entries: int) -> BitLaw:
        """The law for rows of at most `most_entries` entries; it is the same whichever rows are drawn."""
        method, size, table = DELETE_ONLY, 1, NO_TABLE
        if p_plus >= _DENSE_FROM:
            method = EVERY_ENTRY
        elif p_plus > 0.0:
            method = SCATTERED
            wanted = _FLIPS_PER_BLOCK / max(p_plus, _FLIPS_PER_BLOCK / _LARGEST_BLOCK)
            size = max(1, min(most_entries, max(_SMALLEST_BLOCK, int(wanted))))
            table = binomial_table(size, p_plus)
        digits = digits_of(p_plus), digits_of(p_minus)
        return cls(*digits, method, size, table.first, table.high, table.low, table.guide)

    @property
    def longest_row(self) -> int:
        """The largest number of entries in a row for which there are enough random words."""
        if self.method == SCATTERED:
            return BLOCK_LIMIT * self.block_size
        return WORD_LIMIT if self.method == EVERY_ENTRY else 2**63 - 1


class BitRows(NamedTuple):
    """Sparse rows of bits: row r has `entries[r]` entries and ones at sorted positions[starts[r] : starts[r + 1]]."""

    starts: NDArray[np.int64]
    positions: NDArray[Any]
    entries: NDArray[np.int64]


class Scratch(NamedTuple):
    """Working memory of one draw; the bitmap is all zeros between blocks."""

    bitmap: NDArray[np.uint64]
    words: NDArray[np.uint32]
    places: NDArray[np.int64]


def scratch_for(law: BitLaw) -> Scratch:
    """Fresh working memory for one draw under a law."""
    bitmap = np.zeros((law.block_size >> 6) + 1, np.uint64)
    return Scratch(bitmap, np.empty(STRETCH + 128, np.uint32), np.empty(law.first + law.high.size + 1, np.int64))
