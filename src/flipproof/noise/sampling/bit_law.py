"""The values that the compiled loops for rows of bits take: the law, the rows and the working memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flipproof.noise.sampling.counter import BLOCK_LIMIT, WORD_LIMIT
from flipproof.noise.sampling.exact_probabilities import NO_TABLE, Digits, binomial_table, digits_of

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
