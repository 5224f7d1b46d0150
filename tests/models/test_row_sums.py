"""Sums of rows by raw addresses: against the documented order, step by step, and nothing else is written."""

import numpy as np
import pytest
from numba import njit

from flipproof.base.compiled import data_address
from flipproof.models.fused.row_sums import (
    LANES,
    add_first_rows,
    add_rows,
    add_weighted_rows,
    in_large_pages,
    padded,
)

WIDTHS = [8, 16, 24, 40, 64, 72, 128, 200]
COUNTS = [0, 1, 2, 3, 4, 5, 63]
ROWS, GUARD = 9, 16


@njit
def added(buffer, place, table, width, numbers, count):
    """Adds to buffer[place : place + width]."""
    add_rows(data_address(buffer) + np.uint64(4 * place), data_address(table), width, data_address(numbers), count)


@njit
def weighted_added(buffer, place, table, width, numbers, weights, count):
    add_weighted_rows(
        data_address(buffer) + np.uint64(4 * place),
        data_address(table),
        width,
        data_address(numbers),
        data_address(weights),
        count,
    )


@njit
def first_added(buffer, place, table, width, weights, count):
    add_first_rows(
        data_address(buffer) + np.uint64(4 * place), data_address(table), width, data_address(weights), count
    )


@njit
def place_of(array):
    return data_address(array)


def guarded(sums):
    """The sums with numbers around them that must stay as they are."""
    around = np.full(sums.size + 2 * GUARD, 77, sums.dtype)
    around[GUARD:-GUARD] = sums
    return around


def check_guards(buffer, width):
    assert (buffer[:GUARD] == 77).all()
    assert (buffer[GUARD + width :] == 77).all()


def numbers_of(rng, count):
    """Row numbers, some of them more than once, and one that is no row after the last: it must not be looked at."""
    return np.append(rng.integers(0, ROWS, count), 2**32 - 1).astype(np.uint32)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", COUNTS)
def test_integers_are_summed_exactly(width, count, rng):
    largest = (2**31 - 1) // (count + 1)
    table = rng.integers(-largest, largest, (ROWS, width), endpoint=True).astype(np.int32)
    start = rng.integers(-largest, largest, width, endpoint=True).astype(np.int32)
    numbers, buffer = numbers_of(rng, count), guarded(start)
    before = table.copy()
    added(buffer, GUARD, table, width, numbers, count)
    expected = [int(s) + sum(int(table[n, c]) for n in numbers[:count]) for c, s in enumerate(start)]
    assert buffer[GUARD:-GUARD].tolist() == expected
    check_guards(buffer, width)
    assert (table == before).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_reach_the_largest_integers(sign):
    """Half of the way at once and the rest in single steps: the sum is the largest integer and no more."""
    last = 2**31 - 1 if sign > 0 else -(2**31)
    table = np.zeros((64, 24), np.int32)
    table[0], table[1:] = last - sign * 63, sign
    buffer = guarded(np.zeros(24, np.int32))
    added(buffer, GUARD, table, 24, np.arange(64, dtype=np.uint32), 64)
    assert (buffer[GUARD:-GUARD] == last).all()
    check_guards(buffer, 24)


