"""Weights as integers: close to the weights, and no sum of them leaves 32 bits."""

import numpy as np
import pytest

from flipproof.models.fused.row_sums import fixed_point

LARGEST = 2**31 - 1


def laid_out(rng, inputs, units, kind):
    """Weights of a kind."""
    normal = rng.normal(size=(inputs, units))
    return {
        "normal": normal,
        "all positive": np.abs(normal),
        "all negative": -np.abs(normal),
        "all the same": np.ones((inputs, units)),
        "powers of two": 2.0 ** rng.integers(-3, 3, (inputs, units)) * np.sign(normal),
        "one large": np.where(np.arange(inputs)[:, None] == inputs // 2, 1000.0, normal),
        "huge": normal * 1e25,
        "largest": np.full((inputs, units), np.finfo(np.float32).max / 4096),
        "tiny": normal * 1e-15,
        "units of all sizes": normal * 10.0 ** (np.arange(units) % 9 * 4 - 18),
    }[kind].astype(np.float32)  # fmt: skip


KINDS = [
    "normal", "all positive", "all negative", "all the same", "powers of two", "one large", "huge", "largest", "tiny",
    "units of all sizes",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("inputs", "units"), [(1, 1), (2, 8), (63, 5), (3000, 9)])
def test_integers_times_steps_are_the_weights(inputs, units, kind, rng):
    weights = laid_out(rng, inputs, units, kind)
    table, steps = fixed_point(weights)
    assert (table.dtype, steps.dtype) == (np.int32, np.float32)
    assert table.flags.c_contiguous
    assert table.shape == (inputs, -(-units // 8) * 8)
    assert steps.shape == (table.shape[1],)
    assert (np.frexp(steps)[0] == 0.5).all()  # powers of two
    assert np.isfinite(steps).all()
    assert not table[:, units:].any()
    exact, step = weights.astype(np.float64), steps[:units].astype(np.float64)
    assert (np.abs(table[:, :units] * step - exact) <= step / 2).all()
    for unit in table.T.tolist():  # Python integers
        assert sum(n for n in unit if n > 0) <= LARGEST
        assert sum(n for n in unit if n < 0) >= -LARGEST
    finest = [max(sum(n for n in unit if n > 0), -sum(n for n in unit if n < 0)) for unit in table.T[:units].tolist()]
    assert min(finest) > LARGEST // 2 - 2 * inputs, "steps could be half as large"


def test_units_without_weights_are_zeros(rng):
    weights = rng.normal(size=(50, 6)).astype(np.float32)
    weights[:, [0, 4]] = 0
    weights[:, 5] = -0.0
    table, steps = fixed_point(weights)
    assert not table[:, [0, 4, 5, 6, 7]].any()
    assert table[:, [1, 2, 3]].any(axis=0).all()
    assert np.isfinite(steps).all()
    table, steps = fixed_point(np.zeros((3, 2), np.float32))
    assert not table.any()
    assert (np.isfinite(steps) & (steps > 0)).all()


def test_no_inputs_and_no_units():
    assert fixed_point(np.zeros((0, 3), np.float32))[0].shape == (0, 8)
    assert fixed_point(np.zeros((3, 0), np.float32))[0].shape == (3, 0)


REASON = "the weights of the first layer are too many, or too different, for exact sums of 32 bits"


def test_too_many_attributes_are_refused():
    """Sums of 2**14 equal weights leave less than 17 bits for each."""
    assert fixed_point(np.ones((2**14, 1), np.float32)) == REASON
    table, _ = fixed_point(np.ones((2**12, 1), np.float32))
    assert table[:, 0].max() >= 2**18
    one_bad_unit = np.zeros((2**14, 9), np.float32)
    one_bad_unit[0], one_bad_unit[:, 8] = 1, 0.5
    assert fixed_point(one_bad_unit) == REASON


def test_weights_that_a_single_one_towers_above_are_refused(rng):
    """Steps are made for the sum of all; the others would be lost in them."""
    weights = rng.normal(scale=0.01, size=(300, 16)).astype(np.float32)
    weights[0] = 10.0
    assert not isinstance(fixed_point(weights), str)
    weights[0] = 1e4
    assert fixed_point(weights) == REASON


def test_sums_that_float32_could_not_hold_are_refused_or_exact():
    reason = "sums of the weights of the first layer do not fit into 32 bits"
    assert fixed_point(np.full((5000, 2), np.finfo(np.float32).max)) == reason


@pytest.mark.parametrize("size", [1e-35, 1e-44])
def test_weights_so_small_that_they_do_not_matter(size):
    """Weights that decay faded away."""
    weights = np.ones((20, 2), np.float32)
    weights[:, 1] = size
    found = fixed_point(weights)
    if isinstance(found, str):
        assert found == REASON
    else:
        assert np.abs(found[0][:, 1] * found[1][1] - weights[:, 1]).max() <= found[1][1] / 2
