"""Random noises, radii and probabilities, nasty ones included, against exact arithmetic: never on the wrong side.

A point is a noise, radii, p_lower and p_upper. At each, `rho`, `rho_upper`, `mu` and the tables of `rho` and `mu` are
compared with the exact values; `critical_probability` and its table once for all points that share noise and radii.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from exact_curve import Curve, ratio

import flipproof as fp
from flipproof.theory import exact
from flipproof.theory.radii import kinds_of

NASTY = [0.0, 1.0, 0.5, 0.25, 0.75, 0.3, 0.7, 5e-324, 1e-300, 1e-16, 2**-53, 1 - 2**-53, 0.01, 0.6, 1e-5, 0.999]
CERTAIN = [0.0, 1.0, 0.5, 1 - 2**-53, 0.999, 1e-300, 5e-324]


class Cases:
    """Draws noises, radii and probabilities, nasty values more often than not."""

    def __init__(self, rng, binary=12, categorical=4):
        self.rng, self.binary, self.categorical = rng, binary, categorical

    def flip(self):
        kind = self.rng.integers(5)
        return float([self.rng.choice(NASTY), *[self.rng.random()] * 2, *_both_ends(self.rng, 12)][kind])

    def noise(self):
        categories = int(self.rng.choice([2, 2, 2, 3, 4, 5, 256]))
        plus, minus = self.flip(), self.flip()
        twist = self.rng.random()
        if twist < 0.15:
            minus = plus
        elif twist < 0.25:
            minus = (categories - 1) / categories
        elif twist < 0.35:
            plus = (categories - 1) / categories
        elif twist < 0.45:
            minus = 1 - plus
        return fp.FlipNoise(plus, minus, categories)

    def radii(self, noise, most):
        return fp.Radii(**{kind: int(self.rng.integers(most + 1)) for kind in kinds_of(noise)})

    def single(self):
        noise = self.noise()
        return noise, self.radii(noise, self.binary if noise.categories == 2 else self.categorical)

    def joint(self):
        parts = {name: self.noise() for name in "abc"[: self.rng.integers(1, 4)]}
        return fp.JointNoise(**parts), {
            name: self.radii(part, 2 if part.categories == 2 else 1) for name, part in parts.items()
        }

    def probabilities(self, curve, n):
        """Anything, values close to 0 and 1, and neighbours of knots and of one minus knots."""
        knots = self.rng.choice(curve.knots(), n)
        knots = np.where(self.rng.random(n) < 0.5, knots, 1 - knots)
        near = 10 ** self.rng.uniform(-16, 0, n)
        kinds = [self.rng.choice(CERTAIN, n), self.rng.random(n), near, 1 - near, knots,
                 np.nextafter(knots, 0.0), np.nextafter(knots, 1.0)]  # fmt: skip
        return np.choose(self.rng.integers(len(kinds), size=n), kinds)


def _both_ends(rng, decades):
    near = 10 ** rng.uniform(-decades, 0)
    return near, 1 - near


def table_arguments(radii):
    """The same radii as a table of one cell."""
    if isinstance(radii, fp.Radii):
        return None, as_kinds(radii)
    return {part: as_kinds(one) for part, one in radii.items()}, {}


def as_kinds(radii):
    return {kind: getattr(radii, kind) for kind in ("add", "delete", "change") if getattr(radii, kind)}


def check_points(noise, radii, curve, p_lower, p_upper):
    """Every float answer at these points against the exact one."""
    parts, kinds = table_arguments(radii)
    answers = (
        p_lower,
        p_upper,
        fp.rho(noise, radii, p_lower),
        fp.rho_table(noise, p_lower, parts, **kinds),
        fp.rho_upper(noise, radii, p_upper),
        fp.mu(noise, radii, p_lower, p_upper),
        fp.mu_table(noise, p_lower, p_upper, parts, **kinds),
    )
    for p, q, lower, lower_of_table, upper, margin, margin_of_table in zip(
        *map(np.ndarray.tolist, answers), strict=True
    ):
        rho, rho_upper = curve.rho(ratio(p)), curve.rho_upper(ratio(q))
        assert rho.is_at_least(max(lower, lower_of_table)), (noise, radii, p)
        assert rho_upper.is_at_most(upper), (noise, radii, q)
        assert rho.minus(rho_upper).is_at_least(max(margin, margin_of_table)), (noise, radii, p, q)
        # and close, as long as neither is so near the end that the slope there matters
        if 1 - p >= 1e-9:
            assert rho.is_at_most(min(lower, lower_of_table) + 1e-9), (noise, radii, p)
        if q >= 1e-9:
            assert rho_upper.is_at_least(upper - 1e-9), (noise, radii, q)


def check_critical(noise, radii):
    parts, kinds = table_arguments(radii)
    truth = exact.critical_probability(noise, radii)
    for critical in (fp.critical_probability(noise, radii), float(fp.critical_table(noise, parts, **kinds))):
        assert critical >= (1 if truth is None else truth), (noise, radii)
        assert truth is None or 1 - truth < 1e-9 or critical - truth < 1e-9, (noise, radii)


def check(noise, radii, cases, points):
    curve = Curve(noise, radii)
    p_lower, p_upper = cases.probabilities(curve, points), cases.probabilities(curve, points)
    check_points(noise, radii, curve, p_lower, p_upper)
    check_critical(noise, radii)
    p, q = float(p_lower[0]), float(p_upper[0])  # the shared list says what the oracle says
    assert Fraction(*curve.rho(ratio(p))) == exact.rho(noise, radii, p)
    assert Fraction(*curve.rho_upper(ratio(q))) == exact.rho_upper(noise, radii, q)
    return points


POINTS = 105_000
"""How many are compared in the default run, and how many with every other seed, at larger radii, in the slow one."""


@pytest.mark.parametrize("seed", range(10))
def test_random_points_are_on_the_safe_side(seed):
    cases, compared = Cases(np.random.default_rng(seed)), 0
    for i in range(175):
        compared += check(*(cases.joint() if i % 4 == 0 else cases.single()), cases, 60)
    assert compared == POINTS // 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 104))
def test_more_random_points_at_larger_radii_are_on_the_safe_side(seed):
    cases, compared = Cases(np.random.default_rng(seed), binary=40, categorical=6), 0
    for i in range(210):
        compared += check(*(cases.joint() if i % 4 == 0 else cases.single()), cases, 500)
    assert compared == POINTS


# Radii of hundreds take long with as many digits as float64 has; some probabilities have few.
EASY = [0.0, 1.0, 0.5, 0.25, 0.75, 2**-9, 1 - 2**-9, 0.4375]
FAR = [fp.Radii(500, 0), fp.Radii(0, 500), fp.Radii(250, 250), fp.Radii(500, 500)]


@pytest.mark.parametrize("radii", FAR)
def test_radii_of_five_hundred_are_on_the_safe_side(radii, rng):
    cases, compared = Cases(rng), 0
    for plus, minus in rng.choice(list(itertools.product(EASY, EASY)), 2, replace=False).tolist():
        compared += check(fp.FlipNoise(plus, minus), radii, cases, 100)
    assert compared == 200


@pytest.mark.parametrize(
    ("noise", "radii"),
    [
        (fp.FlipNoise(0.01, 0.6), fp.Radii(60, 90)),
        (fp.FlipNoise(0.45, 0.5), fp.Radii(120, 30)),
        (fp.FlipNoise(1e-7, 0.9), fp.Radii(10, 140)),
        # 1 - p is rounded, and its powers are on the wrong side by tens of roundings: no few ulps would make up for it
        (fp.FlipNoise(0.13190983498965939, 0.3), fp.Radii(add=150)),
        (fp.FlipNoise(0.26, 0.4), fp.Radii(delete=200)),
        (fp.FlipNoise(0.01, 0.3), fp.Radii(add=300)),
        (fp.FlipNoise(0.2, 0.7, 256), fp.Radii(9, 9, 9)),
        (
            fp.JointNoise(a=fp.FlipNoise(0.0, 0.99), b=fp.FlipNoise(1e-9, 0.999)),
            {"a": fp.Radii(delete=30), "b": fp.Radii(delete=60)},
        ),
    ],
)
def test_large_radii_are_on_the_safe_side(noise, radii, rng):
    check(noise, radii, Cases(rng), 100)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 206))
def test_radii_up_to_five_hundred_are_on_the_safe_side(seed):
    cases = Cases(np.random.default_rng(seed))
    noise = fp.FlipNoise(*(float(cases.rng.choice([0.01, 0.6, 1e-5, 0.999, cases.rng.random()])) for _ in range(2)))
    for radii in (cases.radii(noise, 500), FAR[seed % 4]):
        check(noise, radii, cases, 200)
