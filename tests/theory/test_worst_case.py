import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from test_regions import small_radii

import flipproof as fp
from flipproof.theory import exact

PAPER = fp.FlipNoise(0.01, 0.6)
PROBABILITIES = np.array([0.0, 1e-12, 0.1, 0.5, 0.6, 0.75, 0.9, 0.99, 0.9999, 1 - 1e-9, 1 - 1e-12, 1 - 2**-53, 1.0])


def test_bounds_are_on_the_safe_side_and_close(noise):
    for radii in small_radii(noise, largest=3):
        lower, upper = fp.rho(noise, radii, PROBABILITIES), fp.rho_upper(noise, radii, PROBABILITIES)
        for p, low, up in zip(PROBABILITIES.tolist(), lower.tolist(), upper.tolist(), strict=True):
            rho, rho_upper = exact.rho(noise, radii, p), exact.rho_upper(noise, radii, p)
            assert low <= rho
            assert up >= rho_upper
            if 1 - p >= 1e-9:
                assert rho - Fraction(low) < 1e-9
            if p >= 1e-9:
                assert Fraction(up) - rho_upper < 1e-9


def test_margins_are_on_the_safe_side(noise):
    p_lower, p_upper = PROBABILITIES, PROBABILITIES[::-1] / 2
    for radii in small_radii(noise):
        for p, q, ours in zip(p_lower, p_upper, fp.mu(noise, radii, p_lower, p_upper), strict=True):
            assert ours <= exact.mu(noise, radii, float(p), float(q))


def test_critical_probabilities_are_rounded_up(noise):
    for radii in small_radii(noise, largest=3):
        ours, truth = fp.critical_probability(noise, radii), exact.critical_probability(noise, radii)
        if truth is None:
            assert ours == math.inf
        elif 1 - truth < 2**-60:  # too close to 1 for any float to be above
            assert ours in (1.0, math.inf)
        else:
            assert 0 <= Fraction(ours) - truth < 1e-12


@pytest.mark.parametrize("p", [0.55, 0.8, 0.97, 0.9999])
def test_the_fill_solves_the_linear_program(p):
    for noise, radii in [
        (fp.FlipNoise(0.05, 0.4), fp.Radii(2, 3)),
        (fp.FlipNoise(0.2, 0.5, 3), fp.Radii(1, 1, 1)),
        (
            fp.JointNoise(a=fp.FlipNoise(0.1, 0.3), b=fp.FlipNoise(0.05, 0.6)),
            {"a": fp.Radii(1, 1), "b": fp.Radii(1, 2)},
        ),
    ]:
        regions = fp.regions(noise, radii)
        solve = {"A_eq": regions.clean[None], "bounds": (0, 1)}
        smallest = linprog(regions.adversarial, b_eq=[p], **solve).fun
        largest = -linprog(-regions.adversarial, b_eq=[1 - p], **solve).fun
        assert fp.rho(noise, radii, p) == pytest.approx(smallest, abs=1e-7)
        assert fp.rho_upper(noise, radii, 1 - p) == pytest.approx(largest, abs=1e-7)


@pytest.mark.parametrize(
    ("noise", "radii", "expected"),
    [
        *((PAPER, fp.Radii(delete=r), p) for r, p in [
            (1, 0.69696970), (2, 0.81634527), (3, 0.88869410), (5, 0.95911629), (10, 0.99665704), (15, 0.99972666),
            (20, 0.99997765)]),
        *((PAPER, fp.Radii(add=r), p) for r, p in [
            (1, 0.825), (2, 0.985875), (3, 0.98962875), (4, 0.99945017), (5, 0.9994776), (6, 0.99977513),
            (7, 0.99997531), (8, 0.99998134)]),
        (fp.FlipNoise(0.001, 0.4), fp.Radii(add=1), 0.99916667),
        (fp.FlipNoise(0.001, 0.4), fp.Radii(delete=1), 0.79979980),
        # Lee et al. 2019, thresholds published with their code: K = 256, keep probability 0.2.
        (fp.FlipNoise(0.8, 0.8, 256), fp.Radii(add=1), 0.69686274509804),
        (fp.FlipNoise(0.8, 0.8, 256), fp.Radii(change=2), 0.85373533256440),
    ],
)  # fmt: skip
def test_known_critical_probabilities(noise, radii, expected):
    assert fp.critical_probability(noise, radii) == pytest.approx(expected, abs=6e-9)


