"""Vectors and images: what is taken, what is refused, what comes out."""

import numpy as np
import pytest
from drawing import draw

from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.rows import DenseRows
from flipproof.theory.law import FlipNoise

NOISE = FlipNoise(0.2, 0.4)
TERNARY = FlipNoise(0.5, 0.5, 3)
FLIP_ALL = FlipNoise(1.0, 1.0)


@pytest.mark.parametrize(
    "given",
    [
        [[0, 1, 1], [1, 0, 0]],
        ((0, 1, 1), (1, 0, 0)),
        np.array([[0, 1, 1], [1, 0, 0]], bool),
        np.array([[0, 1, 1], [1, 0, 0]], np.int8),
        np.array([[0, 1, 1], [1, 0, 0]], np.uint64),
        np.array([[0, 1, 1], [1, 0, 0]], np.float16),
        np.array([[0, 1, 1], [1, 0, 0]], np.float64),
        np.array([[0, 1], [1, 0], [1, 0]]).T,
    ],
    ids=["lists", "tuples", "bool", "int8", "uint64", "float16", "float64", "transposed"],
)
def test_dense_rows_however_they_are_written(given):
    rows = DenseRows(given)
    assert rows.values.tolist() == [[0, 1, 1], [1, 0, 0]]
    assert (rows.values.dtype, rows.entries, rows.parts) == (np.uint8, 3, ("values",))
    assert not rows.values.flags.writeable
    assert draw(rows, FLIP_ALL, 1).tolist() == [[1, 0, 0], [0, 1, 1]]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32"])
def test_dense_rows_from_torch(dtype):
    torch = pytest.importorskip("torch")
    given = torch.tensor([[0, 1], [1, 1]]).to(getattr(torch, dtype))
    assert DenseRows(given).values.tolist() == [[0, 1], [1, 1]]
    if dtype == "float32":
        assert DenseRows(given.requires_grad_()).values.tolist() == [[0, 1], [1, 1]]


def test_torch_tensors_that_numpy_cannot_hold_are_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(InvalidInputError, match="expected values to be an array, got Tensor"):
        DenseRows(torch.eye(2).to_sparse())
    assert DenseRows(torch.eye(2).bfloat16()).values.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([[0, 0.5]], r"expected values to be integers, got 0\.5"),
        ([[0, np.nan]], "expected values to be integers, got nan"),
        ([[0, np.inf]], "expected values to be integers, got inf"),
        ([[0, -np.inf]], "expected values to be integers, got -inf"),
        ([[0, -1]], "expected values to be non-negative, got -1"),
        ([[0, -1.0]], "expected values to be non-negative, got -1"),
        ([[0, 2**31]], f"expected values below {2**31}, got {2**31}"),
        ([[0, 1e300]], f"expected values below {2**31}, got 1e\\+300"),
        (np.array([[2**64 - 1]], np.uint64), f"expected values below {2**31}, got {2**64 - 1}"),
        ([["a", "b"]], "expected values to be numbers, got <U1"),
        ([[None]], "expected values to be numbers, got object"),
        ([[1j]], "expected values to be numbers, got complex128"),
        ([[1], [1, 2]], "expected values to be rows of one length, got row"),
        ([0, 1], r"expected values of shape \[inputs, entries, \.\.\.\], got shape \(2,\)"),
        (3, r"expected values of shape \[inputs, entries, \.\.\.\], got shape \(\)"),
    ],
)
def test_what_dense_rows_refuse(given, message):
    with pytest.raises(InvalidInputError, match=message):
        DenseRows(given)


def test_images_keep_their_shape(rng):
    images = rng.integers(0, 3, (5, 1, 4, 6))
    drawn = draw(DenseRows(images), TERNARY, samples=7)
    assert drawn.shape == (35, 1, 4, 6)
    assert drawn.dtype == np.uint8
    assert set(np.unique(drawn)) == {0, 1, 2}
    assert draw(DenseRows(images), FlipNoise(0.0, 0.0, 3), samples=2).tolist() == [*images.tolist()] * 2


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 0, 4), (0, 2, 2)])
def test_empty_dense_rows(shape):
    assert draw(DenseRows(np.zeros(shape)), NOISE, samples=2).shape == (2 * shape[0], *shape[1:])
    assert draw(DenseRows(np.zeros(shape)), NOISE, samples=0).shape == (0, *shape[1:])


def test_noise_may_need_more_room_than_the_data():
    drawn = draw(DenseRows([[0, 1]]), FlipNoise(1.0, 1.0, 1000), samples=100)
    assert drawn.dtype == np.uint16
    assert drawn.max() > 255


@pytest.mark.parametrize("noise", [FlipNoise(0.1, 0.1), FlipNoise(0.1, 0.1, 3)])
def test_noise_that_does_not_know_all_values_is_refused(noise):
    k = noise.categories
    message = rf"expected values in \[0, {k}\) as the noise has {k} categories, got {k}"
    with pytest.raises(InvalidInputError, match=message):
        DenseRows([[0, k]]).sampler(noise, 0)


def test_the_given_array_is_neither_kept_nor_changed():
    given = np.array([[0, 1], [1, 0]], np.uint8)
    rows = DenseRows(given)
    draw(rows, FLIP_ALL)
    assert given.tolist() == [[0, 1], [1, 0]]
    given[:] = 1
    assert rows.values.tolist() == [[0, 1], [1, 0]]
