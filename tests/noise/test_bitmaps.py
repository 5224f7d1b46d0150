"""Sets of small numbers as bits of words, against Python's sets."""

import numba
import numpy as np
import pytest

from flipproof.base.compiled import lowest_bit
from flipproof.noise.sampling.block_kernels import clear_bits, write_bits

BORDERS = {0, 1, 31, 32, 62, 63, 64, 65, 127, 128, 191, 192, 255}
GARBAGE = -7


@numba.njit
def lowest(bits):
    return lowest_bit(bits)


def words_of(members):
    """Four words with the bits of the members."""
    return np.array([sum(1 << (m & 63) for m in members if m >> 6 == i) for i in range(4)], np.uint64)


def members_of(bitmap):
    return {64 * i + j for i, word in enumerate(bitmap.tolist()) for j in range(64) if word >> j & 1}


def written(members, begin, stop, size, at=0, dtype=np.int64):
    """What is written for a set from `begin` on, after it what else was touched; all must be cleared below `size`."""
    bitmap, out = words_of(members), np.full(300, GARBAGE, dtype)
    end = write_bits(out, at, begin, stop, size, bitmap)
    assert all(member >= size for member in members_of(bitmap))
    assert (out[:at] == GARBAGE).all()
    assert (out[end + 2 :] == GARBAGE).all()
    return out[at:end].tolist()


@pytest.mark.parametrize("place", range(64))
def test_the_lowest_bit(place):
    for above in (0, 2**64 - 1, 2**63, 0x5555555555555555):
        bits = (above << (place + 1) | 1 << place) & (2**64 - 1)
        assert lowest(np.uint64(bits)) == place


def test_words_with_certain_bits_are_cleared():
    bitmap = words_of(BORDERS)
    clear_bits(bitmap, np.array([63, 130, 128, 0, 255]), 4)
    assert members_of(bitmap) == {member for member in BORDERS if member >> 6 in (1, 3)}
    clear_bits(bitmap, np.array([64, 255]), 0)
    assert members_of(bitmap) == {member for member in BORDERS if member >> 6 in (1, 3)}
    clear_bits(bitmap, np.array([64, 255]), 2)
    assert not bitmap.any()


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("begin", [0, 1000, 2**31 - 300])
@pytest.mark.parametrize("members", [set(), {0}, {63}, {64}, {0, 63, 64}, BORDERS, set(range(256)), {5, 6, 7, 8}])
def test_bits_are_written_in_order(members, begin, dtype):
    expected = [begin + member for member in sorted(members)]
    assert written(members, begin, begin + 256, 256, at=3, dtype=dtype) == expected


@pytest.mark.parametrize("inside", [0, 1, 62, 63, 64, 65, 127, 128, 129, 192, 254, 255])
@pytest.mark.parametrize("members", [set(), BORDERS, set(range(256))])
def test_bits_past_the_end_are_dropped_and_cleared(members, inside):
    assert written(members, 10, 10 + inside, 256) == [10 + member for member in sorted(members) if member < inside]


@pytest.mark.parametrize("size", [1, 63, 64, 65, 100, 191])
def test_bits_of_blocks_that_end_inside_a_word(size):
    members = {member for member in range(256) if member < size}
    for inside in {0, 1, size // 2, size - 1, size}:
        assert written(members, 0, inside, size) == list(range(inside))


def test_bits_of_random_sets(rng):
    for density in (0.003, 0.02, 0.1, 0.9):
        for inside in rng.integers(0, 257, 20).tolist():
            members = set(np.flatnonzero(rng.random(256) < density).tolist())
            expected = [77 + member for member in sorted(members) if member < inside]
            assert written(members, 77, 77 + inside, 256) == expected
