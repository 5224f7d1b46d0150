"""The compiled loops that draw noisy rows of bits. They account for most of the time of sampling.

The loops draw a sparse row of bits block by block (`block_kernels`). In a block of m entries they choose Bin(m, p_plus)
distinct entries, as if all entries were zeros. They drop chosen entries past the end of the row and those where the row
has a one; the ones flip by separate coins. So each entry's outcome is independent of all others and has exactly its
probability.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flipproof.base.compiled import compiled, inlined
from flipproof.noise.sampling.bit_law import EVERY_ENTRY, SCATTERED, STRETCH
from flipproof.noise.sampling.block_kernels import (
    SIX,
    SIXTY_THREE,
    Block,
    begin_block,
    choose_entries,
    clear_bits,
    next_block,
    write_bits,
)
from flipproof.noise.sampling.coins import coins, flips
from flipproof.noise.sampling.counter import ENTRIES, NONZEROS, ONE, U64, Place
from flipproof.noise.sampling.philox import fill_tile, fill_words

_SPARSE_BLOCK = 10
"""If fewer than one in 2**10 entries is or becomes a one, sorting is faster than scanning all bits."""

_COUNT_OF = np.array([byte.bit_count() for byte in range(256)], np.uint8)
_BITS_OF = np.zeros((256, 8), np.uint8)
"""For every byte: the number of set bits, and their positions."""
for _byte in range(256):
    _BITS_OF[_byte, : _COUNT_OF[_byte]] = [bit for bit in range(8) if _byte >> bit & 1]


@compiled
def draw_bits(out: Any, ends: Any, stream: Any, samples: Any, rows: Any, data: Any, law: Any, scratch: Any) -> Any:
    """Writes the sorted ones of each (sample, row), one row after the other, and where each row ends in `out`.

    Returns the number of ones, or -1 when `out` is too short.
    """
    # Taking an array out of a tuple counts a reference, which costs more than drawing a short row, so do it only once.
    # Passing many arrays to a function costs as much, unless the function is inlined.
    starts, positions, entries = data.starts, data.positions, data.entries
    bitmap, words, places = scratch.bitmap, scratch.words, scratch.places
    p_plus, p_minus, high, low, guide = law.p_plus, law.p_minus, law.high, law.low, law.guide
    at, index, size, most = 0, 0, law.block_size, law.first + high.size + 2
    for sample in range(samples[0], samples[1]):
        for row in rows:
            place = Place(stream.seed, stream.role, U64(sample), stream.part, U64(row))
            start, end, length = starts[row], starts[row + 1], entries[row]
            if law.method == SCATTERED:
                block = next_block(positions, end, length, size, Block(-1, 0, 0, start, start))
                while block.begin < length:
                    if at + block.last - block.first + most > out.size:
                        return -1
                    begin_block(words, place, start, block)
                    count = choose_entries(
                        places, place, block.number, size, law.first, high, low, guide, bitmap, words
                    )
                    if size >> _SPARSE_BLOCK > count + block.last - block.first:
                        at = _merge_block(
                            out, at, place, positions, start, block, count, p_minus, bitmap, words, places
                        )
                    else:
                        _flip_ones(bitmap, place, positions, start, block, p_minus, words)
                        at = write_bits(out, at, block.begin, block.stop, size, bitmap)
                    block = next_block(positions, end, length, size, block)
            elif at + (length if law.method == EVERY_ENTRY else end - start + 8) > out.size:
                return -1
            elif law.method == EVERY_ENTRY:
                at = draw_every_entry(out, at, place, positions, start, end, length, p_plus, p_minus, words)
            else:
                fill_tile(words, 0, place, NONZEROS, 0)
                at = keep_ones(out, at, place, positions, start, start, end, p_minus, words)
            ends[index] = at
            index += 1
    return at


@inlined
def _flip_ones(bitmap: Any, place: Any, positions: Any, start: Any, block: Any, p_minus: Any, words: Any) -> None:
    """Sets the bits of the ones that a block keeps, and clears the bits of the ones that flip."""
    begin = block.first - ((block.first - start) & 63)
    while begin < block.last:
        kept = ~coins(words, p_minus, place, NONZEROS, begin - start)
        fill_next(words, place, begin + 64 - start, block.last - start)
        first = max(begin, block.first)
        kept >>= U64(first - begin)
        for i in range(U64(first), U64(min(begin + 64, block.last))):
            position = U64(positions[i] - block.begin)
            word, bit = position >> SIX, position & SIXTY_THREE
            bitmap[word] = bitmap[word] & ~(ONE << bit) | (kept & ONE) << bit
            kept >>= ONE
        begin += 64


@compiled
def _merge_block(
    out: Any, at: Any, place: Any, positions: Any, start: Any, block: Any, count: Any, p_minus: Any, bitmap: Any,
    words: Any, places: Any,
) -> Any:  # fmt: skip
    """Writes a block in which few entries are or become ones: scanning its bits would take longer."""
    clear_bits(bitmap, places, count)
    _sort(places, count)
    i, begin = 0, block.first - ((block.first - start) & 63)
    while begin < block.last:
        kept = ~coins(words, p_minus, place, NONZEROS, begin - start)
        fill_next(words, place, begin + 64 - start, block.last - start)
        for k in range(max(begin, block.first), min(begin + 64, block.last)):
            one = positions[k] - block.begin
            while i < count and places[i] < one:
                out[at] = block.begin + places[i]
                at += 1
                i += 1
            i += i < count and places[i] == one
            out[at] = positions[k]
            at += np.int64((kept >> U64(k - begin)) & ONE)
        begin += 64
    while i < count and block.begin + places[i] < block.stop:
        out[at] = block.begin + places[i]
        at += 1
        i += 1
    return at


@inlined
def _sort(numbers: Any, count: Any) -> None:
    """Sorts the first `count` numbers, a few dozen, by insertion: numba's own sort takes seconds to compile."""
    for i in range(1, count):
        number, k = numbers[i], i
        while k > 0 and numbers[k - 1] > number:
            numbers[k] = numbers[k - 1]
            k -= 1
        numbers[k] = number


