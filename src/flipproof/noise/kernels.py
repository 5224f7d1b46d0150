"""The compiled loops that draw noisy rows. Their speed is most of what sampling costs.

A sparse row of bits is drawn block by block. Of the m entries of a block, Bin(m, p_plus) distinct ones are
marked in a bitmap, as if all entries were zeros; marks past the end of the row and on the ones of the row are
forgotten, and the ones flip by coins of their own. So each entry's outcome is independent of all others and has
exactly its probability.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flipproof.noise.digits import flips
from flipproof.noise.philox import (
    ENTRIES,
    LOW,
    NONZEROS,
    POSITIONS,
    U64,
    VALUES,
    Place,
    fill_words,
    one_word,
)
from flipproof.theory.compiled import compiled

DELETE_ONLY, SCATTERED, EVERY_ENTRY = 0, 1, 2
_ONE, _SIX, _SIXTY_THREE = U64(1), U64(6), U64(63)
_STRETCH = 4096


class Stream(NamedTuple):
    """What all words of one draw have in common."""

    seed: Any
    role: Any
    part: Any


class BitLaw(NamedTuple):
    """How bits flip: digits of both probabilities, and how flips of zeros are found."""

    p_plus: Any
    p_minus: Any
    method: Any
    block_size: Any
    first: Any
    high: Any
    low: Any
    guide: Any


class BitRows(NamedTuple):
    """Sparse rows of bits: sorted positions of the ones of row r at starts[r] : starts[r + 1], entries per row."""

    starts: Any
    positions: Any
    entries: Any


class CleanValues(NamedTuple):
    """Rows of small integers; entry j of row r flips by law law_of[r or 0, j]; law 0 is for entries that never do."""

    values: Any
    law_of: Any
    p_plus: Any
    p_minus: Any
    categories: Any


class Scratch(NamedTuple):
    """Working memory of one draw; the bitmap is all zeros between blocks."""

    bitmap: Any
    words: Any
    places: Any


def scratch_for(law: BitLaw) -> Scratch:
    """Fresh working memory."""
    size = _STRETCH + law.first + law.high.size
    return Scratch(
        np.zeros((law.block_size >> 6) + 1, np.uint64), np.empty(size + 128, np.uint32), np.empty(size, np.uint64)
    )


@compiled
def draw_bits(out: Any, ends: Any, stream: Any, samples: Any, rows: Any, data: Any, law: Any, scratch: Any) -> Any:
    """Writes the ones of every (sample, row) one after the other, each once, and where each (sample, row) ends.

    Returns the number of ones, or -1 when `out` is too short.
    """
    # Taking an array out of a tuple counts a reference, which costs more than drawing a short row: once is enough.
    starts, positions, entries = data.starts, data.positions, data.entries
    bitmap, words, places = scratch.bitmap, scratch.words, scratch.places
    p_plus, p_minus, high, low, guide = law.p_plus, law.p_minus, law.high, law.low, law.guide
    at, index, size, unfair = 0, 0, law.block_size, U64(2**32 % law.block_size)
    for sample in range(samples[0], samples[1]):
        for row in rows:
            place = Place(stream.seed, stream.role, U64(sample), stream.part, U64(row))
            ones, length = positions[starts[row] : starts[row + 1]], entries[row]
            if at + (length if law.method == EVERY_ENTRY else ones.size) > out.size:
                return -1
            if law.method == EVERY_ENTRY:
                at = _draw_every_entry(out, at, place, ones, length, p_plus, p_minus, words)
            elif law.method == DELETE_ONLY:
                at = _keep_ones(out, at, place, ones, 0, ones.size, 0, p_minus, bitmap, words)
            else:
                first = 0
                blocks = 1 if length <= size else (length + size - 1) // size
                for block in range(blocks):
                    begin, stop = block * size, min(length, (block + 1) * size)
                    last = ones.size if stop == length else _first_from(ones, first, stop)
                    fill_words(words, place, POSITIONS, block << 26, 64)
                    count = law.first + _binomial(words, high, low, guide)
                    if at + count + last - first > out.size:
                        return -1
                    _mark_distinct(place, block << 26, count, size, unfair, bitmap, words, places)
                    at = _keep_ones(out, at, place, ones, first, last, begin, p_minus, bitmap, words)
                    at = _add_marked(out, at, begin, stop, count, bitmap, places)
                    first = last
            ends[index] = at
            index += 1
    return at


@compiled
def _first_from(ones: Any, first: Any, stop: Any) -> Any:
    while first < ones.size and ones[first] < stop:
        first += 1
    return first


@compiled
def _binomial(words: Any, high: Any, low: Any, guide: Any) -> Any:
    """How many thresholds lie at or below a uniform 128-bit number, made of four words."""
    upper, lower = (U64(words[0]) << U64(32)) | U64(words[1]), (U64(words[2]) << U64(32)) | U64(words[3])
    index = guide[words[0] >> np.uint32(24)]
    while index < high.size and (high[index] < upper or (high[index] == upper and low[index] <= lower)):
        index += 1
    return index


@compiled
def _mark_distinct(
    place: Any, block_word: Any, count: Any, size: Any, unfair: Any, bitmap: Any, words: Any, places: Any
) -> None:
    """Lists `count` distinct entries of a block, uniformly, and marks them in the bitmap.

    The first words of the block, of which four have made the count, are there already. A word becomes an entry by
    multiplication; the few words that would favour some entries are passed over.
    """
    limit, used, found = U64(size), U64(4), U64(0)
    while found < U64(count):
        if used == U64(64):
            block_word += 64
            fill_words(words, place, POSITIONS, block_word, 64)
            used = U64(0)
        for i in range(used, min(U64(64), used + U64(count) - found)):
            product = U64(words[i]) * limit
            position = product >> U64(32)
            marked, bit = bitmap[position >> _SIX], _ONE << (position & _SIXTY_THREE)
            used += _ONE
            if product & LOW >= unfair and not marked & bit:
                bitmap[position >> _SIX] = marked | bit
                places[found] = position
                found += _ONE


@compiled
def _keep_ones(
    out: Any, at: Any, place: Any, ones: Any, first: Any, last: Any, begin: Any, p_minus: Any, bitmap: Any, words: Any
) -> Any:
    """Writes the ones that do not flip, and forgets what was marked where they stand.

    No branch depends on a coin: no processor can predict it.
    """
    threshold, end, to = p_minus[0], U64(bitmap.size - 1), U64(at)
    for start in range(first, last, _STRETCH):
        stop = min(last, start + _STRETCH)
        skip = U64(fill_words(words, place, NONZEROS, start, stop - start))
        for i in range(U64(stop - start)):
            one, word = ones[U64(start) + i], U64(words[skip + i])
            position = U64(one - begin)
            if (bitmap[min(position >> _SIX, end)] >> (position & _SIXTY_THREE)) & _ONE:
                bitmap[position >> _SIX] ^= _ONE << (position & _SIXTY_THREE)
            out[to] = one
            if word == threshold:
                to += U64(not flips(word, p_minus, place, NONZEROS, start + np.int64(i)))
            else:
                to += U64(word > threshold)
    return np.int64(to)


@compiled
def _add_marked(out: Any, at: Any, begin: Any, stop: Any, count: Any, bitmap: Any, places: Any) -> Any:
    """Writes the listed entries that are still marked and inside the row; leaves the bitmap empty."""
    inside, to = U64(stop - begin), U64(at)
    for i in range(U64(count)):
        position = places[i]
        marked = bitmap[position >> _SIX]
        bitmap[position >> _SIX] = marked & ~(_ONE << (position & _SIXTY_THREE))
        out[to] = begin + np.int64(position)
        to += (marked >> (position & _SIXTY_THREE)) & U64(position < inside)
    return np.int64(to)


@compiled
def _draw_every_entry(
    out: Any, at: Any, place: Any, ones: Any, length: Any, p_plus: Any, p_minus: Any, words: Any
) -> Any:
    """Tosses a coin for every entry: p_plus is so large that a good part of them flips."""
    next_one: Any = 0
    plus, minus = p_plus[0], p_minus[0]
    for start in range(0, length, _STRETCH):
        stop = min(length, start + _STRETCH)
        skip = fill_words(words, place, ENTRIES, start, stop - start) - start
        for position in range(start, stop):
            word = U64(words[skip + position])
            one = next_one < ones.size and ones[next_one] == position
            threshold = minus if one else plus
            flipped = word < threshold
            if word == threshold:
                flipped = flips(word, p_minus if one else p_plus, place, ENTRIES, position)
            out[at] = position
            at += flipped != one
            next_one += one
    return at


@compiled
def draw_kept_numbers(out: Any, ends: Any, stream: Any, samples: Any, numbers: Any, p_minus: Any) -> Any:
    """Which of the given non-zeros of row 0 survive; the same coins as in a draw of the whole row."""
    at: Any = 0
    for sample in range(samples[0], samples[1]):
        place = Place(stream.seed, stream.role, U64(sample), stream.part, U64(0))
        for i in range(numbers.size):
            out[at] = i
            at += 1 - np.int64(flips(one_word(place, NONZEROS, numbers[i]), p_minus, place, NONZEROS, numbers[i]))
        ends[sample - samples[0]] = at
    return at


@compiled
def draw_values(out: Any, stream: Any, samples: Any, rows: Any, clean: Any) -> None:
    """Writes every (sample, row) in full."""
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
                    # Entries that are never touched have a law of zero probability in front of the others.
                    if word <= (p_minus[law, 0] if value else p_plus[law, 0]) and flips(
                        word, p_minus[law] if value else p_plus[law], place, ENTRIES, j
                    ):
                        out[index, j] = _other_value(np.int64(value), categories[law], place, choices, cursor)
            index += 1


@compiled
def _other_value(value: Any, categories: Any, place: Any, choices: Any, cursor: Any) -> Any:
    """One of the other values, each with equal probability."""
    if categories == U64(2):
        return 1 - value
    other = np.int64(_below(categories - _ONE, place, choices, cursor))
    return other + np.int64(other >= value)


@compiled
def _below(limit: Any, place: Any, words: Any, cursor: Any) -> Any:
    """A uniform integer below `limit` <= 2**31, without bias (Lemire 2019), from the next words of VALUES."""
    while True:
        if cursor[0] & 63 == 0:
            fill_words(words, place, VALUES, cursor[0], 64)
        product = U64(words[cursor[0] & 63]) * limit
        cursor[0] += 1
        low = product & LOW
        if low >= limit or low >= (LOW - limit + _ONE) % limit:  # the first test only saves the division
            return product >> U64(32)


@compiled
def pairs_of_ranks(rank: Any, nodes: Any, directed: bool, heads: Any, tails: Any) -> None:
    """The node pair of each rank: ordered pairs row by row without the diagonal, or only those with head < tail."""
    for i in range(rank.size):
        r = rank[i]
        if directed:
            u = r // (nodes - 1)
            v = r - u * (nodes - 1)
            v += v >= u
        else:
            # Row u starts at u (2 nodes - u - 1) / 2; the float root may be off by a few rows, integers put it right.
            half = nodes - 0.5
            u = np.int64(half - np.sqrt(max(0.0, half * half - 2.0 * r)))
            while (u * (2 * nodes - u - 1)) >> 1 > r:
                u -= 1
            while ((u + 1) * (2 * nodes - u - 2)) >> 1 <= r:
                u += 1
            v = r - ((u * (2 * nodes - u - 1)) >> 1) + u + 1
        heads[i] = u
        tails[i] = v
