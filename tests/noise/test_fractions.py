"""Uniform numbers for Gaussian noise: strictly between 0 and 1, so that every one of them has a normal quantile."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtri

from chi_square import ENOUGH, p_value
from flipproof.noise.sampling.value_kernels import fraction_of

ONES = 2**32 - 1
UNIT = Fraction(1, 2**53)


def fraction(high, low):
    return fraction_of(np.uint32(high), np.uint32(low))


def test_the_ends_are_not_reached():
    assert fraction(0, 0) == 2.0**-54
    assert fraction(ONES, ONES) == 1.0 - 2.0**-53  # was 1.0, whose quantile is infinite
    assert math.isfinite(ndtri(fraction(0, 0)))
    assert math.isfinite(ndtri(fraction(ONES, ONES)))


@pytest.mark.parametrize("low", [0, 2**11, ONES - 2**11, ONES])
@pytest.mark.parametrize("high", [0, 1, 2**31 - 1, 2**31, ONES - 1, ONES])
def test_every_number_is_in_the_interval_of_its_bits_or_at_its_end(high, low):
    bits = (high << 21) | (low >> 11)
    assert bits * UNIT <= Fraction(fraction(high, low)) <= (bits + 1) * UNIT
    assert fraction(high, low) < 1.0


def test_only_the_largest_number_is_another_than_it_was(rng):
    words = rng.integers(0, 2**32, (20_000, 2))
    words[:4] = [[ONES, 0], [ONES, ONES - 2**12], [ONES - 1, ONES], [0, ONES]]
    for high, low in words.tolist():
        assert fraction(high, low) == ((high << 21 | low >> 11) + 0.5) * 2.0**-53


def test_numbers_are_uniform(rng):
    words = rng.integers(0, 2**32, (40_000, 2), dtype=np.uint32)
    numbers = np.array([fraction_of(high, low) for high, low in words])
    counts = np.bincount((numbers * 64).astype(int), minlength=64)
    assert p_value(counts, np.full(64, 1 / 64)) > ENOUGH
