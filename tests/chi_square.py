"""How well drawn samples fit an exact law. Nothing is fitted to the samples, so no degree of freedom is lost."""

import numpy as np
from scipy.special import chdtrc, ndtri


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


def assert_independent(first, second, first_p, second_p, level=1e-4):
    """No column of `first` goes along with a column of `second`; both are zeros and ones with known probabilities.

    Products of centred independent columns have mean 0 and a known variance and are uncorrelated, so their sums z
    over many samples are standard normal: the largest by a union bound, the sum of squares by chi-square.
    """
    z = _correlations(first, second, first_p, second_p)
    assert np.abs(z).max() < -ndtri(level / (2 * z.size))
    assert chdtrc(z.size, (z**2).sum()) > level


def assert_independent_columns(table, p, level=1e-4):
    """All pairs of columns of a table of zeros and ones, likewise."""
    z = _correlations(table, table, p, p)[np.triu_indices(len(p), k=1)]
    assert np.abs(z).max() < -ndtri(level / (2 * z.size))
    assert chdtrc(z.size, (z**2).sum()) > level


def _correlations(first, second, first_p, second_p):
    scale = np.sqrt(len(first) * np.outer(first_p * (1 - first_p), second_p * (1 - second_p)))
    return (first - first_p).T @ (second - second_p) / scale
