"""What must hold for every noise, all radii and all probabilities."""

import math

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import flipproof as fp

SPECIAL = st.sampled_from([0.0, 1.0, 0.5, 0.25, 0.75, 0.01, 0.6, 1e-5, 1 - 1e-9])
FLIP = SPECIAL | st.floats(0.0, 1.0)
PROBABILITY = st.sampled_from([0.0, 0.5, 1.0, 0.99, 1 - 1e-9]) | st.floats(0.0, 1.0)
CATEGORIES = st.sampled_from([2, 2, 3, 4, 256])
COUNT = st.integers(0, 6)


@st.composite
def flip_noises(draw):
    return fp.FlipNoise(draw(FLIP), draw(FLIP), draw(CATEGORIES))


@st.composite
def noises_with_radii(draw):
    noise = draw(flip_noises())
    return noise, fp.Radii(draw(COUNT), draw(COUNT), draw(COUNT) if noise.categories > 2 else 0)


def grown(radii, kind):
    return fp.Radii(**{k: getattr(radii, k) + (k == kind) for k in ("add", "delete", "change")})


@given(noises_with_radii())
def test_masses_sum_to_one_and_ratios_descend(case):
    regions = fp.regions(*case)
    assert math.isclose(regions.clean.sum(), 1.0)
    assert math.isclose(regions.adversarial.sum(), 1.0)
    assert np.all(regions.log_ratio[:-1] >= regions.log_ratio[1:])


@given(flip_noises(), PROBABILITY)
def test_at_radius_zero_rho_is_p(noise, p):
    assert fp.rho(noise, fp.Radii(), p) == p
    assert fp.rho_upper(noise, fp.Radii(), p) == p
    assert fp.critical_probability(noise, fp.Radii()) == 0.5


@given(noises_with_radii(), PROBABILITY, PROBABILITY)
def test_rho_rises_in_p(case, p, q):
    low, high = sorted((p, q))
    assert fp.rho(*case, low) <= fp.rho(*case, high) + 1e-15
    assert fp.rho_upper(*case, low) <= fp.rho_upper(*case, high) + 1e-15


@given(noises_with_radii(), PROBABILITY, st.sampled_from(["add", "delete", "change"]))
def test_rho_falls_in_every_radius(case, p, kind):
    noise, radii = case
    assume(kind != "change" or noise.categories > 2)
    assert fp.rho(noise, grown(radii, kind), p) <= fp.rho(noise, radii, p) + 1e-11
    assert fp.critical_probability(noise, grown(radii, kind)) >= fp.critical_probability(noise, radii) - 1e-11


@given(noises_with_radii(), PROBABILITY)
def test_rho_is_between_zero_and_p(case, p):
    assert 0.0 <= fp.rho(*case, p) <= p <= fp.rho_upper(*case, p) <= 1.0


@given(noises_with_radii(), PROBABILITY)
def test_the_twin_is_the_complement(case, p):
    assert math.isclose(fp.rho_upper(*case, p), 1 - fp.rho(*case, 1 - p), abs_tol=1e-11)


@given(noises_with_radii(), PROBABILITY)
def test_two_class_margin_is_twice_rho_minus_one(case, p):
    assert math.isclose(fp.mu(*case, p), 2 * fp.rho(*case, p) - 1, abs_tol=1e-11)
    assert math.isclose(fp.mu(*case, p), fp.mu(*case, p, 1 - p), abs_tol=1e-11)


@given(noises_with_radii())
def test_the_critical_probability_separates(case):
    critical = fp.critical_probability(*case)
    assert critical >= 0.5
    if critical < 1 - 1e-6:  # closer to 1, neighbouring floats are too far apart to say how close it is
        assert fp.rho(*case, critical) <= 0.5 + 1e-9
        assert fp.rho(*case, critical + 1e-12) >= 0.5


@given(FLIP, FLIP, COUNT, COUNT, PROBABILITY)
def test_swapping_zeros_and_ones_changes_nothing(plus, minus, add, delete, p):
    one = fp.rho(fp.FlipNoise(plus, minus), fp.Radii(add, delete), p)
    other = fp.rho(fp.FlipNoise(minus, plus), fp.Radii(delete, add), p)
    assert math.isclose(one, other, abs_tol=1e-11)


@given(FLIP, COUNT, COUNT, COUNT, PROBABILITY)
def test_with_symmetric_noise_only_the_total_counts(flip, add, delete, change, p):
    noise = fp.FlipNoise(flip, flip, 5)
    one = fp.rho(noise, fp.Radii(add, delete, change), p)
    assert math.isclose(one, fp.rho(noise, fp.Radii(add + delete + change), p), abs_tol=1e-11)


@given(noises_with_radii(), flip_noises(), PROBABILITY)
def test_a_part_that_is_not_touched_does_not_matter(case, other, p):
    noise, radii = case
    joint = fp.JointNoise(touched=noise, other=other)
    assert fp.rho(joint, {"touched": radii}, p) == fp.rho(noise, radii, p)


@given(noises_with_radii(), st.lists(PROBABILITY, min_size=1, max_size=5))
def test_tables_equal_single_radii(case, probabilities):
    noise, radii = case
    kinds = {"add": radii.add, "delete": radii.delete}
    if noise.categories > 2:
        kinds["change"] = radii.change
    single = fp.rho(noise, radii, probabilities)
    np.testing.assert_allclose(fp.rho_table(noise, probabilities, **kinds), single, atol=1e-11)


@given(noises_with_radii(), PROBABILITY)
def test_largest_radius_is_certified_and_the_next_is_not(case, p):
    noise, _ = case
    for kind in ("add", "delete") if noise.categories == 2 else ("add", "delete", "change"):
        radius = fp.largest_radius(noise, p, along=kind, limit=40)
        if radius == fp.UNBOUNDED:
            radius = 17
        elif radius < 40:
            assert not fp.mu(noise, fp.Radii(**{kind: radius + 1}), p) > 0 or p <= 0.5
        if p > 0.5:
            assert fp.mu(noise, fp.Radii(**{kind: radius}), p) > 0
        else:
            assert radius == 0
