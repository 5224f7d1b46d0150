"""The promise through the whole pipeline: samples drawn by `vote`, not simulated counts; a classifier that is as easily
turned as its probabilities allow, so that every certificate at these radii is a wrong one.
"""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from failure_rate import ALPHA, is_broken

import flipproof as fp

NOISE = fp.FlipNoise(0.1, 0.3)
CLEAN = np.array([1, 0, 1, 0, 0, 1, 1, 0, 0, 1])
TURNED = fp.Radii(delete=1)
"""The first entry is deleted."""

REST = np.array(list(itertools.product((0, 1), repeat=CLEAN.size - 1)))
SPACES = {"dense": fp.DenseRows, "sparse": sp.csr_array}


def law_of_rest():
    """The exact law of all entries but the first."""
    keep = np.where(CLEAN[1:], 1 - NOISE.p_minus, 1 - NOISE.p_plus)
    return np.where(CLEAN[1:] == REST, keep, 1 - keep).prod(axis=1)


def pieces(*shares):
    """Cuts what the other entries may be into pieces of at most these probabilities, and what is left."""
    law, piece = law_of_rest(), np.full(len(REST), len(shares))
    for number, share in enumerate(shares):
        total = 0.0
        for i in np.argsort(-law):
            if piece[i] == len(shares) and total + law[i] <= share:
                piece[i], total = number, total + law[i]
    return piece


class Turned:
    """Label 0 where the first entry is one, and on the first piece where it is zero."""

    def __init__(self, piece, classes):
        self.piece, self.classes = piece, classes

    def __call__(self, rows):
        rows = rows.toarray() if sp.issparse(rows) else rows
        codes = rows[:, 1:].astype(int) @ (1 << np.arange(CLEAN.size - 1)[::-1])
        return np.where(rows[:, 0] == 1, 0, self.piece[codes])

    def probabilities(self, p_first):
        """Exact, of all labels, if the first entry is one with this probability."""
        shares = np.bincount(self.piece, law_of_rest(), self.classes)
        return p_first * np.eye(self.classes)[0] + (1 - p_first) * shares


# With the first entry deleted, label 0 has 0.1 + 0.9 times its piece: just less than 1/2, or than label 1.
EVEN = (0.5 - 0.1) / 0.9
CASES = {
    "two-class": Turned(pieces(EVEN), classes=2),
    "multi-class": Turned(pieces(0.2, 0.1 / 0.9 + 0.2 + 0.001), classes=3),
}


@pytest.mark.parametrize("rule", CASES)
def test_the_classifier_is_just_turned(rule):
    classifier = CASES[rule]
    here, there = classifier.probabilities(1 - NOISE.p_minus), classifier.probabilities(NOISE.p_plus)
    assert here[0] > 1.2 * here[1]
    assert 0.99 * there[1] < there[0] < there[1]
    p_upper = here[1] if rule == "multi-class" else 1 - here[0]
    assert fp.mu(NOISE, TURNED, here[0], p_upper) <= 0 < fp.mu(NOISE, TURNED, here[0] + 0.002, p_upper - 0.002)


def certificates_of(classifier, space, rows, seeds, rule, **options):
    for seed in seeds:
        inputs = SPACES[space](np.tile(CLEAN, (rows, 1)))
        yield fp.certify(fp.vote(classifier, inputs, NOISE, 30, 400, seed=seed), ALPHA, rule, **options)


@pytest.mark.slow
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("rule", CASES)
def test_each_certificate_is_wrong_with_probability_at_most_alpha(rule, space):
    """40,000 independent inputs: 80 seeds, 500 equal rows each."""
    classifier, rows, seeds = CASES[rule], 500, range(80)
    here = classifier.probabilities(1 - NOISE.p_minus)
    wrong = wrong_bounds = 0
    for certificates in certificates_of(classifier, space, rows, seeds, rule):
        is_first = certificates.label == 0
        wrong += int((certificates.certified(TURNED) & is_first).sum())
        others = np.where(is_first, here[1:].max(), here[0])
        wrong_bounds += int(((certificates.p_lower > here[certificates.label]) | (certificates.p_upper < others)).sum())
    trials = rows * len(seeds)
    assert not is_broken(wrong, trials)
    assert not is_broken(wrong_bounds, trials)
    assert wrong_bounds > trials * ALPHA / 4
    if rule == "two-class":  # where a wrong bound is a wrong certificate
        assert wrong > trials * ALPHA / 4


@pytest.mark.slow
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("rule", CASES)
def test_all_certificates_at_once_are_right_with_probability_at_least_1_minus_alpha(rule, space):
    """Also by Holm's method, which with inputs that are all turned is as often wrong as Bonferroni's."""
    classifier, runs = CASES[rule], range(1000)
    broken, by_holm = 0, 0
    for certificates in certificates_of(classifier, space, 10, runs, rule, simultaneous=True):
        is_first = certificates.label == 0
        broken += bool((certificates.certified(TURNED) & is_first).any())
        by_holm += bool((certificates.certified_holm(TURNED) & is_first).any())
    assert not is_broken(broken, len(runs))
    assert not is_broken(by_holm, len(runs))
    if rule == "two-class":
        assert by_holm >= broken > len(runs) * ALPHA / 10


@pytest.mark.slow
@pytest.mark.parametrize("space", SPACES)
def test_the_judge_rejects_promises_for_each_input_as_promises_for_all(space):
    classifier, runs = CASES["two-class"], range(100)
    broken = sum(
        bool((certificates.certified(TURNED) & (certificates.label == 0)).any())
        for certificates in certificates_of(classifier, space, 10, runs, "two-class")
    )
    assert is_broken(broken, len(runs))
