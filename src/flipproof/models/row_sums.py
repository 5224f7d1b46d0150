"""Sums of rows of a table for compiled loops, kept in vector registers while they are summed.

Written in the compiler's own language, because compiled Python would carry every sum through memory. Sums are made in a
fixed order, whatever the width of the machine's registers, and products are rounded before they are added: the result is
the same on every processor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from flipproof.theory.compiled import inlined

LANES = 8
"""Tables are padded to this many columns, or a multiple of it."""
_INT, _LONG, _FLOAT, _BYTE = ir.IntType(32), ir.IntType(64), ir.FloatType(), ir.IntType(8)
_LONGEST_STRIP = 8


class _Summing:
    """Builds the loop that adds numbered rows of `strip` vectors to a sum; with `weighted`, floats times weights.

    The sum of a narrow row is made in several chains, each of every so many rows, so that one addition need not wait
    for another.
    """

    def __init__(self, strip: int, weighted: bool) -> None:
        self._strip, self._weighted = strip, weighted
        self._chains = max(1, min(4, _LONGEST_STRIP // strip))
        self._vector = ir.VectorType(_FLOAT if weighted else _INT, LANES)

    def __call__(self, context: Any, builder: Any, _: Any, arguments: Sequence[Any]) -> Any:
        table, pitch, numbers, count, weights, out = arguments
        self._builder, self._pitch = builder, pitch
        self._table = builder.inttoptr(table, _BYTE.as_pointer())
        self._numbers = builder.inttoptr(numbers, _INT.as_pointer())
        self._weights = builder.inttoptr(weights, _FLOAT.as_pointer())
        places = [builder.gep(builder.inttoptr(out, self._vector.as_pointer()), [_LONG(v)]) for v in range(self._strip)]
        zero = ir.Constant(self._vector, [0.0 if self._weighted else 0] * LANES)
        sums = [self._loaded(place) for place in places] + [zero] * (self._strip * (self._chains - 1))
        whole = builder.sub(count, builder.urem(count, _LONG(self._chains)))
        sums = self._loop(_LONG(0), whole, self._chains, sums)
        sums = self._loop(whole, count, 1, sums) if self._chains > 1 else sums
        while len(sums) > self._strip:
            half = len(sums) // 2
            sums = [self._added(one, other) for one, other in zip(sums[:half], sums[half:], strict=True)]
        for place, total in zip(places, sums, strict=True):
            builder.store(total, place, align=4)
        return context.get_dummy_value()

    def _loop(self, first: Any, stop: Any, step: int, sums: list[Any]) -> list[Any]:
        """Adds rows first, first + 1, ... to chain after chain, `step` of them each time."""
        builder, before = self._builder, self._builder.block
        body, after = builder.append_basic_block("rows"), builder.append_basic_block("summed")
        builder.cbranch(builder.icmp_unsigned("<", first, stop), body, after)
        builder.position_at_end(body)
        k, totals = builder.phi(_LONG), [builder.phi(self._vector) for _ in sums]
        new = list(totals)
        for chain in range(step):
            for v, part in enumerate(self._row(builder.add(k, _LONG(chain)))):
                new[chain * self._strip + v] = self._added(totals[chain * self._strip + v], part)
        following = builder.add(k, _LONG(step))
        for phi, begin, later in [(k, first, following), *zip(totals, sums, new, strict=True)]:
            phi.add_incoming(begin, before)
            phi.add_incoming(later, body)
        builder.cbranch(builder.icmp_unsigned("<", following, stop), body, after)
        builder.position_at_end(after)
        results = [builder.phi(self._vector) for _ in sums]
        for phi, begin, later in zip(results, sums, new, strict=True):
            phi.add_incoming(begin, before)
            phi.add_incoming(later, body)
        return results

    def _row(self, k: Any) -> list[Any]:
        """The vectors of the k-th numbered row, times its weight."""
        builder = self._builder
        number = builder.zext(builder.load(builder.gep(self._numbers, [k])), _LONG)
        begin = builder.gep(self._table, [builder.mul(number, self._pitch)])
        row = builder.bitcast(begin, self._vector.as_pointer())
        vectors = [self._loaded(builder.gep(row, [_LONG(v)])) for v in range(self._strip)]
        if not self._weighted:
            return vectors
        nothing = ir.Constant(self._vector, ir.Undefined)
        lane = builder.insert_element(nothing, builder.load(builder.gep(self._weights, [k])), _INT(0))
        weight = builder.shuffle_vector(lane, nothing, ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES))
        return [builder.fmul(weight, vector) for vector in vectors]

    def _loaded(self, place: Any) -> Any:
        return self._builder.load(place, align=4)

    def _added(self, one: Any, other: Any) -> Any:
        return self._builder.fadd(one, other) if self._weighted else self._builder.add(one, other)


def _summing(strip: int, weighted: bool) -> Any:
    """The loop as a function of addresses: of the table, bytes per row, numbers, how many, weights, and the sum."""
    signature = types.void(types.uintp, types.uint64, types.uintp, types.uint64, types.uintp, types.uintp)

    @intrinsic  # type: ignore[untyped-decorator]
    def strip_sum(_: Any, table: Any, pitch: Any, numbers: Any, count: Any, weights: Any, out: Any) -> Any:
        return signature, _Summing(strip, weighted)

    return strip_sum


_rows_8, _rows_4, _rows_2, _rows_1 = (_summing(strip, weighted=False) for strip in (8, 4, 2, 1))
_weighted_8, _weighted_4, _weighted_2, _weighted_1 = (_summing(strip, weighted=True) for strip in (8, 4, 2, 1))


@inlined
def add_rows(sums: Any, table: Any, numbers: Any, count: Any) -> None:
    """Adds table[numbers[k]] for all k < count to `sums`: int32, with rows of a multiple of eight numbers."""
    width, pitch, n = table.shape[1], np.uint64(4 * table.shape[1]), np.uint64(count)
    none, at, of, to = np.uint64(0), table.ctypes.data, numbers.ctypes.data, sums.ctypes.data
    while width >= 64:
        _rows_8(at, pitch, of, n, none, to)
        at, to, width = at + np.uint64(256), to + np.uint64(256), width - 64
    if width & 32:
        _rows_4(at, pitch, of, n, none, to)
        at, to = at + np.uint64(128), to + np.uint64(128)
    if width & 16:
        _rows_2(at, pitch, of, n, none, to)
        at, to = at + np.uint64(64), to + np.uint64(64)
    if width & 8:
        _rows_1(at, pitch, of, n, none, to)


@inlined
def add_weighted_rows(sums: Any, table: Any, numbers: Any, weights: Any, first: Any, last: Any) -> None:
    """Adds weights[k] * table[numbers[k]] for k from first to last to `sums`: float32, likewise."""
    width, pitch, n = table.shape[1], np.uint64(4 * table.shape[1]), np.uint64(last - first)
    skip = np.uint64(4 * first)
    at, of, by, to = table.ctypes.data, numbers.ctypes.data + skip, weights.ctypes.data + skip, sums.ctypes.data
    while width >= 64:
        _weighted_8(at, pitch, of, n, by, to)
        at, to, width = at + np.uint64(256), to + np.uint64(256), width - 64
    if width & 32:
        _weighted_4(at, pitch, of, n, by, to)
        at, to = at + np.uint64(128), to + np.uint64(128)
    if width & 16:
        _weighted_2(at, pitch, of, n, by, to)
        at, to = at + np.uint64(64), to + np.uint64(64)
    if width & 8:
        _weighted_1(at, pitch, of, n, by, to)


def padded(table: Any) -> Any:
    """A float32 table (or one row) with zero columns up to a multiple of eight."""
    array = np.asarray(table, dtype=np.float32)
    more = -array.shape[-1] % LANES
    return np.ascontiguousarray(np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, more)]))
