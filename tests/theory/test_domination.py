"""The worst change is at least as bad as every possible one, exactly, and so are its powers."""

from collections import defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement, islice, product

import numpy as np
import pytest

import flipproof as fp
from flipproof.theory import exact
from flipproof.theory.domination import STEEPER, Curve, Step, WorstChange, curve_of, worst_change
from flipproof.theory.radii import kinds_of, parts_of
from random_laws import random_law, random_noise


def curves_of(noise):
    return [curve_of(part, kind) for _, part in parts_of(noise) for kind in kinds_of(part)]


def regions_of(curve):
    """The regions of a curve: its pieces, and what lies above its left end."""
    return [Step(Fraction(0), curve.corners[0].adversarial), *curve.pieces()]


def product_of(curves):
    """The exact curve of several independent changes, from all products of their regions."""
    products = [Step(Fraction(1), Fraction(1))]
    for curve in curves:
        products = [Step(a.clean * b.clean, a.adversarial * b.adversarial) for a in products for b in regions_of(curve)]
    products.sort(key=lambda one: one.adversarial / one.clean if one.clean else 10**999, reverse=True)
    points = [Step(Fraction(0), Fraction(0))]
    for one in products:
        points.append(Step(points[-1].clean + one.clean, points[-1].adversarial + one.adversarial))
    return Curve.above(points)


def power_of(worst, radius):
    """The exact curve of so many worst changes: masses with equal sums of exponents belong together."""
    masses = {0: Fraction(1)}
    for _ in range(radius):
        before, masses = masses, defaultdict(Fraction)
        for (a, one), (b, other) in product(before.items(), worst.clean):
            masses[a + b] += one * other
    points = [Step(Fraction(0), 1 - (1 - worst.only_adversarial) ** radius)]
    for k in sorted(masses, reverse=True):
        clean, adversarial = points[-1]
        points.append(Step(clean + masses[k], adversarial + masses[k] * STEEPER**k))
    return Curve.above([*points, Step(Fraction(1), Fraction(1))])


def test_a_curve_is_rho_upper(rng):
    for _ in range(60):
        law = random_law(rng)
        for kind in kinds_of(law):
            curve, radii = curve_of(law, kind), fp.Radii(**{kind: 1})
            for s in [0, 1, *rng.random(3).tolist(), *(corner.clean for corner in curve.corners)]:
                assert curve.at(Fraction(s)) == exact.rho_upper(law, radii, s)


def test_a_curve_dominates_itself_and_what_is_nowhere_above_it():
    low, high = (curve_of(fp.FlipNoise(0.5, 0.5, categories), "add") for categories in (3, 9))
    assert high.dominates(low)
    assert not low.dominates(high)
    assert low.dominates(low)
    assert curve_of(fp.FlipNoise(0.5, 0.5), "add").is_straight
    assert not low.is_straight


@pytest.mark.parametrize("p", [0.1, 0.5, 0.6, 0.66])
def test_more_categories_are_worse_while_noise_leaves_a_value_more_probable_than_others(p):
    """Where p <= 1 - 1/K for the smallest K (docs/theory.md, statement 17)."""
    counts = [k for k in (2, 3, 4, 5, 7, 12, 50, 300) if Fraction(p) <= 1 - Fraction(1, k)]
    curves = [curve_of(fp.FlipNoise(p, p, k), "add") for k in counts]
    for i, smaller in enumerate(curves):
        assert all(larger.dominates(smaller) for larger in curves[i:])


def test_beyond_that_numbers_of_categories_are_not_ordered():
    few, many = (curve_of(fp.FlipNoise(0.8, 0.8, categories), "add") for categories in (2, 256))
    assert not few.dominates(many)
    assert not many.dominates(few)
    assert float(few.at(Fraction(1, 5))) == pytest.approx(0.8)
    assert float(many.at(Fraction(1, 5))) == pytest.approx(0.396, abs=1e-3)


