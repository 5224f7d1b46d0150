"""Exact sums of rows of a table: compiled loops sum integer weights in vector registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from flipproof.base.compiled import inlined

_LARGEST = 2**31 - 1
_COARSEST = 2.0**-17
"""The coarsest step, as a share of the typical weight of a unit: coarser steps would show in sums."""


def fixed_point(weights: Any) -> tuple[Any, Any] | str:
    """Integers [inputs, units] and a step per unit, a power of two: rounded weights are integers times steps.

    Weights must be finite. Steps are as fine as possible while no sum of rows, not even the sum of all rows, overflows
    32 bits. For a bag of a few thousand words this is about as fine as the rounding of float32 in the sum. If the steps
    would be too coarse, the function returns the reason instead.

    Example:
        >>> table, steps = fixed_point([[0.5], [-0.25], [0.125]])
        >>> (table * steps)[:, 0].tolist()
        [0.5, -0.25, 0.125]
    """
    table = padded(weights).astype(np.float64)
    most = np.maximum(np.maximum(table, 0).sum(axis=0), np.maximum(-table, 0).sum(axis=0))
    # Rounding may add half a step for every row.
    exponent = np.floor(np.log2((_LARGEST - table.shape[0]) / np.where(most > 0, most, 1.0)))
    exponent = np.clip(exponent, -100, 100)
    integers = np.rint(np.ldexp(table, exponent.astype(np.int64)))
    if (np.maximum(np.maximum(integers, 0).sum(axis=0), np.maximum(-integers, 0).sum(axis=0)) > _LARGEST).any():
        return "sums of the weights of the first layer do not fit into 32 bits"
    if (np.ldexp(1.0, -exponent.astype(np.int64)) > _COARSEST * _typical(np.abs(table)))[most > 0].any():
        return "the weights of the first layer are too many, or too different, for exact sums of 32 bits"
    return np.ascontiguousarray(integers.astype(np.int32)), np.ldexp(np.float32(1), -exponent.astype(np.int64))


def _typical(sizes: Any) -> Any:
    """The root mean square of the weights of each unit, without zeros and the largest hundredth."""
    rest = np.sort(sizes, axis=0)[: len(sizes) - max(1, len(sizes) // 100)]
    typical = np.sqrt((rest**2).sum(axis=0) / np.maximum(1, (rest > 0).sum(axis=0)))
    return np.where(typical > 0, typical, sizes.max(axis=0, initial=0))


LANES = 8
"""Tables are padded to a multiple of this number of columns."""
_INT, _LONG, _FLOAT, _BYTE = ir.IntType(32), ir.IntType(64), ir.FloatType(), ir.IntType(8)
_LONGEST_STRIP = 8


class _Summing:
    """Builds the loop that adds numbered rows of `strip` vectors to a sum; with `weighted`, floats times weights.

    Without `numbered`, it adds the first rows of the table.

    Sums of narrow rows are split into several interleaved chains, so that an addition need not wait for the previous
    one.
    """

    def __init__(self, strip: int, weighted: bool, numbered: bool) -> None:
        self._strip, self._weighted, self._numbered = strip, weighted, numbered
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
        number = builder.zext(builder.load(builder.gep(self._numbers, [k])), _LONG) if self._numbered else k
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


def _summing(strip: int, weighted: bool, numbered: bool = True) -> Any:
    """The loop as a function of the table's address, bytes per row, numbers, their count, weights and the sum."""
    signature = types.void(types.uintp, types.uint64, types.uintp, types.uint64, types.uintp, types.uintp)

    def strip_sum(_: Any, table: Any, pitch: Any, numbers: Any, count: Any, weights: Any, out: Any) -> Any:
        return signature, _Summing(strip, weighted, numbered)

    return intrinsic(strip_sum)


_rows_8, _rows_4, _rows_2, _rows_1 = (_summing(strip, weighted=False) for strip in (8, 4, 2, 1))
_weighted_8, _weighted_4, _weighted_2, _weighted_1 = (_summing(strip, weighted=True) for strip in (8, 4, 2, 1))
_first_1 = _summing(1, weighted=True, numbered=False)


@inlined
def add_rows(sums: Any, table: Any, width: Any, numbers: Any, count: Any) -> None:
    """Adds rows number numbers[k], k < count, of a table to `sums`; all are addresses of int32 or uint32 numbers.

    Rows have `width` numbers, a multiple of eight.
    """
    pitch, none, n = np.uint64(4 * width), np.uint64(0), np.uint64(count)
    while width >= 64:
        _rows_8(table, pitch, numbers, n, none, sums)
        table, sums, width = table + np.uint64(256), sums + np.uint64(256), width - 64
    if width & 32:
        _rows_4(table, pitch, numbers, n, none, sums)
        table, sums = table + np.uint64(128), sums + np.uint64(128)
    if width & 16:
        _rows_2(table, pitch, numbers, n, none, sums)
        table, sums = table + np.uint64(64), sums + np.uint64(64)
    if width & 8:
        _rows_1(table, pitch, numbers, n, none, sums)


@inlined
def add_weighted_rows(sums: Any, table: Any, width: Any, numbers: Any, weights: Any, count: Any) -> None:
    """Adds weights[k] times row number numbers[k], k < count, of a float32 table to `sums`; all are addresses.

    Rows have `width` numbers, a multiple of eight.
    """
    pitch, n = np.uint64(4 * width), np.uint64(count)
    while width >= 64:
        _weighted_8(table, pitch, numbers, n, weights, sums)
        table, sums, width = table + np.uint64(256), sums + np.uint64(256), width - 64
    if width & 32:
        _weighted_4(table, pitch, numbers, n, weights, sums)
        table, sums = table + np.uint64(128), sums + np.uint64(128)
    if width & 16:
        _weighted_2(table, pitch, numbers, n, weights, sums)
        table, sums = table + np.uint64(64), sums + np.uint64(64)
    if width & 8:
        _weighted_1(table, pitch, numbers, n, weights, sums)


@inlined
def add_first_rows(sums: Any, table: Any, width: Any, weights: Any, count: Any) -> None:
    """Adds weights[k] times row k, k < count, of a float32 table to `sums`: a vector times a matrix, by addresses.

    Rows have `width` numbers, a multiple of eight.
    """
    pitch, none, n = np.uint64(4 * width), np.uint64(0), np.uint64(count)
    for _ in range(width >> 3):
        _first_1(table, pitch, none, n, weights, sums)
        table, sums = table + np.uint64(32), sums + np.uint64(32)


def in_large_pages(table: Any) -> Any:
    """A copy of a table in memory where the system may use large pages, which speeds up access to random rows."""
    page = 2**21
    buffer = np.empty(max(table.nbytes, 2 * page) + page, np.uint8)  # numpy requests large pages from 4 MiB on
    begin = -buffer.ctypes.data % page
    copy = buffer[begin : begin + table.nbytes].view(table.dtype).reshape(table.shape)
    copy[...] = table
    return copy


def padded(table: Any) -> Any:
    """A float32 table (or one row) with zero columns up to a multiple of eight."""
    array = np.asarray(table, dtype=np.float32)
    more = -array.shape[-1] % LANES
    return np.ascontiguousarray(np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, more)]))
