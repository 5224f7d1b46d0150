"""Tables of counts against exact binomials in integers."""

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from flipproof.noise.sampling.bit_law import NO_TABLE, binomial_table

SMALL = [(n, p) for n in (1, 2, 7, 40) for p in (5e-324, 1e-300, 1e-9, 0.1, 0.1249, 0.5, 0.9, 1 - 2**-53)]
MIDDLE = [(3000, 0.02), (3000, 1e-6), (2879, 0.01), (1024, 0.1249)]


def thresholds_of(table):
    return [(int(high) << 64) + int(low) for high, low in zip(table.high, table.low, strict=True)]


def law_of(table):
    """The exact law of the count, from 128 uniform bits."""
    ends = [0, *thresholds_of(table), 2**128]
    return {table.first + i: Fraction(b - a, 2**128) for i, (a, b) in enumerate(itertools.pairwise(ends))}


def weights(n, p):
    """Integers in the proportion of the binomial probabilities of 0, ..., n, and their sum."""
    ones, denominator = p.as_integer_ratio()
    zeros = denominator - ones
    found = [zeros**n]
    for k in range(n):
        found.append(found[-1] * ((n - k) * ones) // ((k + 1) * zeros))
    return found, denominator**n


def test_weights_are_binomial_coefficients_times_powers():
    assert weights(5, 0.75) == ([comb(5, k) * 3**k for k in range(6)], 4**5)


@pytest.mark.parametrize(("n", "p"), SMALL + MIDDLE)
def test_the_stated_distance_holds(n, p):
    table = binomial_table(n, p)
    exact, total = weights(n, p)
    assert sum(exact) == total
    drawn = law_of(table)
    assert min(drawn) >= 0
    assert max(drawn) <= n
    # Twice the distance, over the common denominator total * 2**128.
    twice = sum(abs((exact[k] << 128) - total * int(drawn.get(k, Fraction(0)) * 2**128)) for k in range(n + 1))
    assert Fraction(twice, 2 * total * 2**128) <= table.distance < Fraction(1, 2**110)


@pytest.mark.parametrize(
    ("n", "p"), [*SMALL, *MIDDLE, (2**20, 64 / 2**20), (2**20, 5e-324), (2**20, 1e-300), (4096, 0.1249)]
)
def test_the_guide_never_leads_past_the_count(n, p):
    table = binomial_table(n, p)
    thresholds = thresholds_of(table)
    assert thresholds == sorted(thresholds)
    assert all(0 <= threshold < 2**128 for threshold in thresholds)
    assert table.guide.tolist() == [sum(t < b << 120 for t in thresholds) for b in range(256)]
    assert table.distance < Fraction(1, 2**110)


@pytest.mark.parametrize("p", [64 / 2**20, 1e-6, 1e-12])
def test_the_largest_block(p):
    """Mean and variance of a table for 2**20 entries: n times the distance bounds what the mean can be off."""
    n = 2**20
    table = binomial_table(n, p)
    law = law_of(table)
    mean = sum(k * mass for k, mass in law.items())
    assert abs(mean - n * Fraction(p)) <= n * table.distance
    variance = sum((k - mean) ** 2 * mass for k, mass in law.items())
    assert abs(variance - n * Fraction(p) * (1 - Fraction(p))) <= 2 * n**2 * table.distance


def test_a_fair_coin():
    table = binomial_table(1, 0.5)
    assert (table.first, table.high.tolist(), table.low.tolist()) == (0, [2**63], [0])


def test_impossible_counts_are_not_in_the_table():
    table = binomial_table(2**20, 5e-324)
    assert (table.first, table.high.size) == (0, 0)
    assert not table.guide.any()
    assert np.array_equal(NO_TABLE.guide, table.guide)
