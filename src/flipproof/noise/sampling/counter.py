"""How random words are addressed: the contents of the generator's counter, and the limits of its numbers.

A word is a pure function of the seed and of the place where it is used, so any part of any noisy sample can be drawn
by itself, in any order, on any machine. The 128-bit counter holds, injectively,

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
ONE = U64(1)

# The purposes of words. Different purposes never share a word.
NONZEROS = U64(0)
"""Whether a non-zero flips. Its place among the row's non-zeros selects the tile of words and the bits that decide."""
ENTRIES = U64(1)
"""Whether an entry flips. The number of the word is the entry's place in the row."""
POSITIONS = U64(2)
"""The number of zeros of a block that flip (its first four words), and which zeros flip."""
VALUES = U64(3)
"""Which other value a flipped entry takes."""
SUBSETS = U64(4)
"""Whether an ablation keeps an entry. The next word decides; if it is rejected, the one after it."""
FRACTIONS = U64(5)
"""A number between zero and one: words 2 i and 2 i + 1 form the number of entry i."""
TIES = U64(16)
"""The first of nine purposes for further words of a non-zero; those for an entry start at twice this number."""

SAMPLE_LIMIT = 2**40
ROW_LIMIT = 2**32
BLOCK_LIMIT = 2**22
GROUP_BITS = 24
GROUP_MASK = 2**GROUP_BITS - 1
TILE_GROUP_BITS = 3
"""A tile has 2**3 groups of four words."""
TILE_BITS = GROUP_BITS - TILE_GROUP_BITS
"""A block has 2**TILE_BITS tiles: the tiles of block b are numbered from b << TILE_BITS."""
WORD_LIMIT = 2 ** (GROUP_BITS + 22)
"""The largest number of numbered words in a row for which each can have separate further words."""


class Place(NamedTuple):
    """The place where words are used: everything in the counter except group, purpose and block."""

    seed: Any
    role: Any
    sample: Any
    part: Any
    row: Any


class StreamWords(NamedTuple):
    """The fields that all places of one draw share."""

    seed: Any
    role: Any
    part: Any