def test_the_worst_change_is_nowhere_below_and_has_the_slopes_it_says(rng):
    for _ in range(100):
        curves = curves_of(random_noise(rng, int(rng.integers(1, 5))))
        worst = WorstChange.of(curves)
        own = worst.curve()
        assert all(own.dominates(curve) for curve in curves)
        assert all(mass > 0 for _, mass in worst.clean)
        assert sum(mass for _, mass in worst.clean) + worst.only_clean == 1
        assert sum(mass * STEEPER**k for k, mass in worst.clean) + worst.only_adversarial == 1
        # It touches the highest curve at both ends: nothing is impossible that was not, and nothing becomes it.
        assert worst.only_adversarial == max(curve.at(Fraction(0)) for curve in curves)
        assert (worst.only_clean == 0) == all(curve.corners[-2].adversarial < 1 for curve in curves)


def test_the_worst_change_is_less_than_one_step_of_slopes_above_the_hull(rng):
    for _ in range(30):
        curves = curves_of(random_noise(rng, 2))
        hull, own = Curve.above(corner for curve in curves for corner in curve.corners), WorstChange.of(curves).curve()
        assert all(own.at(s) <= STEEPER * hull.at(s) for s, _ in own.corners)


@pytest.mark.parametrize("tiny", [1e-300, 5e-324])
def test_probabilities_that_are_hardly_there_lose_nothing(tiny):
    curves = curves_of(fp.FlipNoise(tiny, 0.5, 3))
    worst = WorstChange.of(curves)
    assert all(worst.curve().dominates(curve) for curve in curves)
    regions = next(worst.powers())
    assert all(regions.upper_mass(np.array([s]))[0] >= max(map(curve_at(s), curves)) for s in (0.0, 1e-300, 0.1, 0.9))


def curve_at(s):
    return lambda curve: curve.at(Fraction(s))


@pytest.mark.parametrize("parts", [1, 2, 3, 4])
def test_powers_of_the_worst_change_are_nowhere_below_any_split(parts, rng):
    for _ in range(6):
        curves = [curve for curve in dict.fromkeys(curves_of(random_noise(rng, parts))) if not curve.is_straight]
        if not curves:
            continue
        worst = WorstChange.of(curves)
        assert power_of(worst, 1) == worst.curve()
        for radius in (2, 3, 4):
            splits, power = list(combinations_with_replacement(curves, radius)), power_of(worst, radius)
            for index in rng.permutation(len(splits))[:8]:
                assert power.dominates(product_of(splits[index]))


def test_float_regions_are_on_the_safe_side_of_exact_powers_and_close(rng):
    for _ in range(25):
        worst = WorstChange.of(curves_of(random_noise(rng, int(rng.integers(1, 3)))))
        s = np.array([0.0, 1.0, 1e-300, 1e-12, 1e-3, *rng.random(4)])
        for radius, regions in enumerate(islice(worst.powers(), 3), 1):
            truth = power_of(worst, radius)
            for clean, bound in zip(s.tolist(), regions.upper_mass(s).tolist(), strict=True):
                value = truth.at(Fraction(clean))
                assert value <= Fraction(bound)
                assert bound <= float(value) * (1 + 1e-11) + float(truth.at(Fraction(1e-270)) * 2)
            assert regions.covered == (truth.at(Fraction(0)) == 0)


def test_powers_end_before_they_get_too_large():
    steep = worst_change(frozenset(curves_of(fp.FlipNoise(1e-17, 0.99, 3))))
    assert 10 < sum(1 for _ in steep.powers()) < 1000


def test_changes_that_leave_nothing_in_common_have_only_what_one_input_can_be():
    worst = WorstChange.of(curves_of(fp.FlipNoise(0, 0)))
    assert worst == WorstChange((), Fraction(1), Fraction(1))
    assert next(worst.powers()).upper_mass(np.zeros(1)) == [1.0]
