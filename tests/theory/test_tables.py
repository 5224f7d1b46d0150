import itertools
import math

import numpy as np
import pytest

import flipproof as fp
from flipproof.theory import exact
from flipproof.theory import tables as tables_module
from flipproof.theory.radii import axes_of, radii_at

P_LOWER = np.array([0.3, 0.9999, 0.5, 0.97, 0.8, 1.0])
P_UPPER = np.array([0.2, 0.0001, 0.5, 0.01, 0.15, 0.0])


def boxes(noise, size=3):
    """(parts, kinds, points): the same box of radii as table arguments and as points."""
    axes = axes_of(noise)
    points = list(itertools.product(range(size), repeat=len(axes)))
    if axes[0].part is None:
        return None, {axis.kind: range(size) for axis in axes}, points
    parts = {}
    for axis in axes:
        parts.setdefault(axis.part, {})[axis.kind] = range(size)
    return parts, {}, points


def test_tables_agree_with_single_radii_and_stay_on_the_safe_side(noise):
    parts, kinds, points = boxes(noise, size=2 if len(axes_of(noise)) > 4 else 3)
    critical = fp.critical_table(noise, parts, **kinds).ravel()
    rho = fp.rho_table(noise, P_LOWER, parts, **kinds).reshape(len(points), -1)
    mu = fp.mu_table(noise, P_LOWER, P_UPPER, parts, **kinds).reshape(len(points), -1)
    for i, point in enumerate(points):
        radii = radii_at(noise, point)
        truth = exact.critical_probability(noise, radii)
        assert critical[i] == math.inf if truth is None else critical[i] >= truth
        np.testing.assert_allclose(critical[i], fp.critical_probability(noise, radii), rtol=1e-11)
        np.testing.assert_allclose(rho[i], fp.rho(noise, radii, P_LOWER), atol=1e-11)
        np.testing.assert_allclose(mu[i], fp.mu(noise, radii, P_LOWER, P_UPPER), atol=1e-11)
        for p, q, ours, margin in zip(P_LOWER.tolist(), P_UPPER.tolist(), rho[i], mu[i], strict=True):
            assert ours <= exact.rho(noise, radii, p)
            assert margin <= exact.mu(noise, radii, p, q)


def test_changes_that_do_not_matter_are_not_counted():
    hidden = fp.FlipNoise(0.25, 0.75)
    assert fp.critical_table(hidden, add=[1, 10**9, 2**70], delete=[0, 3]).tolist() == [[0.5, 0.5]] * 3
    half = fp.FlipNoise(0.2, 0.75, 4)
    table = fp.critical_table(half, add=[0, 2], delete=[1, 3], change=[0, 5, 10**12])
    assert (table == table[..., :1]).all()
    np.testing.assert_allclose(table[1, 1, 0], fp.critical_probability(half, fp.Radii(2, 3)), rtol=1e-12)


def test_radius_zero_is_exact_for_any_number_of_parts():
    noise = fp.JointNoise(a=fp.FlipNoise(0.1, 0.2), b=fp.FlipNoise(0.2, 0.3), c=fp.FlipNoise(0.1, 0.4, 3))
    assert fp.rho_table(noise, [0.123, 0.9], {}).tolist() == [0.123, 0.9]
    assert fp.critical_table(noise, {}) == 0.5


