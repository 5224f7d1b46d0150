"""The compiled loops that draw noisy rows of bits. Their speed is most of what sampling costs.

A sparse row of bits is drawn block by block. Of the m entries of a block, Bin(m, p_plus) distinct ones are chosen, as
if all entries were zeros; those past the end of the row and those that are ones of the row are forgotten, and the ones
flip by coins of their own. So each entry's outcome is independent of all others and has exactly its probability.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flipproof.base.compiled import compiled, fetch_ahead, inlined, never_inlined
from flipproof.noise.sampling.bitmaps import ONE, SIX, SIXTY_THREE, U64, clear_bits, write_bits
from flipproof.noise.sampling.coins import coins, flips
from flipproof.noise.sampling.philox import (
    ENTRIES,
    LOW,
    NONZEROS,
    POSITIONS,
    TILE_BITS,
    Place,
    fill_tile,
    fill_tiles,
    fill_words,
)

DELETE_ONLY, SCATTERED, EVERY_ENTRY = 0, 1, 2
_STRETCH = 4096
_SMALL_BLOCK = 2**12
"""Blocks of at most so many entries take half a word for each."""
_SPARSE_BLOCK = 10
"""Where less than one in 2**10 entries is or becomes a one, sorting is faster than looking through the bits of all."""


_COUNT_OF = np.array([byte.bit_count() for byte in range(256)], np.uint8)
_BITS_OF = np.zeros((256, 8), np.uint8)
"""Of every byte: how many bits are set, and which."""
for _byte in range(256):
    _BITS_OF[_byte, : _COUNT_OF[_byte]] = [bit for bit in range(8) if _byte >> bit & 1]


class StreamWords(NamedTuple):
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


class Scratch(NamedTuple):
    """Working memory of one draw; the bitmap is all zeros between blocks."""

    bitmap: Any
    words: Any
    places: Any


class Lookup(NamedTuple):
    """The table in which entries of a block are looked up next, to be fetched meanwhile: its address, bytes per row."""

    address: Any
    pitch: Any


class Block(NamedTuple):
    """A part of a row that is drawn at once: its number, its entries, and which of the ones of the row it has."""

    number: Any
    begin: Any
    stop: Any
    first: Any
    last: Any


def scratch_for(law: BitLaw) -> Scratch:
    """Fresh working memory."""
    bitmap = np.zeros((law.block_size >> 6) + 1, np.uint64)
    return Scratch(bitmap, np.empty(_STRETCH + 128, np.uint32), np.empty(law.first + law.high.size + 1, np.int64))


@compiled
def draw_bits(out: Any, ends: Any, stream: Any, samples: Any, rows: Any, data: Any, law: Any, scratch: Any) -> Any:
    """Writes the ones of every (sample, row) in order, one row after the other, and where each (sample, row) ends.

    Returns the number of ones, or -1 when `out` is too short.
    """
    # Taking an array out of a tuple counts a reference, which costs more than drawing a short row: once is enough.
    # And handing many arrays to a function costs as much, unless it is inlined.
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
def next_block(positions: Any, end: Any, length: Any, size: Any, block: Any) -> Any:
    """The entries after a block; none when the row, whose ones end before `end`, does."""
    begin, stop = block.stop, min(length, block.stop + size)
    if stop == length:
        return Block(block.number + 1, begin if begin < stop else length, stop, block.last, end)
    last = block.last
    while last < end and positions[last] < stop:
        last += 1
    return Block(block.number + 1, begin, stop, block.last, last)


@inlined
def begin_block(words: Any, place: Any, start: Any, block: Any) -> None:
    """The words that almost every block needs: a tile for the coins of its first ones, and one for its entries."""
    fill_tiles(words, 0, place, NONZEROS, ((block.first - start) >> 6) << 1, POSITIONS, block.number << TILE_BITS)


@inlined
def choose_entries(
    places: Any,
    place: Any,
    block: Any,
    size: Any,
    fewest: Any,
    high: Any,
    low: Any,
    guide: Any,
    bitmap: Any,
    words: Any,
) -> Any:
    """Lists Bin(size, p_plus) distinct entries of a block, uniformly, and sets their bits; returns how many.

    The first tile of the block is in words[32:64]. Four words make the count. Each of the next, or each half of them
    if entries are few, becomes an entry by multiplication; those that would favour some entries are passed over. No
    branch depends on an entry: no processor could predict it.
    """
    tile, count = block << TILE_BITS, fewest + _binomial(words, high, low, guide)
    halves, used, found, wanted = size <= _SMALL_BLOCK, U64(0), U64(0), U64(count)
    limit, unfair = U64(size), U64((2**16 if halves else 2**32) % size)
    while found < wanted:
        tile, used, stop = _more_entries(words, place, tile, used, wanted - found, halves)
        for i in range(used, stop):
            position, fair = _entry(words, i, limit, unfair, halves)
            word, bit = position >> SIX, position & SIXTY_THREE
            marked = bitmap[word]
            fresh = fair & ~(marked >> bit) & ONE
            bitmap[word] = marked | (fresh << bit)
            places[found] = np.int64(position)
            found += fresh
        used = stop
    return count


@inlined
def choose_zeros(
    out: Any, place: Any, block: Any, size: Any, fewest: Any, high: Any, low: Any, guide: Any, state: Any, turn: Any,
    words: Any, candidates: Any, lookup: Any,
) -> Any:  # fmt: skip
    """Chooses entries and writes those that are zeros of the row, in no order; returns how many.

    `state` has a byte for every entry of the block and one more. The highest bit says that the entry is not to be
    written, the others in which turn it was chosen last, a number from 1 to 127.
    """
    halves = size <= _SMALL_BLOCK
    most = U64(64) if halves else U64(32)
    tile, wanted = block.number << TILE_BITS, U64(fewest + _binomial(words, high, low, guide))
    found, to = U64(0), U64(0)
    used = most >> U64(3)  # four words have made the count
    state[size] = np.uint8(turn)  # stands for the words that are passed over: chosen already
    _list_candidates(candidates, words, size, halves)
    while found < wanted:
        if used == most:
            tile += 1
            fill_tile(words, 32, place, POSITIONS, tile)
            _list_candidates(candidates, words, size, halves)
            used = U64(0)
        to, found, used = _zeros_among(
            out, to, candidates, used, most, found, wanted, U64(block.begin), state, turn, lookup
        )
    return np.int64(to)


@inlined
def _list_candidates(candidates: Any, words: Any, size: Any, halves: bool) -> None:
    """The entries that the words of a tile stand for; `size` for one that would favour some of them."""
    if halves:
        limit, unfair = np.uint32(size), np.uint32(2**16 % size)
        for i in range(32):
            for half in range(2):
                product = ((words[32 + i] >> np.uint32(16 * half)) & np.uint32(0xFFFF)) * limit
                fair = np.uint32(product & np.uint32(0xFFFF)) >= unfair
                candidates[2 * i + half] = product >> np.uint32(16) if fair else limit
    else:
        for i in range(32):
            product = U64(words[32 + i]) * U64(size)
            candidates[i] = np.uint32(product >> U64(32)) if product & LOW >= U64(2**32 % size) else np.uint32(size)


@compiled
def _zeros_among(
    out: Any, to: Any, candidates: Any, i: Any, stop: Any, found: Any, wanted: Any, begin: Any, state: Any, turn: Any,
    lookup: Any,
) -> Any:  # fmt: skip
    """Writes those of candidates[i:stop] that are to be, until enough are found; where all this ended.

    A function of its own: what surrounds it would leave it too few registers.
    """
    never_inlined()
    while (i < stop) & (found < wanted):
        position = U64(candidates[i])
        known = U64(state[position])
        state[position] = np.uint8(known & U64(128) | turn)
        fetch_ahead(lookup.address + position * lookup.pitch)
        out[to] = np.uint32(begin + position)
        since = known ^ turn
        found += U64(since & U64(127) != U64(0))
        to += U64(since - U64(1) < U64(127))
        i += ONE
    return to, found, i


@inlined
def _more_entries(words: Any, place: Any, tile: Any, used: Any, missing: Any, halves: bool) -> Any:
    """Sees to words for entries: of which tile they are, where they begin and where to look again."""
    most = U64(64) if halves else U64(32)
    if used == U64(0):
        used = U64(8) if halves else U64(4)  # four words of the first tile have made the count
    elif used == most:
        tile += 1
        fill_tile(words, 32, place, POSITIONS, tile)
        used = U64(0)
    return tile, used, min(most, used + missing)


@inlined
def _entry(words: Any, i: Any, limit: Any, unfair: Any, halves: bool) -> Any:
    """Entry number i of a tile, and one, or zero if its word would favour some entries (Lemire 2019)."""
    if halves:
        product = U64((words[U64(32) + (i >> ONE)] >> np.uint32((i & ONE) << U64(4))) & np.uint32(0xFFFF)) * limit
        return product >> U64(16), U64(product & U64(0xFFFF) >= unfair)
    product = U64(words[U64(32) + i]) * limit
    return product >> U64(32), U64(product & LOW >= unfair)


@inlined
def _binomial(words: Any, high: Any, low: Any, guide: Any) -> Any:
    """How many thresholds lie at or below a uniform 128-bit number, made of the first four words of a block."""
    upper, lower = (U64(words[32]) << U64(32)) | U64(words[33]), (U64(words[34]) << U64(32)) | U64(words[35])
    index = guide[words[32] >> np.uint32(24)]
    while index < high.size and (high[index] < upper or (high[index] == upper and low[index] <= lower)):
        index += 1
    return index


@inlined
def _flip_ones(bitmap: Any, place: Any, positions: Any, start: Any, block: Any, p_minus: Any, words: Any) -> None:
    """Sets the bits of the ones of a block that are kept, and clears those of the others."""
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
    """Writes a block with few entries that are or become ones: looking through its bits would take longer."""
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
    """Sorts the first numbers, some dozens, by insertion: numba's own sort takes seconds to compile."""
    for i in range(1, count):
        number, k = numbers[i], i
        while k > 0 and numbers[k - 1] > number:
            numbers[k] = numbers[k - 1]
            k -= 1
        numbers[k] = number


