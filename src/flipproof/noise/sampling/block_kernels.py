"""Compiled loops on one block of a sparse row of bits: they find its bounds, choose its entries, and write its bits.

`bit_kernels` builds rows from blocks. These loops choose entries as if all of them were zeros.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flipproof.base.compiled import compiled, fetch_ahead, inlined, lowest_bit, never_inlined
from flipproof.noise.sampling.counter import NONZEROS, ONE, POSITIONS, TILE_BITS, U64
from flipproof.noise.sampling.philox import LOW, fill_tile, fill_tiles

SIX, SIXTY_THREE = U64(6), U64(63)

_SMALL_BLOCK = 2**12
"""In blocks with at most this many entries, half a random word chooses an entry."""


class Block(NamedTuple):
    """A part of a row that is drawn at once: its number, the bounds of its entries, and the bounds of its ones."""

    number: Any
    begin: Any
    stop: Any
    first: Any
    last: Any


class Lookup(NamedTuple):
    """The table that is read next for the chosen entries, to be prefetched: its address and the bytes per row."""

    address: Any
    pitch: Any


@inlined
def next_block(positions: Any, end: Any, length: Any, size: Any, block: Any) -> Any:
    """The block after `block`, empty at the end of the row; the row's ones end before `end`."""
    begin, stop = block.stop, min(length, block.stop + size)
    if stop == length:
        return Block(block.number + 1, begin if begin < stop else length, stop, block.last, end)
    last = block.last
    while last < end and positions[last] < stop:
        last += 1
    return Block(block.number + 1, begin, stop, block.last, last)


@inlined
def begin_block(words: Any, place: Any, start: Any, block: Any) -> None:
    """Fills the words that almost every block needs: one tile for the coins of its first ones, one for its entries."""
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
    """Lists Bin(size, p_plus) distinct entries of a block, uniformly, and sets their bits; returns their number.

    The first tile of the block is in words[32:64]. Its first four words determine the count. Each later word, or each
    half word in a small block, becomes an entry by multiplication; words that would favour some entries are skipped. No
    branch depends on an entry, since no processor could predict it.
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
    """Chooses entries and writes the chosen zeros of the row, in no particular order; returns their number.

    `state` has one byte for every entry of the block and one more. The highest bit marks entries that must not be
    written; the other bits hold the turn, from 1 to 127, in which the entry was last chosen.
    """
    halves = size <= _SMALL_BLOCK
    most = U64(64) if halves else U64(32)
    tile, wanted = block.number << TILE_BITS, U64(fewest + _binomial(words, high, low, guide))
    found, to = U64(0), U64(0)
    used = most >> U64(3)  # four words determined the count
    state[size] = np.uint8(turn)  # skipped words point here: it counts as already chosen
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
    """Lists the entry that each word of a tile chooses, or `size` if the word would favour some entries."""
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
    """Writes the fresh zeros among candidates[i:stop] until enough are found; returns the new positions and counts.

    This is a separate function because the surrounding code would leave it too few registers.
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
    """Makes words for entries available: returns their tile and the bounds of their indices."""
    most = U64(64) if halves else U64(32)
    if used == U64(0):
        used = U64(8) if halves else U64(4)  # four words of the first tile determined the count
    elif used == most:
        tile += 1
        fill_tile(words, 32, place, POSITIONS, tile)
        used = U64(0)
    return tile, used, min(most, used + missing)


@inlined
def _entry(words: Any, i: Any, limit: Any, unfair: Any, halves: bool) -> Any:
    """Entry i of a tile, and whether its word is fair: zero if it would favour some entries (Lemire 2019), else one."""
    if halves:
        product = U64((words[U64(32) + (i >> ONE)] >> np.uint32((i & ONE) << U64(4))) & np.uint32(0xFFFF)) * limit
        return product >> U64(16), U64(product & U64(0xFFFF) >= unfair)
    product = U64(words[U64(32) + i]) * limit
    return product >> U64(32), U64(product & LOW >= unfair)


@inlined
def _binomial(words: Any, high: Any, low: Any, guide: Any) -> Any:
    """The number of thresholds at or below the uniform 128-bit number in the first four words of a block."""
    upper, lower = (U64(words[32]) << U64(32)) | U64(words[33]), (U64(words[34]) << U64(32)) | U64(words[35])
    index = guide[words[32] >> np.uint32(24)]
    while index < high.size and (high[index] < upper or (high[index] == upper and low[index] <= lower)):
        index += 1
    return index


@inlined
def clear_bits(bitmap: Any, places: Any, count: Any) -> None:
    """Clears the words that contain the bits of places[:count]."""
    for i in range(U64(count)):
        bitmap[U64(places[i]) >> SIX] = U64(0)


@inlined
def write_bits(out: Any, at: Any, begin: Any, stop: Any, size: Any, bitmap: Any) -> Any:
    """Writes the places of the bits below stop - begin in order, counted from `begin`, and clears all below `size`.

    Returns the end of the written numbers; up to two numbers after it may have been overwritten.
    """
    inside = stop - begin
    if inside < size:
        bitmap[inside >> 6] &= (ONE << U64(inside & 63)) - ONE
        bitmap[(inside >> 6) + 1 :] = U64(0)
    to = U64(at)
    for word in range(U64((inside + 63) >> 6)):
        bits, base = bitmap[word], begin + np.int64(word << SIX)
        bitmap[word] = U64(0)
        # Most words hold few bits, but a branch on their number could not be predicted: always write two.
        for _ in range(2):
            out[to] = base + np.int64(lowest_bit(bits))
            to += U64(bits != U64(0))
            bits &= bits - ONE
        while bits:
            out[to] = base + np.int64(lowest_bit(bits))
            to += ONE
            bits &= bits - ONE
    return np.int64(to)
