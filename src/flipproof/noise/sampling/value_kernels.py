"""The compiled loops that draw something for every entry: another value, a number, or whether an ablation keeps it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flipproof.base.compiled import compiled
from flipproof.noise.sampling.coins import flips
from flipproof.noise.sampling.counter import ENTRIES, FRACTIONS, ONE, SUBSETS, U64, VALUES, Place
from flipproof.noise.sampling.philox import LOW, fill_words

_STRETCH = 4096


class CleanValues(NamedTuple):
    """Rows of small integers; entry j of row r flips by law law_of[r or 0, j]; under law 0, entries never flip."""

    values: Any
    law_of: Any
    p_plus: Any
    p_minus: Any
    categories: Any


@compiled
def draw_values(out: Any, stream: Any, samples: Any, rows: Any, clean: Any) -> None:
    """Writes every entry of every (sample, row)."""
    values, law_of, p_plus, p_minus = clean.values, clean.law_of, clean.p_plus, clean.p_minus
    categories, own_laws = clean.categories, np.int64(clean.law_of.shape[0] > 1)
    words, choices, cursor = np.empty(_STRETCH + 128, np.uint32), np.empty(128, np.uint32), np.zeros(1, np.int64)
    index: Any = 0
    for sample in range(samples[0], samples[1]):
        for row in rows:
            place = Place(stream.seed, stream.role, U64(sample), stream.part, U64(row))
            cursor[0] = 0
            for start in range(0, out.shape[1], _STRETCH):
                stop = min(out.shape[1], start + _STRETCH)
                skip = fill_words(words, place, ENTRIES, start, stop - start) - start
                for j in range(start, stop):
                    value, law, word = values[row, j], law_of[own_laws * row, j], U64(words[skip + j])
                    out[index, j] = value
                    # Entries that noise never changes use law 0, whose probabilities are zero.
                    if word <= (p_minus[law, 0] if value else p_plus[law, 0]) and flips(
                        word, p_minus[law] if value else p_plus[law], place, ENTRIES, j
                    ):
                        out[index, j] = _other_value(np.int64(value), categories[law], place, choices, cursor)
            index += 1


@compiled
def draw_fractions(out: Any, stream: Any, samples: Any, rows: Any) -> None:
    """Writes a number strictly between zero and one, with 53 random bits, for every entry of every (sample, row)."""
    words = np.empty(_STRETCH + 128, np.uint32)
    index: Any = 0
    for sample in range(samples[0], samples[1]):
        for row in rows:
            place = Place(stream.seed, stream.role, U64(sample), stream.part, U64(row))
            for start in range(0, 2 * out.shape[1], _STRETCH):
                stop = min(2 * out.shape[1], start + _STRETCH)
                fill_words(words, place, FRACTIONS, start, stop - start)
                for i in range(0, stop - start, 2):
                    out[index, (start + i) >> 1] = fraction_of(words[i], words[i + 1])
            index += 1


@compiled
def fraction_of(high: Any, low: Any) -> Any:
    """A number strictly between zero and one: the first 53 bits of two words plus half a unit."""
    bits = (U64(high) << U64(21)) | (U64(low) >> U64(11))
    # Above one half the sum rounds to even numbers, and the largest sum to one, which has no normal quantile.
    return min((np.float64(bits) + 0.5) * 2.0**-53, 1.0 - 2.0**-53)


@compiled
def _other_value(value: Any, categories: Any, place: Any, choices: Any, cursor: Any) -> Any:
    """A value other than `value`, each with equal probability."""
    if categories == U64(2):
        return 1 - value
    other = np.int64(below(categories - ONE, place, VALUES, choices, cursor))
    return other + np.int64(other >= value)


@compiled
def below(limit: Any, place: Any, purpose: Any, words: Any, cursor: Any) -> Any:
    """A uniform integer below `limit` <= 2**31, without bias (Lemire 2019), from the next words of a purpose."""
    while True:
        if cursor[0] & 63 == 0:
            fill_words(words, place, purpose, cursor[0], 64)
        product = U64(words[cursor[0] & 63]) * limit
        cursor[0] += 1
        low = product & LOW
        if low >= limit or low >= (LOW - limit + ONE) % limit:  # the first test only saves the division
            return product >> U64(32)


@compiled
def draw_kept_entries(
    out: Any, ends: Any, stream: Any, samples: Any, rows: Any, starts: Any, entries: Any, kept: Any
) -> Any:
    """Writes which of the listed entries of each (sample, row) are kept; returns their total number.

    A row has `entries` entries, of which starts[row + 1] - starts[row] are listed. Given the outcomes of the listed
    entries before it, a listed entry is kept with probability (entries left to keep) / (entries left), where every
    unlisted entry still counts as left. So only listed entries cost time. No number is rounded.
    """
    words, cursor = np.empty(128 + 64, np.uint32), np.zeros(1, np.int64)
    at: Any = 0
    index: Any = 0
    for sample in range(samples[0], samples[1]):
        for row in rows:
            place = Place(stream.seed, stream.role, U64(sample), stream.part, U64(row))
            cursor[0] = 0
            left: Any = kept
            for i in range(starts[row + 1] - starts[row]):
                if left == 0:
                    break
                out[at] = i
                if np.int64(below(U64(entries - i), place, SUBSETS, words, cursor)) < left:
                    at += 1
                    left -= 1
            ends[index] = at
            index += 1
    return at