@inlined
def fill_next(words: Any, place: Any, first: Any, last: Any) -> None:
    """The tile for the coins from `first` on, if there are any before `last`."""
    if first < last:
        fill_tile(words, 0, place, NONZEROS, first >> 5)


@inlined
def keep_ones(
    out: Any, at: Any, place: Any, positions: Any, start: Any, first: Any, last: Any, p_minus: Any, words: Any
) -> Any:
    """Writes those of positions[first:last] that do not flip, in order; the ones of their row begin at `start`.

    The tile for the first coins is in `words` already. Up to eight numbers after the last are written over.
    """
    to, begin = U64(at), first - ((first - start) & 63)
    while begin < last:
        kept = ~coins(words, p_minus, place, NONZEROS, begin - start)
        fill_next(words, place, begin + 64 - start, last - start)
        if begin < first:
            kept &= ~U64(0) << U64(first - begin)
        if last - begin < 64:
            kept &= (ONE << U64(last - begin)) - ONE
        # Eight at a time, whether they are kept or not: how many are cannot be predicted.
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
    """Tosses a coin for every entry of a row: p_plus is so large that a good part of them flips."""
    next_one = start
    plus, minus = p_plus[0], p_minus[0]
    for begin in range(0, length, _STRETCH):
        stop = min(length, begin + _STRETCH)
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
    """Which of the given non-zeros (sorted) of row 0 survive; the same coins as in a draw of the whole row."""
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