def test_every_range_is_a_dimension_and_every_number_is_not():
    noise = fp.FlipNoise(0.01, 0.6)
    assert fp.critical_table(noise, add=range(11), delete=range(26)).shape == (11, 26)
    assert fp.critical_table(noise, delete=range(5)).shape == (5,)
    assert fp.critical_table(noise, add=2, delete=range(5)).shape == (5,)
    assert fp.critical_table(noise, add=2, delete=3).shape == ()
    assert fp.critical_table(noise, add=iter([1, 3])).shape == (2,)
    assert fp.critical_table(noise, add=np.array(3)).shape == ()
    assert fp.critical_table(noise, add=np.arange(3)).shape == (3,)
    assert fp.rho_table(noise, 0.9, add=range(2)).shape == (2,)
    assert fp.rho_table(noise, [0.9], add=range(2)).shape == (2, 1)
    assert fp.rho_table(noise, [], add=range(2)).shape == (2, 0)
    k_ary = fp.FlipNoise(0.1, 0.3, 5)
    assert fp.critical_table(k_ary, add=range(2), delete=range(3)).shape == (2, 3)
    assert fp.critical_table(k_ary, add=range(2), delete=range(3), change=range(4)).shape == (2, 3, 4)
    joint = fp.JointNoise(structure=noise, attributes=k_ary)
    box = {"structure": {"add": range(3), "delete": range(4)}, "attributes": {"add": range(2), "change": range(5)}}
    assert fp.critical_table(joint, box).shape == (3, 4, 2, 5)


def test_ranges_with_gaps_pick_from_the_full_table():
    noise = fp.FlipNoise(0.05, 0.3, 3)
    full = fp.critical_table(noise, add=range(8), delete=range(8), change=range(5))
    some = fp.critical_table(noise, add=(1, 4, 7), delete=range(0, 8, 3), change=[2, 4])
    np.testing.assert_allclose(some, full[np.ix_([1, 4, 7], [0, 3, 6], [2, 4])], rtol=1e-11)


def test_a_table_cut_into_slabs_is_the_same(monkeypatch):
    noise = fp.FlipNoise(0.05, 0.3, 3)
    box = {"add": range(1, 7), "delete": range(4), "change": range(3)}
    whole = fp.critical_table(noise, **box), fp.mu_table(noise, P_LOWER, P_UPPER, **box)
    monkeypatch.setattr(tables_module, "_SLAB_MASSES", 1)
    np.testing.assert_allclose(fp.critical_table(noise, **box), whole[0], rtol=1e-14)
    np.testing.assert_allclose(fp.mu_table(noise, P_LOWER, P_UPPER, **box), whole[1], atol=1e-14)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"add": range(0)}, "expected increasing counts for add, got ()"),
        ({"add": range(3, 0, -1)}, "expected increasing counts"),
        ({"add": [0, 0]}, "expected increasing counts"),
        ({"add": [0, 1.5]}, "expected add to be a non-negative integer, got 1.5"),
        ({"add": range(-1, 2)}, "expected add to be a non-negative integer, got -1"),
        ({"add": 2.5}, "expected add to be a non-negative integer, got 2.5"),
        ({"change": range(2)}, "expected add, delete for this noise, got change"),
        ({"parts": {"a": {"add": range(2)}}}, "expected add=, delete= or change= for a FlipNoise"),
        ({"add": range(99_000), "delete": range(99_000)}, "ask for fewer or smaller radii"),
        ({"add": range(10**12)}, "expected at most 100,000 counts for add, got more"),
    ],
)
def test_bad_grids_are_refused(arguments, words):
    with pytest.raises(fp.InvalidInputError, match=words.replace("(", r"\(").replace(")", r"\)")):
        fp.critical_table(fp.FlipNoise(0.1, 0.2), **arguments)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (None, "expected a mapping from part to ranges for a JointNoise"),
        ({"edges": {"add": range(2)}}, "expected parts among a, b, got 'edges'"),
        ({"a": {"change": range(2)}}, r"expected a.add, a.delete, b.add, b.delete for this noise, got a.change"),
        ({"a": range(2)}, "expected a mapping from add, delete or change to ranges for 'a'"),
    ],
)
def test_bad_joint_grids_are_refused(parts, words):
    joint = fp.JointNoise(a=fp.FlipNoise(0.1, 0.2), b=fp.FlipNoise(0.1, 0.3))
    with pytest.raises(fp.InvalidInputError, match=words):
        fp.critical_table(joint, parts)
    with pytest.raises(fp.InvalidInputError, match="expected a mapping"):
        fp.critical_table(joint, add=range(2))
