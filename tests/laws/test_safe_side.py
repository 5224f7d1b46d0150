"""Random noises, radii and probabilities, nasty ones included, against exact arithmetic: never on the wrong side."""

from fractions import Fraction

import numpy as np
import pytest

import flipproof as fp
from flipproof.theory import exact
from flipproof.theory.radii import kinds_of

NASTY = [0.0, 1.0, 0.5, 0.25, 0.75, 0.3, 0.7, 5e-324, 1e-300, 1e-16, 2**-53, 1 - 2**-53, 0.01, 0.6, 1e-5, 0.999]
CERTAIN = [0.0, 1.0, 0.5, 1 - 2**-53, 0.999, 1e-300, 5e-324]


class Cases:
    """Draws noises, radii and probabilities, nasty values more often than not."""

    def __init__(self, rng):
        self.rng = rng

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
        return noise, self.radii(noise, 12 if noise.categories == 2 else 4)

    def joint(self):
        parts = {name: self.noise() for name in "abc"[: self.rng.integers(1, 4)]}
        return fp.JointNoise(**parts), {
            name: self.radii(part, 2 if part.categories == 2 else 1) for name, part in parts.items()
        }

    def probabilities(self, n):
        return np.array([[self.rng.choice(CERTAIN), self.rng.random(), *_both_ends(self.rng, 16)][i]
                         for i in self.rng.integers(4, size=n)])  # fmt: skip


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


def check(noise, radii, p_lower, p_upper):
    """Every float answer for these radii against the exact one; returns how many were compared."""
    parts, kinds = table_arguments(radii)
    lower, upper = fp.rho(noise, radii, p_lower), fp.rho_upper(noise, radii, p_upper)
    margin = fp.mu(noise, radii, p_lower, p_upper)
    table_lower = fp.rho_table(noise, p_lower, parts, **kinds)
    table_margin = fp.mu_table(noise, p_lower, p_upper, parts, **kinds)
    for i, (p, q) in enumerate(zip(p_lower.tolist(), p_upper.tolist(), strict=True)):
        rho, rho_upper = exact.rho(noise, radii, p), exact.rho_upper(noise, radii, q)
        assert max(lower[i], table_lower[i]) <= rho, (noise, radii, p)
        assert upper[i] >= rho_upper, (noise, radii, q)
        assert max(margin[i], table_margin[i]) <= rho - rho_upper, (noise, radii, p, q)
        if 1 - p >= 1e-9:
            assert rho - Fraction(float(min(lower[i], table_lower[i]))) < 1e-9, (noise, radii, p)
    critical, truth = fp.critical_probability(noise, radii), exact.critical_probability(noise, radii)
    smallest = min(critical, float(fp.critical_table(noise, parts, **kinds)))
    assert smallest >= (1 if truth is None else truth), (noise, radii)
    return 5 * len(p_lower) + 2


@pytest.mark.parametrize("seed", range(8))
def test_random_points_are_on_the_safe_side(seed):
    cases = Cases(np.random.default_rng(seed))
    for i in range(120):
        noise, radii = cases.joint() if i % 4 == 0 else cases.single()
        check(noise, radii, cases.probabilities(6), cases.probabilities(6))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_many_random_points_are_on_the_safe_side(seed):
    cases, compared = Cases(np.random.default_rng(seed)), 0
    while compared < 20_000:
        noise, radii = cases.joint() if cases.rng.random() < 0.25 else cases.single()
        compared += check(noise, radii, cases.probabilities(12), cases.probabilities(12))


@pytest.mark.parametrize(
    ("noise", "radii"),
    [
        (fp.FlipNoise(0.01, 0.6), fp.Radii(60, 90)),
        (fp.FlipNoise(0.45, 0.5), fp.Radii(120, 30)),
        (fp.FlipNoise(1e-7, 0.9), fp.Radii(10, 140)),
        (fp.FlipNoise(0.2, 0.7, 256), fp.Radii(9, 9, 9)),
        (
            fp.JointNoise(a=fp.FlipNoise(0.0, 0.99), b=fp.FlipNoise(1e-9, 0.999)),
            {"a": fp.Radii(delete=30), "b": fp.Radii(delete=60)},
        ),
    ],
)
def test_large_radii_are_on_the_safe_side(noise, radii):
    p = np.array([0.4, 0.6, 0.99, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12, 1 - 1e-15, 1.0])
    check(noise, radii, p, 1 - p)