def strips(width):
    """First column, width and number of chains of the strips of a row."""
    first = 0
    for columns, chains in [(64, 1)] * (width // 64) + [(32, 2), (16, 4), (8, 4)]:
        if columns == 64 or width & columns:
            yield slice(first, first + columns), chains
            first += columns
    assert first == width


def in_order(start, table, numbers, weights, strips):
    """The documented order: chains of every so many rows, those left over to the first, chains added in halves."""
    total = start.copy()
    for columns, chains in strips:
        sums = [start[columns], *(np.zeros_like(start[columns]) for _ in range(chains - 1))]
        whole = len(numbers) - len(numbers) % chains
        for k, (number, weight) in enumerate(zip(numbers, weights, strict=True)):
            product = np.multiply(weight, table[number, columns], dtype=np.float32)  # rounded by itself
            chain = k % chains if k < whole else 0
            sums[chain] = np.add(sums[chain], product, dtype=np.float32)
        while len(sums) > 1:
            half = len(sums) // 2
            sums = [np.add(a, b, dtype=np.float32) for a, b in zip(sums[:half], sums[half:], strict=True)]
        total[columns] = sums[0]
    return total


def floats(rng, *shape):
    """Of very different sizes, so that every other order, and products that are not rounded, would show."""
    return (rng.normal(size=shape) * 2.0 ** rng.integers(-12, 12, shape)).astype(np.float32)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", COUNTS)
def test_floats_are_summed_in_the_documented_order(width, count, rng):
    table, start, weights = (floats(rng, *shape) for shape in ((ROWS, width), (width,), (count + 1,)))
    numbers = numbers_of(rng, count)
    weights[-1] = np.nan  # must not be looked at
    buffer = guarded(start)
    weighted_added(buffer, GUARD, table, width, numbers, weights, count)
    expected = in_order(start, table, numbers[:count], weights[:count], strips(width))
    assert buffer[GUARD:-GUARD].tobytes() == expected.tobytes()
    check_guards(buffer, width)
    exact = start + weights[:count].astype(np.float64) @ table[numbers[:count]]
    terms = np.abs(start) + np.abs(weights[:count].astype(np.float64)) @ np.abs(table[numbers[:count]])
    assert (np.abs(buffer[GUARD:-GUARD] - exact) <= 2**-24 * (count + 4) * terms).all()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", COUNTS)
def test_a_vector_times_a_matrix(width, count, rng):
    """Eight columns at a time, in four chains."""
    table, start, weights = (floats(rng, *shape) for shape in ((count + 1, width), (width,), (count + 1,)))
    table[-1], weights[-1] = np.nan, np.nan
    buffer = guarded(start)
    first_added(buffer, GUARD, table, width, weights, count)
    narrow = [(slice(first, first + 8), 4) for first in range(0, width, 8)]
    assert buffer[GUARD:-GUARD].tobytes() == in_order(start, table, range(count), weights[:count], narrow).tobytes()
    check_guards(buffer, width)


def test_order_matters_to_the_check():
    """The check above could tell one chain from four."""
    table = np.array([[1.0], [2.0**-24], [2.0**-24]], np.float32).repeat(72, axis=1)
    total = in_order(np.zeros(72, np.float32), table, [0, 1, 2, 1], np.ones(4, np.float32), strips(72))
    assert total[0] == 1 < total[64]


def test_addresses_are_those_of_the_first_number():
    table = np.zeros((4, 24), np.float32)
    assert place_of(table) == table.ctypes.data
    assert place_of(table[1:]) == table.ctypes.data + 24 * 4


@pytest.mark.parametrize("columns", [0, 1, 7, 8, 9, 64, 65])
@pytest.mark.parametrize("order", ["C", "F"])
def test_padding_is_zeros_in_an_array_of_its_own(columns, order, rng):
    table = np.asarray(rng.normal(size=(5, columns)).astype(np.float32), order=order)
    wide = padded(table)
    assert wide.dtype == np.float32
    assert wide.flags.c_contiguous
    assert wide.shape == (5, -(-columns // LANES) * LANES)
    assert (wide[:, :columns] == table).all()
    assert not wide[:, columns:].any()
    assert not np.shares_memory(wide, table)
    row = padded(list(range(columns)))
    assert row.tolist() == [*range(columns), *[0] * (-columns % LANES)]


@pytest.mark.parametrize("shape", [(0, 8), (3, 0), (1, 8), (2879, 64), (70_000, 16)])
def test_large_pages_hold_the_same_table(shape, rng):
    table = rng.integers(-9, 9, shape).astype(np.int32)
    table.setflags(write=False)
    copy = in_large_pages(table)
    assert (copy.dtype, copy.shape) == (table.dtype, table.shape)
    assert copy.flags.c_contiguous
    assert (copy == table).all()
    assert copy.ctypes.data % 2**21 == 0 or not copy.size
    assert not np.shares_memory(copy, table)
