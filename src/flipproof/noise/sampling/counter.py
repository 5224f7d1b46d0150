"""Where random words are used: what the counter of the generator holds, and how far its numbers reach.

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

U64 = np.uint64

# What words are used for. Words of different purposes are never the same.
NONZEROS = U64(0)
"""Does a non-zero flip? Its place among the non-zeros of the row says which bits of which tile of words decide."""
ENTRIES = U64(1)
"""Does an entry flip? Word number = its place in the row."""
POSITIONS = U64(2)
"""How many zeros of a block flip (its first four words), and which."""
VALUES = U64(3)
"""Which other value a flipped entry takes."""
SUBSETS = U64(4)
"""Is an entry one of those that an ablation keeps? The next word decides, or the one after it."""
FRACTIONS = U64(5)
"""A number between zero and one: words 2 i and 2 i + 1 make that of entry i."""
TIES = U64(16)
"""First of the nine purposes of the further words of a non-zero; those of an entry follow at twice the number."""

SAMPLE_LIMIT = 2**40
ROW_LIMIT = 2**32
BLOCK_LIMIT = 2**22
GROUP_BITS = 24
GROUP_MASK = 2**GROUP_BITS - 1
TILE_GROUP_BITS = 3
"""A tile has 2**3 groups of four words."""
TILE_BITS = GROUP_BITS - TILE_GROUP_BITS
"""A block has 2**TILE_BITS tiles: those of block b have the numbers from b << TILE_BITS on."""
WORD_LIMIT = 2 ** (GROUP_BITS + 22)
"""How many numbered words a row has, so that each can have further words of its own."""


class Place(NamedTuple):
    """Where words are used: everything in the counter but group, purpose and block."""

    seed: Any
    role: Any
    sample: Any
    part: Any
    row: Any


class StreamWords(NamedTuple):
    """What all places of one draw have in common."""

    seed: Any
    role: Any
    part: Any
