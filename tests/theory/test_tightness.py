"""Statement 24: the classifiers that attain the bounds, built point by point on spaces that can be enumerated."""

from fractions import Fraction
from itertools import combinations, product
from math import inf, prod

import pytest

import flipproof as fp
from flipproof.theory import exact

LEVELS = [Fraction(k, 20) for k in range(21)] + [Fraction(9999, 10000), Fraction(1, 3)]
CASES = {
    "binary": (fp.FlipNoise(0.1, 0.6), "0110", "1010"),
    "binary, sum above one": (fp.FlipNoise(0.7, 0.8), "001", "110"),
    "deletion only": (fp.FlipNoise(0.0, 0.75), "0110", "1000"),
    "addition only": (fp.FlipNoise(0.3, 0.0), "010", "101"),
    "no information": (fp.FlipNoise(0.25, 0.75), "01", "10"),
    "ternary": (fp.FlipNoise(0.1, 0.3, 3), "012", "120"),
    "ternary, symmetric": (fp.FlipNoise(0.4, 0.4, 3), "012", "120"),
    "ternary, deletion only": (fp.FlipNoise(0.0, 0.6, 3), "011", "120"),
}


def radii_between(clean, adversarial):
    pairs = list(zip(map(int, clean), map(int, adversarial), strict=True))
    return fp.Radii(
        add=sum(one == 0 != two for one, two in pairs),
        delete=sum(one != 0 == two for one, two in pairs),
        change=sum(0 != one != two != 0 for one, two in pairs),
    )


def value_law(noise, value):
    flip = Fraction(noise.p_minus if value else noise.p_plus)
    return [1 - flip if z == value else flip / (noise.categories - 1) for z in range(noise.categories)]


def all_points(noise, clean, adversarial):
    """(P(phi(x) = z), P(phi(x~) = z)) of every z that either can be, by falling ratio."""
    entries = [
        list(zip(value_law(noise, int(one)), value_law(noise, int(two)), strict=True))
        for one, two in zip(clean, adversarial, strict=True)
    ]
    points = [tuple(map(prod, zip(*choice, strict=True))) for choice in product(*entries)]
    return sorted((point for point in points if any(point)), key=ratio, reverse=True)


def ratio(point):
    return point[0] / point[1] if point[1] else inf


def filled(points, mass):
    """How much of every point is taken, one after the other, until their clean mass is reached.

    Points of clean mass 0 are taken while nothing else was: they cost nothing.
    """
    shares = []
    for clean, _ in points:
        shares.append(min(Fraction(1), mass / clean) if clean else Fraction(1))
        mass -= shares[-1] * clean
    return shares


def top(points, p):
    """The test of `rho`: largest ratios first, and nothing that the clean input never reaches."""
    return [share if clean else Fraction(0) for share, (clean, _) in zip(filled(points, p), points, strict=True)]


def tail(points, p):
    """The test of `rho_upper`."""
    return filled(points[::-1], p)[::-1]


def masses(test, points):
    """The probabilities of a randomised answer on noisy copies of the clean and of the adversarial input."""
    return tuple(sum(share * point[side] for share, point in zip(test, points, strict=True)) for side in (0, 1))


@pytest.fixture(params=CASES)
def case(request):
    noise, clean, adversarial = CASES[request.param]
    return noise, radii_between(clean, adversarial), all_points(noise, clean, adversarial)


def test_a_randomised_classifier_attains_rho_and_rho_upper(case):
    noise, radii, points = case
    for p in LEVELS:
        assert masses(top(points, p), points) == (p, exact.rho(noise, radii, p))
        assert masses(tail(points, p), points) == (p, exact.rho_upper(noise, radii, p))


def test_where_the_two_class_rule_does_not_certify_a_binary_classifier_is_turned(case):
    noise, radii, points = case
    for p in LEVELS:
        if not exact.certified(noise, radii, p):
            other = [1 - share for share in top(points, p)]
            assert masses(other, points)[0] == 1 - p
            assert masses(other, points)[1] >= masses(top(points, p), points)[1]


@pytest.mark.parametrize("classes", [3, 4, 6])
def test_one_classifier_attains_both_bounds_of_the_multi_class_rule(case, classes):
    noise, radii, points = case
    tried = 0
    for p_lower, p_upper in product(LEVELS, LEVELS):
        rest = 1 - p_lower - p_upper
        if rest < 0 or rest > (classes - 2) * p_upper:
            continue
        ours, rival = top(points, p_lower), tail(points, p_upper)
        others = [(1 - one - two) / (classes - 2) for one, two in zip(ours, rival, strict=True)]
        assert min(others) >= 0  # the fills do not overlap: this is a classifier
        assert masses(ours, points) == (p_lower, exact.rho(noise, radii, p_lower))
        assert masses(rival, points) == (p_upper, exact.rho_upper(noise, radii, p_upper))
        assert masses(others, points)[0] <= p_upper
        margin = masses(ours, points)[1] - masses(rival, points)[1]
        assert margin == exact.mu(noise, radii, p_lower, p_upper)
        tried += 1
    assert tried > 40


def test_bounds_too_small_for_so_many_classes_belong_to_a_larger_p_lower():
    """With p_lower + (C - 1) p_upper < 1 no classifier has both; what is left must be the label's own."""
    noise, radii = fp.FlipNoise(0.1, 0.6), fp.Radii(1, 1)
    p_lower, p_upper, classes = Fraction(1, 2), Fraction(1, 10), 3
    implied = 1 - (classes - 1) * p_upper
    assert implied > p_lower
    assert exact.mu(noise, radii, p_lower, p_upper) < exact.mu(noise, radii, implied, p_upper)


def test_no_deterministic_classifier_is_below_rho_and_some_attain_it():
    """All 256 subsets of the 8 noisy inputs."""
    noise, radii = fp.FlipNoise(0.1, 0.6), fp.Radii(1, 1)
    points = all_points(noise, "011", "101")
    subsets = [chosen for size in range(9) for chosen in combinations(points, size)]
    found = [tuple(map(sum, zip(*chosen, strict=True))) or (0, 0) for chosen in subsets]
    assert all(adversarial >= exact.rho(noise, radii, clean) for clean, adversarial in found)
    firsts = [points[:size] for size in range(1, 9)]
    assert all(sum(g for _, g in first) == exact.rho(noise, radii, sum(f for f, _ in first)) for first in firsts)


def test_a_deterministic_classifier_comes_as_close_as_one_point_is_heavy(case):
    noise, radii, points = case
    possible = [point for point in points if point[0]]
    for p in LEVELS[1:]:
        taken, clean = [], Fraction(0)
        while clean < p:
            taken.append(possible[len(taken)])
            clean += taken[-1][0]
        last_clean, last_adversarial = taken[-1]
        excess = sum(g for _, g in taken) - exact.rho(noise, radii, p)
        assert 0 <= clean - p < last_clean
        assert excess == (clean - p) * last_adversarial / last_clean
