"""How well drawn samples fit an exact law. Nothing is fitted to the samples, so no degree of freedom is lost."""

import numpy as np
from scipy.special import chdtrc, ndtri

ENOUGH = 1e-4
"""A test of drawn samples fails with this probability if all is well."""


def p_value(counts, probabilities):
    """Pearson's test; outcomes with fewer than 5 expected are pooled, impossible ones must not occur."""
    counts, probabilities = np.asarray(counts, dtype=float), np.asarray(probabilities, dtype=float)
    assert not counts[probabilities == 0.0].any()
    expected = probabilities * counts.sum()
    rare = expected < 5.0
    counts, expected = np.append(counts[~rare], counts[rare].sum()), np.append(expected[~rare], expected[rare].sum())
    if expected[-1] < 5.0:  # too rare even together: one of them may well occur, but not many
        assert counts[-1] <= 25.0
        counts, expected = counts[:-1], expected[:-1]
    if counts.size == 1:
        return 1.0
    return float(chdtrc(counts.size - 1, ((counts - expected) ** 2 / expected).sum()))


def assert_standard_normal(z, level=ENOUGH):
    """Many uncorrelated sums: the largest by a union bound, all together by the sum of their squares."""
    assert np.abs(z).max() < -ndtri(level / (2 * z.size))
    assert chdtrc(z.size, (z**2).sum()) > level


def assert_independent(first, second, first_p, second_p, level=ENOUGH):
    """No column of `first` goes along with a column of `second`; both are zeros and ones with known probabilities.

    Products of centred independent columns have mean 0 and a known variance and are uncorrelated, so their sums over
    many samples are about standard normal.
    """
    assert_standard_normal(_correlations(first, second, first_p, second_p), level)


def assert_independent_columns(table, p, level=ENOUGH):
    """All pairs of columns of a table of zeros and ones, likewise."""
    assert_standard_normal(_correlations(table, table, p, p)[np.triu_indices(len(p), k=1)], level)


def _correlations(first, second, first_p, second_p):
    scale = np.sqrt(len(first) * np.outer(first_p * (1 - first_p), second_p * (1 - second_p)))
    return (first - first_p).T @ (second - second_p) / scale
