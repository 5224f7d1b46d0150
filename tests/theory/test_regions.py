import math

import numpy as np
import pytest

import flipproof as fp
from flipproof.theory import exact
from flipproof.theory import regions as regions_module
from flipproof.theory.radii import axes_of, radii_at


def small_radii(noise, largest=2):
    """All kinds of radii up to `largest` along every axis, a few of them."""
    axes = len(axes_of(noise))
    points = [tuple(largest if i == j else 0 for j in range(axes)) for i in range(axes)]
    return [radii_at(noise, p) for p in [*points, (1,) * axes, tuple(1 + i % largest for i in range(axes))]]


def test_masses_equal_the_exact_ones(noise):
    for radii in small_radii(noise):
        ours, truth = fp.regions(noise, radii), exact.regions(noise, radii)
        assert len(ours) == len(truth)
        np.testing.assert_allclose(ours.clean, [float(r.clean) for r in truth], rtol=1e-14, atol=1e-300)
        np.testing.assert_allclose(ours.adversarial, [float(r.adversarial) for r in truth], rtol=1e-14, atol=1e-300)


def test_ratios_descend_and_masses_sum_to_one(noise):
    for radii in small_radii(noise):
        regions = fp.regions(noise, radii)
        assert np.all(regions.log_ratio[:-1] >= regions.log_ratio[1:])
        assert math.isclose(regions.clean.sum(), 1.0)
        assert math.isclose(regions.adversarial.sum(), 1.0)


def test_an_unsorted_list_cannot_be_made():
    regions = fp.Regions(clean=[0.1, 0.3, 0.0, 0.6, 0.0], adversarial=[0.5, 0.3, 0.05, 0.1, 0.05])
    np.testing.assert_array_equal(regions.clean, [0.6, 0.3, 0.1, 0.0])
    np.testing.assert_array_equal(regions.adversarial, [0.1, 0.3, 0.5, 0.1])
    with pytest.raises(ValueError, match="read-only"):
        regions.clean[0] = 0.0


@pytest.mark.parametrize(
    ("clean", "adversarial", "slack"),
    [
        ([0.5, 0.4], [0.5, 0.5], 0.0),
        ([0.5, 0.5], [1.5, -0.5], 0.0),
        ([0.5, math.nan], [0.5, 0.5], 0.0),
        ([[1.0]], [[1.0]], 0.0),
        ([1.0], [0.5, 0.5], 0.0),
        ([0.5, 0.5], [0.5, 0.5], -1.0),
        ([0.5, 0.5], [0.5, 0.5], math.nan),
        ([0.5, 0.5], [0.5, 0.5], math.inf),
        ([0.5, 0.5], [0.5, 0.5], "0"),
        ("a", "b", 0.0),
        ([[0.5], [0.2, 0.3]], [0.5, 0.5], 0.0),
    ],
)
def test_masses_that_are_no_distribution_are_refused(clean, adversarial, slack):
    with pytest.raises(fp.InvalidInputError, match="expected"):
        fp.Regions(clean, adversarial, slack)


def test_numbers_of_regions():
    assert len(fp.regions(fp.FlipNoise(0.01, 0.6), fp.Radii(3, 4))) == 8
    assert len(fp.regions(fp.FlipNoise(0.0, 0.8), fp.Radii(2, 3))) == 3  # paper, appendix on special cases
    assert len(fp.regions(fp.FlipNoise(0.8, 0.8, 256), fp.Radii(1, 2, 2))) == 2 * 5 + 1
    assert len(fp.regions(fp.FlipNoise(0.4, 0.6), fp.Radii(5, 5))) == 1
    assert len(fp.regions(fp.FlipNoise(0.75, 0.75, 4), fp.Radii(5, 5, 5))) == 1
    assert len(fp.regions(fp.FlipNoise(0.3, 0.7), fp.Radii(5, 5))) == 11  # 0.3 + 0.7 is not 1 in binary fractions


def test_a_joint_product_is_sorted_again():
    """Without sorting, this point comes out as robust (.607); the true value is .396."""
    noise = fp.JointNoise(structure=fp.FlipNoise(0.002, 0.4), attributes=fp.FlipNoise(0.002, 0.6))
    radii = {"structure": fp.Radii(add=2), "attributes": fp.Radii(delete=12)}
    assert fp.rho(noise, radii, 0.9999954) == pytest.approx(float(exact.rho(noise, radii, 0.9999954)), abs=1e-9)
    assert fp.rho(noise, radii, 0.9999954) == pytest.approx(0.396, abs=5e-4)


def test_parts_with_one_law_are_one_part():
    part = fp.FlipNoise(0.1, 0.3)
    joint = fp.regions(fp.JointNoise(a=part, b=part), {"a": fp.Radii(1, 2), "b": fp.Radii(3, 1)})
    np.testing.assert_allclose(joint.clean, fp.regions(part, fp.Radii(4, 3)).clean, rtol=1e-13)


@pytest.mark.parametrize("most", [60, 500])
def test_a_product_too_large_is_merged_on_the_safe_side(monkeypatch, most):
    noise = fp.JointNoise(a=fp.FlipNoise(0.0, 0.45), b=fp.FlipNoise(0.1, 0.5), c=fp.FlipNoise(0.05, 0.3, 3))
    radii = {"a": fp.Radii(1, 2), "b": fp.Radii(4, 5), "c": fp.Radii(3, 3, 2)}
    monkeypatch.setattr(regions_module, "MAX_REGIONS", most)
    regions_module.regions_at.cache_clear()
    merged = fp.regions(noise, radii)
    regions_module.regions_at.cache_clear()
    assert 10 < len(merged) <= most < len(exact.regions(noise, radii))
    for p in (0.5, 0.9, 0.99, 0.99999):
        truth = exact.rho(noise, radii, p)
        ours = merged.lower_mass(np.array([p]))[0]
        assert ours <= truth
        assert truth - ours <= 2 * merged.slack
    assert merged.slack < 120 / most
