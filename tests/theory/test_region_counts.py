"""Statement 25: how many regions there are, against all likelihood ratios one by one, in exact fractions."""

from fractions import Fraction
from itertools import product
from math import prod

import pytest

import flipproof as fp
from flipproof.theory import exact
from flipproof.theory.lattice import lattice_of

SMALL = [fp.Radii(a, d, c) for a, d, c in product(range(4), repeat=3) if a + d + c <= 4]


def outcomes(noise, kind):
    """(clean, adversarial) probabilities of all values that a changed entry may get, one value each."""
    plus, minus, k = Fraction(noise.p_plus), Fraction(noise.p_minus), noise.categories
    clean, adversarial = {"add": (0, 1), "delete": (1, 0), "change": (1, 2)}[kind]
    law = {value: [plus, minus][value > 0] for value in (clean, adversarial)}
    return [tuple(1 - law[own] if z == own else law[own] / (k - 1) for own in (clean, adversarial)) for z in range(k)]


def ratios(*parts):
    """All distinct likelihood ratios of noises at radii; None where only the clean input can be."""
    entries = [
        outcomes(noise, kind)
        for noise, radii in parts
        for kind in ("add", "delete", "change")
        for _ in range(getattr(radii, kind))
    ]
    found = set()
    for choice in product(*(set(entry) for entry in entries)):
        clean, adversarial = prod(one for one, _ in choice), prod(two for _, two in choice)
        if clean or adversarial:
            found.add(clean / adversarial if adversarial else None)
    return found


def counted(noise, radii):
    """What all three ways of counting agree on."""
    number = len(ratios((noise, radii)))
    assert number == len(fp.regions(noise, radii)) == len(exact.regions(noise, radii))
    return number


@pytest.mark.parametrize("radii", [radii for radii in SMALL if not radii.change], ids=str)
def test_binary(radii):
    r = radii.add + radii.delete
    assert counted(fp.FlipNoise(0.01, 0.6), radii) == r + 1
    assert counted(fp.FlipNoise(0.7, 0.8), radii) == r + 1
    assert counted(fp.FlipNoise(0.0, 0.8), radii) == 1 + bool(radii.add) + bool(radii.delete)
    assert counted(fp.FlipNoise(0.25, 0.75), radii) == 1


@pytest.mark.parametrize("radii", SMALL, ids=str)
def test_categories(radii):
    a, d, c = radii.add, radii.delete, radii.change
    r = a + d + c
    assert counted(fp.FlipNoise(0.4, 0.4, 3), radii) == 2 * r + 1
    general = (r + 1) ** 2 - c**2 - a * (a + 1) // 2 - d * (d + 1) // 2
    assert counted(fp.FlipNoise(0.1, 0.3, 3), radii) == general <= (r + 1) ** 2
    assert counted(fp.FlipNoise(0.1, 0.3, 5), radii) == general


@pytest.mark.parametrize("noise", [fp.FlipNoise(0.1, 0.3, 3), fp.FlipNoise(0.3, 0.8, 256)], ids=str)
def test_large_radii(noise):
    """Without brute force: the lattice against the formula."""
    for a, d, c in [(7, 3, 5), (0, 12, 4), (9, 0, 0), (5, 5, 5)]:
        r = a + d + c
        formula = (r + 1) ** 2 - c**2 - a * (a + 1) // 2 - d * (d + 1) // 2
        assert len(fp.regions(noise, fp.Radii(a, d, c))) == formula
        assert prod(lattice_of(noise).extent((a, d, c))) == (a + d + 1) * (a + d + 2 * c + 1) == (r + 1) ** 2 - c**2


def test_joint_noises_have_products_and_parts_with_one_law_a_sum():
    one, two = fp.FlipNoise(0.01, 0.6), fp.FlipNoise(0.1, 0.3, 3)
    radii = {"a": fp.Radii(1, 2), "b": fp.Radii(1, 1)}
    parts = (one, radii["a"]), (two, radii["b"])
    product_of_both = len(ratios(parts[0])) * len(ratios(parts[1]))
    assert len(ratios(*parts)) == product_of_both == len(fp.regions(fp.JointNoise(a=one, b=two), radii))
    assert len(fp.regions(fp.JointNoise(a=one, b=one), radii)) == 1 + 2 + 1 + 1 + 1


def test_entries_that_agree_change_nothing():
    """Whatever the rest of the input is, and however long: no ratio and no mass of a region depends on it."""
    noise, radii = fp.FlipNoise(0.1, 0.3, 3), fp.Radii(1, 1)
    for rest in ("", "0", "1", "02", "212"):
        entries = [outcomes(noise, "add"), outcomes(noise, "delete")]
        entries += [[(one, one) for one, _ in outcomes(noise, "delete" if int(value) else "add")] for value in rest]
        masses = {}
        for choice in product(*entries):
            clean, adversarial = prod(one for one, _ in choice), prod(two for _, two in choice)
            total = masses.setdefault(clean / adversarial, [0, 0])
            total[0] += clean
            total[1] += adversarial
        by_ratio = [tuple(masses[key]) for key in sorted(masses, reverse=True)]
        assert by_ratio == [tuple(region) for region in exact.regions(noise, radii)]
