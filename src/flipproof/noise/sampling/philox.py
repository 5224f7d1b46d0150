"""The generator of random words: Philox4x32-10, which is counter-based (Salmon et al., SC 2011).

The module `counter` documents the contents of its counter.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from flipproof.base.compiled import compiled, data_address, inlined
from flipproof.noise.sampling.counter import GROUP_BITS, GROUP_MASK, TIES, TILE_BITS, TILE_GROUP_BITS, U64

LOW = U64(0xFFFFFFFF)
_M0, _M1 = U64(0xD2511F53), U64(0xCD9E8D57)
_W0, _W1 = U64(0x9E3779B9), U64(0xBB67AE85)
_32, _30, _24, _10, _8 = U64(32), U64(30), U64(24), U64(10), U64(8)


@inlined
def _round(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    # Only the low halves count. Masking them at the multiplication costs nothing.
    p0, p1 = _M0 * (c0 & LOW), _M1 * (c2 & LOW)
    return (p1 >> _32) ^ c1 ^ k0, p1, (p0 >> _32) ^ c3 ^ k1, p0


@inlined
def _two_rounds(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0 + _W0, k1 + _W1)
    return c0, c1, c2, c3, k0 + _W0 + _W0, k1 + _W1 + _W1


@inlined
def philox(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    """Ten rounds on uint64 numbers that hold 32 bits. There is no loop, so that callers' loops are vectorised."""
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


class _Tiles:
    """Builds the instructions that write one or two tiles, with their groups side by side in vector registers.

    A compiler rarely finds these instructions, and writing one tile at a time leaves the processor idle.
    """

    def __init__(self, tiles: int) -> None:
        self._lanes = 8 * tiles
        self._vector = ir.VectorType(ir.IntType(64), self._lanes)

    def __call__(self, context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        out, row, sample, k0, k1, *tiles = arguments  # `tiles`: first and last word of each tile's first counter
        steps = ir.Constant(self._vector, [i % 8 for i in range(self._lanes)])
        c0 = builder.add(self._each(builder, tiles[0::2]), steps)
        c1, c2 = self._each(builder, [row]), self._each(builder, [sample])
        c3 = self._each(builder, tiles[1::2])
        for number in range(10):
            keys = (builder.add(k, ir.IntType(64)(int(w) * number)) for k, w in ((k0, _W0), (k1, _W1)))
            c0, c1, c2, c3 = self._round(builder, (c0, c1, c2, c3), [self._each(builder, [key]) for key in keys])
        self._store(builder, out, (c0, c1, c2, c3))
        return context.get_dummy_value()

    def _round(self, builder: Any, counter: Any, keys: Any) -> Any:
        c0, c1, c2, c3 = counter
        low, shift = self._constant(2**32 - 1), self._constant(32)
        p0 = builder.mul(builder.and_(c0, low), self._constant(int(_M0)))
        p1 = builder.mul(builder.and_(c2, low), self._constant(int(_M1)))
        upper = [
            builder.xor(builder.xor(builder.lshr(p, shift), c), k) for p, c, k in ((p1, c1, keys[0]), (p0, c3, keys[1]))
        ]
        return upper[0], p1, upper[1], p0

    def _constant(self, value: int) -> Any:
        return ir.Constant(self._vector, [value] * self._lanes)

    def _each(self, builder: Any, values: Any) -> Any:
        """A vector that repeats one number for all groups, or one number per tile for the tile's groups."""
        nothing, vector = ir.Constant(self._vector, ir.Undefined), ir.Constant(self._vector, ir.Undefined)
        for i, value in enumerate(values):
            vector = builder.insert_element(vector, value, ir.IntType(32)(i))
        which = [i // 8 if len(values) > 1 else 0 for i in range(self._lanes)]
        return builder.shuffle_vector(vector, nothing, ir.Constant(ir.VectorType(ir.IntType(32), self._lanes), which))

    def _store(self, builder: Any, out: Any, counter: Any) -> None:
        eight = ir.VectorType(ir.IntType(32), 8)
        place = builder.inttoptr(out, eight.as_pointer())
        for lane, words in enumerate(counter):
            short = builder.trunc(words, ir.VectorType(ir.IntType(32), self._lanes))
            for tile in range(self._lanes // 8):
                picked = ir.Constant(eight, list(range(8 * tile, 8 * tile + 8)))
                part = builder.shuffle_vector(short, short, picked)
                builder.store(part, builder.gep(place, [ir.IntType(64)(4 * tile + lane)]), align=4)


def _one_tile(_: Any, out: Any, row: Any, sample: Any, k0: Any, k1: Any, a0: Any, a3: Any) -> Any:
    return types.void(*[types.uint64] * 7), _Tiles(1)


def _two_tiles(_: Any, out: Any, row: Any, sample: Any, k0: Any, k1: Any, a0: Any, a3: Any, b0: Any, b3: Any) -> Any:
    return types.void(*[types.uint64] * 9), _Tiles(2)


_write_tile: Any = intrinsic(_one_tile)
_write_tiles: Any = intrinsic(_two_tiles)


@inlined
def fill_tile(words: Any, at: Any, place: Any, purpose: Any, tile: Any) -> None:
    """Writes the 32 words of a tile: eight groups of four words, stored lane by lane."""
    _fill_tile_at(data_address(words) + U64(4 * at), place, purpose, tile)


@compiled
def _fill_tile_at(address: Any, place: Any, purpose: Any, tile: Any) -> None:
    """Writes a tile at an address. Inlining would recompile it at every call and save hardly any time."""
    c0, c1, c2, c3, k0, k1 = _tile_counter(place, purpose, tile)
    _write_tile(address, c1, c2, k0, k1, c0, c3)


@inlined
def fill_tiles(words: Any, at: Any, place: Any, purpose: Any, tile: Any, other_purpose: Any, other_tile: Any) -> None:
    """Writes the 64 words of two tiles in little more time than one tile takes."""
    c0, c1, c2, c3, k0, k1 = _tile_counter(place, purpose, tile)
    d0, _, _, d3, _, _ = _tile_counter(place, other_purpose, other_tile)
    _write_tiles(data_address(words) + U64(4 * at), c1, c2, k0, k1, c0, c3, d0, d3)


@inlined
def _tile_counter(place: Any, purpose: Any, tile: Any) -> Any:
    """The counter of the first group of a tile, and the key."""
    return counter_and_key(place, purpose, U64(tile >> TILE_BITS), U64((tile << TILE_GROUP_BITS) & GROUP_MASK))


@compiled
def fill_words(words: Any, place: Any, purpose: Any, first: int, count: int) -> int:
    """Writes the words numbered first, first + 1, ... of a purpose; returns the index in `words` of the first one.

    Numbers run through tiles of 32 words, and continue in the next block after 2**26 words. `words` must have room for
    count + 2 * 64 words.
    """
    at = 0
    for tile in range((first >> 6) << 1, (first + count + 31) >> 5, 2):
        fill_tiles(words, at, place, purpose, tile, purpose, tile + 1)
        at += 64
    return first & 63


@compiled
def further_word(place: Any, purpose: Any, number: int, digit: int) -> Any:
    """The `digit`-th further 32 bits of a numbered word, for a comparison that the first 32 bits left undecided."""
    kind = TIES * (purpose + U64(1)) + U64((digit - 1) >> 2)
    words = group_of_words(place, kind, U64(number >> GROUP_BITS), U64(number & GROUP_MASK))
    return _lane(words, (digit - 1) & 3)


@compiled
def _lane(words: Any, lane: int) -> Any:
    return words[0] if lane == 0 else words[1] if lane == 1 else words[2] if lane == 2 else words[3]
