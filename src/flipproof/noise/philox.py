"""The random words: Philox4x32-10, a counter-based generator (Salmon et al., SC 2011).

A word is a pure function of the seed and of where it is used, so any part of any noisy sample can be drawn by
itself, in any order, on any machine. The 128-bit counter holds, injectively,

    word 0: group (24 bits), purpose (6 bits), part (2 bits)      four words per group
    word 1: row (32 bits)
    word 2: sample, low 32 bits
    word 3: sample, high 8 bits, role (2 bits), block (22 bits)

and the key is the 64-bit seed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flipproof.theory.compiled import compiled, inlined

U64 = np.uint64
LOW = U64(0xFFFFFFFF)
_M0, _M1 = U64(0xD2511F53), U64(0xCD9E8D57)
_W0, _W1 = U64(0x9E3779B9), U64(0xBB67AE85)
_32, _30, _24, _10, _8 = U64(32), U64(30), U64(24), U64(10), U64(8)

# What words are used for. Words of different purposes are never the same.
NONZEROS = U64(0)
"""Does a non-zero flip? Its place among the non-zeros of the row says which bits of which tile of words decide."""
ENTRIES = U64(1)
"""Does an entry flip? Word number = its place in the row."""
POSITIONS = U64(2)
"""How many zeros of a block flip (its first four words), and which."""
VALUES = U64(3)
"""Which other value a flipped entry takes."""
_TIES = U64(16)
"""First of the nine purposes of the further words of a non-zero; those of an entry follow at twice the number."""

SAMPLE_LIMIT = 2**40
ROW_LIMIT = 2**32
BLOCK_LIMIT = 2**22
GROUP_BITS = 24
GROUP_MASK = 2**GROUP_BITS - 1
WORD_LIMIT = 2 ** (GROUP_BITS + 22)
"""How many numbered words a row has, so that each can have further words of its own."""


class Place(NamedTuple):
    """Where words are used: everything in the counter but group, purpose and block."""

    seed: Any
    role: Any
    sample: Any
    part: Any
    row: Any


@inlined
def _round(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    # Only the low halves count. They are taken where they are multiplied, because there it costs nothing.
    p0, p1 = _M0 * (c0 & LOW), _M1 * (c2 & LOW)
    return (p1 >> _32) ^ c1 ^ k0, p1, (p0 >> _32) ^ c3 ^ k1, p0


@inlined
def _two_rounds(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0 + _W0, k1 + _W1)
    return c0, c1, c2, c3, k0 + _W0 + _W0, k1 + _W1 + _W1


@inlined
def philox(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    """Ten rounds; all numbers are uint64 that hold 32 bits. Without a loop, so that callers' loops are vectorised."""
    c0, c1, c2, c3, k0, k1 = _two_rounds(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _two_rounds(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _two_rounds(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _two_rounds(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _two_rounds(c0, c1, c2, c3, k0, k1)
    return c0 & LOW, c1 & LOW, c2 & LOW, c3 & LOW


@inlined
def counter_and_key(place: Any, purpose: Any, block: Any, group: Any) -> Any:
    """The six words that `philox` takes."""
    return (
        group | (purpose << _24) | (place.part << _30),
        place.row,
        place.sample & LOW,
        (place.sample >> _32) | (place.role << _8) | (block << _10),
        place.seed & LOW,
        place.seed >> _32,
    )


@compiled
def group_of_words(place: Any, purpose: Any, block: Any, group: Any) -> Any:
    """Four 32-bit words, as uint64."""
    c0, c1, c2, c3, k0, k1 = counter_and_key(place, purpose, block, group)
    return philox(c0, c1, c2, c3, k0, k1)


@inlined
def fill_tile(words: Any, at: Any, place: Any, purpose: Any, tile: Any) -> None:
    """Writes the 64 words of a tile, 16 from each lane of 16 groups, so that the loop can be vectorised."""
    block, group = U64(tile >> (GROUP_BITS - 4)), U64((tile << 4) & GROUP_MASK)
    c0, c1, c2, c3, k0, k1 = counter_and_key(place, purpose, block, group)
    # The place has 32 bits: the compiler must see that indices cannot wrap around, or it does not vectorise.
    first = U64(np.uint32(at))
    for i in range(first, first + U64(16)):
        w0, w1, w2, w3 = philox(c0 + (i - first), c1, c2, c3, k0, k1)
        words[i] = np.uint32(w0)
        words[i + U64(16)] = np.uint32(w1)
        words[i + U64(32)] = np.uint32(w2)
        words[i + U64(48)] = np.uint32(w3)


@compiled
def fill_words(words: Any, place: Any, purpose: Any, first: int, count: int) -> int:
    """Makes words number first, first + 1, ... of a purpose available; returns where in `words` the first one is.

    Numbers run through tiles of 64 words, and on into the next block after 2**26 words. `words` must hold
    count + 2 * 64.
    """
    at = 0
    for tile in range(first >> 6, (first + count + 63) >> 6):
        fill_tile(words, at, place, purpose, tile)
        at += 64
    return first & 63


@compiled
def further_word(place: Any, purpose: Any, number: int, digit: int) -> Any:
    """The `digit`-th further 32 bits of a numbered word, for a comparison that the first 32 left open."""
    kind = _TIES * (purpose + U64(1)) + U64((digit - 1) >> 2)
    words = group_of_words(place, kind, U64(number >> GROUP_BITS), U64(number & GROUP_MASK))
    return _lane(words, (digit - 1) & 3)


@compiled
def _lane(words: Any, lane: int) -> Any:
    return words[0] if lane == 0 else words[1] if lane == 1 else words[2] if lane == 2 else words[3]
