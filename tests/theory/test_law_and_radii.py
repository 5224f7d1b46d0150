import copy
import math
import pickle

import numpy as np
import pytest

import flipproof as fp
from flipproof.theory.radii import axes_of, axis_index, point_of, radii_at

BINARY = fp.FlipNoise(p_plus=0.01, p_minus=0.6)
TERNARY = fp.FlipNoise(p_plus=0.1, p_minus=0.2, categories=3)
JOINT = fp.JointNoise(structure=BINARY, words=TERNARY)


@pytest.mark.parametrize("value", [BINARY, TERNARY, JOINT, fp.Radii(1, 2, 3)])
def test_repr_rebuilds_the_value(value):
    names = {"FlipNoise": fp.FlipNoise, "JointNoise": fp.JointNoise, "Radii": fp.Radii}
    assert eval(repr(value), names) == value
    assert copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value
    assert hash(value) == hash(copy.deepcopy(value))


@pytest.mark.parametrize(("value", "name"), [(BINARY, "p_plus"), (JOINT, "parts"), (fp.Radii(), "add")])
def test_values_cannot_be_changed(value, name):
    with pytest.raises(AttributeError):
        setattr(value, name, 1)


@pytest.mark.parametrize("bad", [-0.1, 1.3, math.nan, math.inf, "0.1", None, True, 1j, np.nan, 10**400])
def test_flip_probabilities_outside_the_unit_interval_are_refused(bad):
    with pytest.raises(fp.InvalidInputError, match=r"expected p_plus .*got"):
        fp.FlipNoise(p_plus=bad, p_minus=0.5)
    with pytest.raises(fp.InvalidInputError, match=r"expected p_minus .*got"):
        fp.FlipNoise(p_plus=0.5, p_minus=bad)


@pytest.mark.parametrize("bad", [1, 0, -2, 2.0, "3", None, True])
def test_categories_must_be_an_integer_of_at_least_two(bad):
    with pytest.raises(fp.InvalidInputError, match="expected categories"):
        fp.FlipNoise(0.1, 0.2, categories=bad)


@pytest.mark.parametrize("bad", [-1, 0.5, 1.0, "1", None, True, math.nan])
@pytest.mark.parametrize("kind", ["add", "delete", "change"])
def test_radii_are_non_negative_integers(kind, bad):
    with pytest.raises(fp.InvalidInputError, match=f"expected {kind} to be a non-negative integer, got"):
        fp.Radii(**{kind: bad})


def test_numpy_numbers_are_numbers():
    assert fp.FlipNoise(np.float32(0.5), np.float64(0.25), np.int64(4)) == fp.FlipNoise(0.5, 0.25, 4)
    assert fp.Radii(np.int32(1), np.uint8(2)) == fp.Radii(1, 2)


def test_joint_noise_needs_named_flip_noises():
    with pytest.raises(fp.InvalidInputError, match="at least one named part"):
        fp.JointNoise()
    with pytest.raises(fp.InvalidInputError, match="expected part 'a' to be a FlipNoise"):
        fp.JointNoise(a=0.5)


def test_axes_are_listed_part_by_part():
    assert [str(axis) for axis in axes_of(JOINT)] == [
        "structure.add", "structure.delete", "words.add", "words.delete", "words.change",
    ]  # fmt: skip
    assert axis_index(JOINT, "words.change") == axis_index(JOINT, ("words", "change")) == 4
    assert axis_index(BINARY, "delete") == 1


def test_points_and_radii_are_two_forms_of_one_thing():
    radii = {"structure": fp.Radii(1, 2), "words": fp.Radii(3, 4, 5)}
    assert point_of(JOINT, radii) == (1, 2, 3, 4, 5)
    assert radii_at(JOINT, (1, 2, 3, 4, 5)) == radii
    assert radii_at(BINARY, (1, 2)) == fp.Radii(1, 2)
    assert point_of(JOINT, {}) == (0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("noise", "radii", "words"),
    [
        (BINARY, fp.Radii(change=1), "expected change = 0 for noise with 2 categories, got change = 1"),
        (BINARY, {"a": fp.Radii()}, "expected Radii for a FlipNoise"),
        (BINARY, (1, 2), "expected Radii for a FlipNoise"),
        (JOINT, fp.Radii(1), "expected a mapping from part name to Radii"),
        (JOINT, {"edges": fp.Radii(1)}, "expected parts among structure, words, got 'edges'"),
        (JOINT, {"words": 3}, "expected Radii for part 'words', got 3"),
        (JOINT, {"structure": fp.Radii(change=1)}, "expected change = 0"),
        ("noise", fp.Radii(1), "expected a FlipNoise or a JointNoise, got 'noise'"),
    ],
)
def test_radii_that_do_not_fit_the_noise_are_refused(noise, radii, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        fp.rho(noise, radii, 0.9)


@pytest.mark.parametrize("along", ["change", "sideways", "structure.add", ("a", "add"), (1, 2), ""])
def test_an_unknown_axis_is_refused_with_the_known_ones(along):
    with pytest.raises(fp.InvalidInputError, match="expected along to be one of add, delete, got"):
        fp.largest_radius(BINARY, 0.9, along=along)
