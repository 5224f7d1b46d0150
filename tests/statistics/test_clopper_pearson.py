import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import betainc, betaincc

import flipproof as fp
from flipproof.statistics.bounds import lower_bound, upper_bound
from flipproof.theory.exact import clopper_pearson_tail


@pytest.mark.parametrize("alpha", [0.5, 0.05, 0.01, 1e-6, 1e-30])
@pytest.mark.parametrize("samples", [1, 2, 3, 10, 57, 400])
def test_bounds_are_on_the_safe_side_and_tight(samples, alpha):
    for votes in sorted({0, 1, samples // 3, samples // 2, samples - 1, samples}):
        low, up = lower_bound(votes, samples, alpha), upper_bound(votes, samples, alpha)
        # P(X >= votes | low) <= alpha, and a little higher it is not; the same for the twin.
        if votes:
            assert clopper_pearson_tail(votes, samples, low) <= Fraction(alpha)
            higher = min(1.0, low + 1e-11 * low)
            assert clopper_pearson_tail(votes, samples, higher) > Fraction(alpha)
        if votes < samples:
            assert 1 - clopper_pearson_tail(votes + 1, samples, up) <= Fraction(alpha)
            lower = max(0.0, up - 1e-11 * (1 - up) - 1e-15)
            assert 1 - clopper_pearson_tail(votes + 1, samples, lower) > Fraction(alpha)


def check_random_bounds(rng, most_samples, most_decades, draws):
    """Both bounds of 20 random counts of the same samples and alpha, again and again; returns how many were checked."""
    for _ in range(draws):
        samples, alpha = int(most_samples ** rng.random()), float(10 ** -rng.uniform(0.01, most_decades))
        # Some close to no votes, some close to all, the rest anywhere.
        near = np.minimum(rng.geometric(0.3, 10) - 1, samples)
        votes = np.concatenate([near[:5], samples - near[5:], rng.integers(0, samples + 1, 10)])
        lows, ups = lower_bound(votes, samples, alpha), upper_bound(votes, samples, alpha)
        for k, low, up in zip(votes.tolist(), lows.tolist(), ups.tolist(), strict=True):
            assert (low == 0.0) if k == 0 else clopper_pearson_tail(k, samples, low) <= alpha, (k, samples, alpha)
            # P(X <= k | up) is the chance of as many or more of anything else.
            fewer = clopper_pearson_tail(samples - k, samples, 1 - Fraction(up))
            assert (up == 1.0) if k == samples else fewer <= alpha, (k, samples, alpha)
    return 20 * draws


def test_random_bounds_are_on_the_safe_side(rng):
    assert check_random_bounds(rng, 100, 12, draws=1_000) == 20_000


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_many_random_bounds_are_on_the_safe_side(seed):
    assert check_random_bounds(np.random.default_rng(seed), 300, 30, draws=1_000) == 20_000


@pytest.mark.slow
@pytest.mark.parametrize("samples", [2_000, 20_000])
def test_bounds_of_many_samples_are_on_the_safe_side(samples):
    for votes, alpha in ((samples - 1, 0.05), (samples - 3, 1e-9), (samples - 10, 0.001)):
        low, up = lower_bound(votes, samples, alpha), upper_bound(samples - votes, samples, alpha)
        assert clopper_pearson_tail(votes, samples, low) <= alpha
        assert clopper_pearson_tail(votes, samples, 1 - Fraction(up)) <= alpha


@pytest.mark.parametrize("samples", [1, 1000, 10**6, 10**9])
def test_no_vote_and_all_votes_are_exact(samples):
    alpha = 0.01
    assert lower_bound(0, samples, alpha) == 0.0
    assert upper_bound(samples, samples, alpha) == 1.0
    assert lower_bound(samples, samples, alpha) == pytest.approx(alpha ** (1 / samples), rel=1e-12)
    assert upper_bound(0, samples, alpha) == pytest.approx(-math.expm1(math.log(alpha) / samples), rel=1e-12)


@pytest.mark.parametrize("samples", [10**4, 10**5, 10**6])
def test_large_counts_agree_with_the_beta_function(samples, rng):
    votes = np.concatenate([rng.integers(1, samples, 200), [1, 2, samples - 2, samples - 1]])
    low, up = lower_bound(votes, samples, 0.01), upper_bound(votes, samples, 0.001)
    # Near 1, neighbouring floats are 1e-16 / 1e-9 of the distance to 1 apart.
    np.testing.assert_allclose(betainc(votes, samples - votes + 1, low), 0.01, rtol=1e-6)
    np.testing.assert_allclose(betaincc(votes + 1, samples - votes, up), 0.001, rtol=1e-6)


def test_bounds_rise_with_the_votes():
    votes = np.arange(2001)
    assert np.all(np.diff(lower_bound(votes, 2000, 0.01)) > 0)
    assert np.all(np.diff(upper_bound(votes, 2000, 0.01)) > 0)
    assert np.all(lower_bound(votes, 2000, 0.01) < upper_bound(votes, 2000, 0.01))


def test_shapes_and_types():
    assert type(lower_bound(3, 10, 0.05)) is float
    assert lower_bound(np.array([[1, 2], [2, 1]]), 10, 0.05).shape == (2, 2)
    assert lower_bound(np.array([], dtype=int), 10, 0.05).shape == (0,)
    assert lower_bound(0, 0, 0.05) == 0.0
    assert upper_bound(0, 0, 0.05) == 1.0
    assert lower_bound(np.uint8(3), 10, 0.05) == lower_bound(3, 10, 0.05)


@pytest.mark.parametrize(
    ("votes", "samples", "alpha", "words"),
    [
        (-1, 10, 0.05, "expected votes between 0 and 10, got -1"),
        (11, 10, 0.05, "expected votes between 0 and 10, got 11"),
        (1.5, 10, 0.05, "expected votes to be integers"),
        ([1, 2, 99], 10, 0.05, "expected votes between 0 and 10, got 99"),
        (1, -1, 0.05, "expected samples to be a non-negative integer, got -1"),
        (1, 10.5, 0.05, "expected samples to be a non-negative integer"),
        (1, 10, 0.0, "expected alpha strictly between 0 and 1, got 0.0"),
        (1, 10, 1.0, "expected alpha strictly between 0 and 1, got 1.0"),
        (1, 10, 2, "expected alpha strictly between 0 and 1, got 2"),
        (1, 10, math.nan, "expected alpha strictly between 0 and 1, got nan"),
        (1, 10, "0.05", "expected alpha strictly between 0 and 1"),
        (1, 2**60, 0.05, "expected samples of at most"),
        (1, 10, 1e-320, "expected alpha .for each input. of at least 1e-100, got 1e-320"),
        (1, 10, 10**400, "expected alpha strictly between"),
    ],
)
def test_bad_input_is_refused(votes, samples, alpha, words):
    for bound in (lower_bound, upper_bound):
        with pytest.raises(fp.InvalidInputError, match=words):
            bound(votes, samples, alpha)
