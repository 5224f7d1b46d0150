"""Labels of probability 1, and rivals of probability 0, at radii where masses underflow: exact values or below them."""

from itertools import product

import numpy as np
import pytest

import flipproof as fp
from flipproof.theory import exact
from flipproof.theory.radii import UNBOUNDED, axes_of, radii_at, unit_of
from flipproof.theory.search import unbounded_axes

UNDERFLOWING = {
    "many": (fp.FlipNoise(2**-30, 0.5), fp.Radii(60, 40)),
    "rare": (fp.FlipNoise(1e-300, 0.5), fp.Radii(2, 2)),
    "smallest": (fp.FlipNoise(5e-324, 5e-324), fp.Radii(3, 1)),
    "large": (fp.FlipNoise(0.01, 0.6), fp.Radii(150, 80)),
    "ternary": (fp.FlipNoise(1e-200, 0.3, 3), fp.Radii(2, 1, 2)),
    "levels": (fp.FlipNoise(5e-324, 0.8, 256), fp.Radii(1, 1, 1)),
    "deletions under deletion noise": (fp.FlipNoise(0.0, 1e-5), fp.Radii(0, 70)),
    "additions under deletion noise": (fp.FlipNoise(0.0, 1e-5), fp.Radii(70, 0)),
    "joint": (
        fp.JointNoise(a=fp.FlipNoise(1e-100, 0.5), b=fp.FlipNoise(0.0, 1e-150)),
        {"a": fp.Radii(4, 2), "b": fp.Radii(delete=3)},
    ),
    "joint, not covered": (
        fp.JointNoise(a=fp.FlipNoise(1e-100, 0.5), b=fp.FlipNoise(0.0, 1e-150)),
        {"a": fp.Radii(4, 2), "b": fp.Radii(add=1, delete=3)},
    ),
}


def table_arguments(radii):
    if isinstance(radii, fp.Radii):
        return None, {kind: getattr(radii, kind) for kind in ("add", "delete", "change") if getattr(radii, kind)}
    kinds = ("add", "delete", "change")
    return {part: {k: getattr(one, k) for k in kinds if getattr(one, k)} for part, one in radii.items()}, {}


@pytest.mark.parametrize("name", UNDERFLOWING)
def test_certain_labels_where_masses_underflow(name):
    noise, radii = UNDERFLOWING[name]
    check_at(noise, radii)


def test_a_certain_label_keeps_all_its_probability_at_hundreds_of_changes():
    """What gave 0.0: the clean mass of the last region underflows, its adversarial mass is almost 1."""
    noise, radii = fp.FlipNoise(3.69e-5, 0.5), fp.Radii(300, 200)
    assert fp.regions(noise, radii).clean[-1] == 0.0
    assert fp.rho(noise, radii, [1.0, 0.5]).tolist() == [1.0, 0.0]
    assert fp.rho_table(noise, [1.0], add=300, delete=200).tolist() == [1.0]
    assert fp.mu(noise, radii, 1.0, 0.0) == 1.0


def test_certain_labels_at_all_small_radii(noise):
    for point in product(range(3), repeat=len(axes_of(noise))):
        if sum(point) <= 4:
            check_at(noise, radii_at(noise, point))


def check_at(noise, radii):
    """`rho` of 1 and `rho_upper` of 0 against exact fractions, alone, in a table and as a margin."""
    truth, upper = exact.rho(noise, radii, 1), exact.rho_upper(noise, radii, 0)
    assert truth == 1 - upper
    parts, kinds = table_arguments(radii)
    values = (
        fp.rho(noise, radii, 1.0),
        fp.rho_table(noise, [1.0], parts, **kinds).item(),
        fp.mu(noise, radii, 1.0, 0.0) + float(upper),
        fp.mu_table(noise, [1.0], [0.0], parts, **kinds).item() + float(upper),
    )
    if upper == 0:
        assert values == (1.0, 1.0, 1.0, 1.0)
        assert fp.rho_upper(noise, radii, 0.0) == 0.0
    assert all(value <= truth + 2.0**-50 for value in values[2:])
    assert all(value <= truth for value in values[:2])
    assert fp.rho_upper(noise, radii, 0.0) >= upper
    assert fp.rho_upper(noise, radii, 0.0) <= upper + 1e-9


def test_one_certain_label_among_others_in_a_table():
    """Zeros are found wherever they stand, and only where the cell is covered."""
    noise = fp.FlipNoise(0.0, 1e-5)
    table = fp.rho_table(noise, [0.5, 1.0, 0.9, 1.0], add=range(2), delete=[0, 1, 70])
    assert (table[0][:, [1, 3]] == 1.0).all()
    assert (table[1][:, [1, 3]] < 1e-4).all()
    for add, delete in product(range(2), (0, 1, 70)):
        expected = fp.rho(noise, fp.Radii(add, delete), [0.5, 1.0, 0.9, 1.0])
        np.testing.assert_allclose(table[add, (0, 1, 70).index(delete)], expected, atol=1e-12)


def test_unbounded_axes_are_those_whose_margin_never_falls(noise):
    """A certain label is unbounded along an axis exactly if its float margin is 1 at radii large and small."""
    certain = np.ones(1), np.zeros(1)
    for axis, unbounded in enumerate(unbounded_axes(noise, *certain)[:, 0]):
        margins = [fp.mu(noise, radii_at(noise, unit_of(noise, axis, count)), 1.0, 0.0) for count in (1, 7, 40)]
        assert unbounded == (margins == [1.0, 1.0, 1.0])
        found = fp.largest_radius(noise, 1.0, str(axes_of(noise)[axis]), 0.0, limit=40)
        assert (found == UNBOUNDED) == unbounded