@inlined
def fill_next(words: Any, place: Any, first: Any, last: Any) -> None:
    """Fills the tile of random words for the coins from `first` on, if `first` < `last`."""
    if first < last:
        fill_tile(words, 0, place, NONZEROS, first >> 5)


@inlined
def keep_ones(
    out: Any, at: Any, place: Any, positions: Any, start: Any, first: Any, last: Any, p_minus: Any, words: Any
) -> Any:
    """Writes the members of positions[first:last] that do not flip, in order; their row's ones begin at `start`.

    `words` must already hold the tile for the first coins. Up to eight numbers past the last one are overwritten.
    """
    to, begin = U64(at), first - ((first - start) & 63)
    while begin < last:
        kept = ~coins(words, p_minus, place, NONZEROS, begin - start)
        fill_next(words, place, begin + 64 - start, last - start)
        if begin < first:
            kept &= ~U64(0) << U64(first - begin)
        if last - begin < 64:
            kept &= (ONE << U64(last - begin)) - ONE
        # Write eight at a time, kept or not: a branch on the number kept could not be predicted.
        for eight in range(U64(begin), U64(min(begin + 64, last)), U64(8)):
            which = kept & U64(255)
            for i in range(U64(8)):
                out[to + i] = positions[eight + U64(_BITS_OF[which, i])]
            to += U64(_COUNT_OF[which])
            kept >>= U64(8)
        begin += 64
    return np.int64(to)


@compiled
def draw_every_entry(
    out: Any, at: Any, place: Any, positions: Any, start: Any, end: Any, length: Any, p_plus: Any, p_minus: Any,
    words: Any,
) -> Any:  # fmt: skip
    """Tosses a coin for every entry of a row; for a p_plus so large that many entries flip."""
    next_one = start
    plus, minus = p_plus[0], p_minus[0]
    for begin in range(0, length, STRETCH):
        stop = min(length, begin + STRETCH)
        skip = fill_words(words, place, ENTRIES, begin, stop - begin) - begin
        for position in range(begin, stop):
            word = U64(words[skip + position])
            one = next_one < end and positions[next_one] == position
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
    """Writes which of the given (sorted) non-zeros of row 0 survive, by the coins of a draw of the whole row."""
    at: Any = 0
    words = np.empty(192, np.uint32)
    for sample in range(samples[0], samples[1]):
        place = Place(stream.seed, stream.role, U64(sample), stream.part, U64(0))
        group, flipped = -1, U64(0)
        for i in range(numbers.size):
            if numbers[i] >> 6 != group:
                group = numbers[i] >> 6
                fill_tile(words, 0, place, NONZEROS, group << 1)
                flipped = coins(words, p_minus, place, NONZEROS, group << 6)
            out[at] = i
            at += 1 - np.int64((flipped >> U64(numbers[i] & 63)) & ONE)
        ends[sample - samples[0]] = at
    return at
