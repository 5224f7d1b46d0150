"""Images of 256 levels: at every radius that samples can reach, the fast engine says what exact fractions say."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import flipproof as fp
from flipproof.theory import exact

SYMMETRIC, AWARE = fp.FlipNoise(0.8, 0.8, categories=256), fp.FlipNoise(0.3, 0.8, categories=256)

# By noise and number of samples: the largest radii (add, delete, change), each by itself, that votes can certify.
CAPS = {
    (SYMMETRIC, 10_000): (7, 7, 7),
    (SYMMETRIC, 100_000): (9, 9, 9),
    (AWARE, 10_000): (3, 1, 7),
    (AWARE, 100_000): (4, 2, 9),
}
CASES = [
    pytest.param(SYMMETRIC, 10_000, id="symmetric"),
    pytest.param(AWARE, 10_000, id="sparsity-aware"),
    pytest.param(SYMMETRIC, 100_000, id="symmetric, many samples"),
    pytest.param(AWARE, 100_000, id="sparsity-aware, many samples", marks=pytest.mark.slow),
]


def unanimous(noise, samples):
    """Certificates of an input on which all votes agree, and of one on which twenty do not."""
    counts = np.array([[samples, 0], [samples - 20, 20]])
    return fp.certify(fp.Votes.from_counts(selection=counts, estimation=counts, noise=noise), alpha=0.01)


def around(caps):
    """All radii up to one more of every kind than can be certified, and one more in total than of any kind."""
    points = product(*(range(cap + 2) for cap in caps))
    return [fp.Radii(*point) for point in points if sum(point) <= max(caps) + 1]


@pytest.mark.parametrize(("noise", "samples"), CASES)
def test_caps(noise, samples):
    first = unanimous(noise, samples)
    assert tuple(int(first.max_radius(kind)[0]) for kind in ("add", "delete", "change")) == CAPS[noise, samples]


@pytest.mark.parametrize(("noise", "samples"), CASES)
def test_every_decision_is_the_exact_one_and_no_critical_probability_is_too_low(noise, samples):
    certificates, found = unanimous(noise, samples), set()
    for radii in around(CAPS[noise, samples]):
        critical, given = exact.critical_probability(noise, radii), Fraction(fp.critical_probability(noise, radii))
        assert critical <= given <= critical * (1 + Fraction(1, 10**12)), radii
        decisions = certificates.certified(radii).tolist()
        assert decisions == [exact.certified(noise, radii, p) for p in certificates.p_lower.tolist()], radii
        assert decisions == [p > critical for p in certificates.p_lower.tolist()], radii
        found.add(tuple(decisions))
    assert found == {(True, True), (True, False), (False, False)}


@pytest.mark.parametrize(("noise", "samples"), CASES)
def test_the_l0_ball_is_that_of_its_splits(noise, samples):
    certificates = unanimous(noise, samples)
    for p, radius in zip(certificates.p_lower.tolist(), certificates.max_l0_radius().tolist(), strict=True):
        for size, expected in ((radius, True), (radius + 1, False)):
            splits = [point for point in product(range(size + 1), repeat=3) if sum(point) == size]
            assert all(exact.certified(noise, fp.Radii(*split), p) for split in splits) == expected
