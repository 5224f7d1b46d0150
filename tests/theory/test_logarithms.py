"""What statement 8 assumes of logarithms, measured: `np.log` in all its code paths and `math.log` against 200 bits."""

import math
from fractions import Fraction

import gmpy2
import numpy as np
import pytest

import flipproof as fp
from flipproof.base.rounding import LOG_ERROR, ROUNDOFF
from flipproof.theory import exact
from flipproof.theory.lattice import lattice_of

PROMISED = 8 * ROUNDOFF
"""Four units in the last place: what numpy promises, half of what we assume."""


def points(kind, rng):
    if kind == "anywhere":
        return np.ldexp(rng.random(20_000) + 0.5, rng.integers(-1070, 1000, 20_000))
    if kind == "probabilities":
        return rng.random(20_000)
    if kind == "near one":
        steps = np.concatenate([np.arange(1, 5_000), 2 ** np.arange(14, 50)]).astype(float)
        return np.concatenate([1.0 - steps * 2.0**-53, 1.0 + steps * 2.0**-52])
    if kind == "subnormal":
        return np.concatenate([np.arange(1, 2_000), rng.integers(1, 2**52, 10_000)]) * 5e-324
    return np.array([np.nextafter(2.0**k, side) for k in range(-1022, 1020) for side in (0.0, 2.0**k, math.inf)])


def largest_error(values, logs):
    """The largest relative error; a logarithm of zero must be zero."""
    with gmpy2.context(precision=200):
        exact_logs = [gmpy2.log(gmpy2.mpfr(float(value))) for value in values]
        errors = [
            abs((gmpy2.mpfr(float(log)) - truth) / truth) if truth else gmpy2.mpfr(float(log))
            for log, truth in zip(logs, exact_logs, strict=True)
        ]
        return float(max(errors))


@pytest.mark.parametrize("kind", ["anywhere", "probabilities", "near one", "subnormal", "powers of two"])
def test_logarithms_err_by_less_than_is_promised(kind, rng):
    values = points(kind, rng)
    assert values.min() > 0.0
    spread = np.empty((values.size, 3))
    spread[:, 1] = values
    one_by_one = [np.log(value) for value in values[:3_000]]  # not the vectorised loop
    assert largest_error(values, np.log(values)) <= PROMISED < LOG_ERROR
    assert largest_error(values, np.log(spread[:, 1])) <= PROMISED
    assert largest_error(values[:3_000], one_by_one) <= PROMISED
    assert largest_error(values, list(map(math.log, values))) <= PROMISED


def test_weights_of_a_lattice_are_within_their_errors(rng):
    """Also where the probability of one particular value is below all floats."""
    flips = [5e-324, 1e-320, 1e-300, 1e-16, 0.01, 0.3, 0.75, 1 - 2**-53, *rng.random(50)]
    for plus, minus, categories in zip(flips, rng.permutation(flips), rng.choice([2, 3, 256, 2**31], 58), strict=True):
        noise = fp.FlipNoise(float(plus), float(minus), int(categories))
        lattice = lattice_of(noise)
        for weight, error, truth in zip(lattice.weight, lattice.weight_error, weights_of(noise), strict=True):
            with gmpy2.context(precision=200):
                assert abs(gmpy2.mpfr(float(weight)) - truth) <= error
            assert error <= 25 * LOG_ERROR * (abs(weight) + 40)


def weights_of(noise):
    """Logs of the exact quotients that statement 5 calls t, A and B."""
    plus, minus, others = Fraction(noise.p_plus), Fraction(noise.p_minus), noise.categories - 1
    if noise.categories == 2:
        exact_quotients = [plus * minus / ((1 - plus) * (1 - minus))]
    else:
        exact_quotients = [(1 - plus) * others / plus, (1 - minus) * others / minus]
        exact_quotients = exact_quotients[:1] if plus == minus else exact_quotients
    with gmpy2.context(precision=200):
        return [
            gmpy2.log(gmpy2.mpfr(one.numerator)) - gmpy2.log(gmpy2.mpfr(one.denominator)) for one in exact_quotients
        ]


def test_logarithms_that_err_by_all_that_is_assumed_do_no_harm(monkeypatch, rng):
    """The bound of statement 8 with logs that are wrong by 7 units in the last place, up or down at random."""
    right = np.log

    def wrong(values):
        noisy = right(values)
        return noisy + 0.875 * LOG_ERROR * np.abs(noisy) * rng.choice([-1.0, 1.0], np.shape(noisy))

    for _ in range(300):
        small = 1e-100 * rng.random(6)  # logs of some 230, so that their errors matter
        clean = np.concatenate([[1.0], small])
        adversarial = np.concatenate([[1.0], 2.0 * small * (1 + 6e-13 * rng.standard_normal(6))])
        monkeypatch.setattr(np, "log", wrong)
        regions = fp.Regions(clean, adversarial)
        monkeypatch.undo()
        s = small.sum() * rng.random(5)
        for one, bound in zip(s, regions.upper_mass(s), strict=True):
            assert bound >= exact_upper(clean, adversarial, one)


def exact_upper(clean, adversarial, s):
    pairs = [(Fraction(float(f)), Fraction(float(g))) for f, g in zip(clean, adversarial, strict=True)]
    return exact._adversarial_mass(
        [exact.Region(f, g) for f, g in sorted(pairs, key=lambda pair: pair[1] / pair[0] if pair[0] else math.inf)][
            ::-1
        ],
        Fraction(float(s)),
    )