@pytest.mark.parametrize("r", range(1, 12))
def test_closed_forms_without_additions(r):
    """With p_plus = 0: deletions need 1 - p < p_minus^r / 2, additions need p * p_minus^r > 1/2."""
    noise = fp.FlipNoise(0.0, 0.8)
    assert 1 - fp.critical_probability(noise, fp.Radii(delete=r)) == pytest.approx(0.8**r / 2, rel=1e-12)
    needed = 0.5 / 0.8**r
    critical = fp.critical_probability(noise, fp.Radii(add=r))
    assert critical == (pytest.approx(needed) if needed < 1 else math.inf)


@pytest.mark.parametrize(
    ("noise", "radii"),
    [
        (fp.FlipNoise(5e-324, 1.0, 5), fp.Radii(delete=1)),
        (fp.FlipNoise(5e-324, 1.0), fp.Radii(delete=1)),
        (fp.FlipNoise(1e-310, 0.3), fp.Radii(add=2)),
        (
            fp.JointNoise(a=fp.FlipNoise(5e-324, 1.0), b=fp.FlipNoise(0.3, 0.4, 3)),
            {"a": fp.Radii(delete=1), "b": fp.Radii(1, 1, 1)},
        ),
    ],
)
def test_certainty_is_on_the_safe_side_where_masses_underflow(noise, radii):
    assert fp.rho(noise, radii, 1.0) <= exact.rho(noise, radii, 1)
    assert fp.rho_upper(noise, radii, 0.0) >= exact.rho_upper(noise, radii, 0)


@pytest.mark.parametrize(("noise", "count"), [(fp.FlipNoise(0.01, 0.1), 320), (fp.FlipNoise(0.0, 0.6), 1000)])
def test_certainty_stays_certain_where_slopes_overflow(noise, count):
    assert fp.rho(noise, fp.Radii(delete=count), 1.0) == 1.0
    assert fp.rho_upper(noise, fp.Radii(delete=count), 0.0) == 0.0
    assert fp.rho_table(noise, [1.0], delete=count)[0] >= 1 - 2**-53


def test_scalars_give_floats_and_arrays_give_arrays():
    noise, radii = fp.FlipNoise(0.01, 0.6), fp.Radii(1, 2)
    for function in (fp.rho, fp.rho_upper, fp.mu):
        assert type(function(noise, radii, 0.9)) is float
        assert type(function(noise, radii, np.float64(0.9))) is float
        assert type(function(noise, radii, 1)) is float
        assert function(noise, radii, [0.9, 0.99]).shape == (2,)
        assert function(noise, radii, np.full((2, 3), 0.9)).shape == (2, 3)
        assert function(noise, radii, []).shape == (0,)
    assert fp.mu(noise, radii, 0.9, [0.1, 0.05]).shape == (2,)
    assert type(fp.critical_probability(noise, radii)) is float


@pytest.mark.parametrize(
    "bad",
    [
        -0.1,
        1.1,
        math.nan,
        math.inf,
        "0.9",
        None,
        [0.5, 2.0],
        [0.5, math.nan],
        [[0.5], [0.5, 0.5]],
        1j,
        True,
        np.longdouble(0.5),
    ],
)
def test_bad_probabilities_are_refused(bad):
    for function, name in ((fp.rho, "p_lower"), (fp.rho_upper, "p_upper"), (fp.mu, "p_lower")):
        with pytest.raises(fp.InvalidInputError, match=f"expected {name} .*, got"):
            function(fp.FlipNoise(0.1, 0.2), fp.Radii(1), bad)


def test_bounds_of_different_shapes_are_refused():
    with pytest.raises(fp.InvalidInputError, match="expected p_lower and p_upper of equal shape"):
        fp.mu(fp.FlipNoise(0.1, 0.2), fp.Radii(1), [0.9, 0.8], [0.1, 0.1, 0.1])


def test_radii_that_do_not_fit_into_memory_are_refused():
    for count in (10**5, 10**9, fp.UNBOUNDED):
        with pytest.raises(fp.InvalidInputError, match="ask for fewer or smaller radii"):
            fp.rho(fp.FlipNoise(0.1, 0.2), fp.Radii(add=count), 0.9)
    assert fp.rho(fp.FlipNoise(0.5, 0.5), fp.Radii(add=10**9), 0.9) == 0.9
