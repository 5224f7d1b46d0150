"""Sets of small numbers as bits of 64-bit words, for compiled loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from flipproof.base.compiled import inlined

U64 = np.uint64
ONE, SIX, SIXTY_THREE = U64(1), U64(6), U64(63)


def _lowest_bit(_: Any, bits: Any) -> Any:
    def instruction(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), instruction


lowest_bit: Any = intrinsic(_lowest_bit)
"""The place of the lowest set bit of a 64-bit word; undefined if no bit is set. For compiled loops only."""


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
