"""The checker's word on any changes: what exact fractions say, and never against the engine."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

import flipproof as fp
from flipproof.theory import exact
from flipproof.theory.domination import STEEPER, curve_of, worst_change
from flipproof.theory.radii import axes_of, kinds_of, parts_of, radii_at
from flipproof.verification import any_changes
from flipproof.verification.any_changes import holds
from flipproof.verification.certificate import UNBOUNDED
from flipproof.verification.worst_case import FlipLaw, margin
from random_laws import random_bounds, random_noise, table


def laws_of(noise):
    return [FlipLaw(Fraction(part.p_plus), Fraction(part.p_minus), part.categories) for _, part in parts_of(noise)]


def truth(noise, radius, p_lower, p_upper):
    """All splits, from the definition."""
    axes = range(len(axes_of(noise)))
    points = [tuple(map(which.count, axes)) for which in combinations_with_replacement(axes, radius)]
    return all(exact.certified(noise, radii_at(noise, point), p_lower, p_upper) for point in points)


def verdict(noise, radius, p_lower, p_upper):
    return holds(laws_of(noise), int(radius), Fraction(float(p_lower)), Fraction(float(p_upper)))


@pytest.mark.parametrize("case", range(12))
def test_few_splits_are_exact(case, rng):
    noise, pairs = random_noise(rng, int(rng.integers(1, 3))), random_bounds(rng, 12)
    pairs[0][0], pairs[1][:2] = 1.0, 0.0
    for p, q in zip(*pairs, strict=True):
        for radius in (0, 1, 2):
            assert verdict(noise, radius, p, q) == truth(noise, radius, p, q)


@pytest.mark.parametrize("case", range(12))
def test_the_imaginary_change_never_says_yes_wrongly(case, rng):
    noise, pairs = random_noise(rng, 2), random_bounds(rng, 12)
    moves = any_changes._worst_moves(tuple(laws_of(noise)))
    for radius in (1, 2) if moves else ():
        bound = any_changes._bound(moves, radius)
        for p, q in zip(*pairs, strict=True):
            assert margin(bound, Fraction(p), Fraction(q)) <= 0 or truth(noise, radius, p, q)


@pytest.mark.parametrize("case", range(12))
def test_the_imaginary_change_is_the_worst_one_of_the_engine(case, rng):
    noise = random_noise(rng, 3)
    shares, denominator = any_changes._imaginary_change(any_changes._worst_moves(tuple(laws_of(noise))))
    curves = frozenset(curve_of(part, kind) for _, part in noise for kind in kinds_of(part))
    assert STEEPER == any_changes._STEP
    assert [(k, Fraction(clean, denominator)) for k, clean in shares] == list(worst_change(curves).clean)


@pytest.mark.parametrize("case", range(30))
def test_radii_of_the_engine_are_never_denied(case, rng):
    noise, (p_lower, p_upper) = random_noise(rng, int(rng.integers(1, 5))), random_bounds(rng, 30)
    p_lower[0], p_upper[:2] = 1.0, 0.0
    radii = fp.largest_l0_radius(noise, p_lower, p_upper, limit=6)
    for p, q, radius in zip(p_lower, p_upper, radii, strict=True):
        assert p <= q or verdict(noise, radius, p, q) is not False


@pytest.mark.parametrize(
    "noise",
    [
        table(range(2, 22), 0.8),
        table(range(3, 23), 0.6),
        table(range(3, 13), 0.3, 0.6),
        table([2, 256], 0.8),
        fp.JointNoise(structure=fp.FlipNoise(2e-5, 0.4), attributes=fp.FlipNoise(0.01, 0.6)),
    ],
    ids=["20 columns", "20 ordered columns", "sparsity-aware", "2 and 256", "graph"],
)
def test_radii_of_tables_and_graphs_are_confirmed(noise, rng):
    p_lower, p_upper = random_bounds(rng, 40)
    radii = fp.largest_l0_radius(noise, p_lower, p_upper, limit=12)
    verdicts = [verdict(noise, *each) for each in zip(radii, p_lower, p_upper, strict=True) if each[1] > each[2]]
    assert verdicts
    assert all(verdicts)


def test_large_radii_are_confirmed_by_the_imaginary_change_or_left_open():
    noise = fp.FlipNoise(0.3, 0.6)
    radius = fp.largest_l0_radius(noise, 0.97)
    assert radius > 50
    assert verdict(noise, radius, 0.97, 0.03) is True
    assert verdict(noise, radius + 3, 0.97, 0.03) is None
    assert verdict(noise, 2 * radius, 0.97, 0.03) is False
    assert verdict(noise, 10**6, 0.97, 0.03) is None


def test_endless_radii():
    graph = fp.JointNoise(structure=fp.FlipNoise(2e-5, 0.4), attributes=fp.FlipNoise(0.01, 0.6))
    assert verdict(graph, UNBOUNDED, 0.9, 0.0)
    assert verdict(graph, UNBOUNDED, 1.0, 0.0)
    assert verdict(graph, UNBOUNDED, 0.9, 1e-9) is False
    assert verdict(fp.FlipNoise(0.25, 0.75), UNBOUNDED, 0.51, 0.49)
    assert verdict(fp.FlipNoise(0.0, 0.8), UNBOUNDED, 1.0, 0.0) is False
    assert verdict(fp.FlipNoise(0.25, 0.75), 5, 0.5, 0.5) is False


def test_a_change_that_leaves_nothing_in_common_is_the_end():
    nothing = FlipLaw(Fraction(0), Fraction(0), 2)
    assert holds([nothing], 1, Fraction(1), Fraction(0)) is False
    assert margin(any_changes._bound(any_changes._worst_moves((nothing,)), 1), Fraction(1), Fraction(0)) < 0


def test_the_bound_is_a_worst_case_with_whole_numbers():
    moves = any_changes._worst_moves((FlipLaw(Fraction(1, 100), Fraction(3, 5), 2),))
    worst = any_changes._bound(moves, 3)
    assert worst.clean_before[-1] == worst.changed_before[-1] == worst.whole
    ratios = [np.inf if not changed else Fraction(clean, changed) for clean, changed in worst.cells]
    assert ratios == sorted(ratios, reverse=True)
    assert margin(worst, Fraction(1), Fraction(0)) > 0
