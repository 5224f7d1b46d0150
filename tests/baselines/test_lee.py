"""The certificate of Lee et al.: their algorithm against enumeration, and this package's against both."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import flipproof as fp
from flipproof.baselines import lee
from flipproof.theory import exact


@pytest.mark.parametrize("categories", [2, 3, 4])
@pytest.mark.parametrize("entries", [1, 3, 5])
def test_counts_are_those_of_all_noisy_inputs(categories, entries):
    for radius in range(entries + 1):
        clean, changed = np.zeros(entries, int), np.array([1] * radius + [0] * (entries - radius))
        points = np.array(list(itertools.product(range(categories), repeat=entries)))
        pairs = zip((points != clean).sum(axis=1).tolist(), (points != changed).sum(axis=1).tolist(), strict=True)
        assert lee.original_counts(entries, categories, radius) == dict(Counter(pairs))


@pytest.mark.parametrize("categories", [2, 3, 256])
@pytest.mark.parametrize("flip", [0.05, 0.3, 0.5, 0.8, 0.999])
def test_their_algorithm_gives_the_same_critical_probability(categories, flip):
    noise = fp.FlipNoise(flip, flip, categories)
    for entries, radius in ((3, 1), (12, 3), (36, 2), (36, 5)):
        radii = fp.Radii(delete=radius) if categories == 2 else fp.Radii(change=radius)
        theirs = lee.original_critical_probability(noise, entries, radius)
        assert theirs == exact.critical_probability(noise, radii)
        assert fp.critical_probability(noise, radii) >= theirs
        assert fp.critical_probability(noise, radii) == pytest.approx(float(theirs), rel=1e-9)


def test_thresholds_for_images_as_published():
    """Of the authors' repository: MNIST-like and ImageNet-like, both with a keep probability of 0.2."""
    noise = fp.FlipNoise(0.8, 0.8, categories=256)
    assert float(lee.original_critical_probability(noise, 30, 1)) == pytest.approx(0.69686274509804, rel=1e-13)
    assert float(lee.original_critical_probability(noise, 30, 2)) == pytest.approx(0.85373533256440, rel=1e-13)


def test_no_change_needs_one_half():
    assert lee.original_critical_probability(fp.FlipNoise(0.2, 0.2), 7, 0) == Fraction(1, 2)


def test_radii_from_votes():
    counts = [[1000, 0, 0], [930, 40, 30], [400, 350, 250]]
    votes = fp.Votes.from_counts(selection=counts, estimation=counts, noise=fp.FlipNoise(0.1, 0.1))
    proofs = lee.certify(votes)
    assert proofs.radius.tolist() == fp.certify(votes).max_l0_radius().tolist() == [2, 0, 0]
    assert proofs.promise.system == "Lee et al. 2019"
    assert proofs.promise.alpha == 0.01


def test_refusals():
    counts = [[10, 0]]
    votes = fp.Votes.from_counts(selection=counts, estimation=counts, noise=fp.FlipNoise(0.1, 0.2))
    with pytest.raises(fp.InvalidInputError, match="expected votes under noise with p_plus = p_minus, got FlipNoise"):
        lee.certify(votes)
    with pytest.raises(fp.InvalidInputError, match="expected at most 3 changed entries, got 4"):
        lee.original_counts(3, 2, 4)
