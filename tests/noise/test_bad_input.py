"""Bad input is refused in words that name the first entry that is wrong, row by row, and where it is."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp

RANGE = "as the noise has"


def array(shape, wrong, dtype=float):
    """Ones, but for some entries."""
    values = np.ones(shape, dtype)
    for index, value in wrong.items():
        values[index] = value
    return values


TWO_FRACTIONS = {(4, 0): 2.5, (2, 5): 0.5}
TWO_NEGATIVES = {(4, 0): -9, (2, 5): -1}
TWO_LARGE = {(4, 0): 99, (3, 7): 57}
EMPTY_ROWS = {1: 50, 3: 50}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fp.Tokens(array((5, 8), TWO_FRACTIONS)), "tokens to be integers, got 0.5 at row 2, position 5"),
        (lambda: fp.Tokens(array((5, 8), TWO_NEGATIVES)), "tokens to be non-negative, got -1.0 at row 2, position 5"),
        (
            lambda: fp.Tokens(array((5, 8), {(1, 1): 2**31}, int)),
            f"tokens below {2**31}, got {2**31} at row 1, position 1",
        ),
        (lambda: fp.Tokens(array((5, 8), EMPTY_ROWS), padding=50), "a token in every sequence, got none in row 1"),
        (lambda: fp.Tokens(array((5, 8), EMPTY_ROWS), mask=50), "a token in every sequence, got none in row 1"),
        (lambda: fp.Tokens([[1, 7], [7, 8]], padding=7, mask=8), "a token in every sequence, got none in row 1"),
        (lambda: fp.Tokens(np.zeros((3, 0), int)), "a token in every sequence, got none in row 0"),
        (lambda: fp.DenseRows(array((5, 8), TWO_FRACTIONS)), "values to be integers, got 0.5 at row 2, position 5"),
        (
            lambda: fp.DenseRows(array((5, 4, 4), {(4, 0, 0): 0.25, (3, 1, 2): np.nan})),
            "values to be integers, got nan at row 3, position (1, 2)",
        ),
        (
            lambda: fp.DenseRows(array((5, 4, 4), {(4, 0, 0): -9, (3, 1, 2): -1}, int)),
            "values to be non-negative, got -1 at row 3, position (1, 2)",
        ),
        (lambda: fp.Table(array((5, 8), TWO_FRACTIONS), [3] * 8), "values to be integers, got 0.5 at row 2, column 5"),
        (
            lambda: fp.Table(array((5, 8), TWO_NEGATIVES, int), [3] * 8),
            "values to be non-negative, got -1 at row 2, column 5",
        ),
        (
            lambda: fp.Table(array((5, 8), TWO_LARGE, int), [9, 2, 3, 3, 3, 3, 3, 6]),
            "column 7 in [0, 6) as it has 6 categories, got 57 at row 3",
        ),
        (lambda: fp.Tokens([[1, 2], [3, 4], [5]]), "tokens to be rows of one length, got row 2 of length 1 after 2"),
        (lambda: fp.DenseRows([(0,), (0, 1)]), "values to be rows of one length, got row 1 of length 2 after 1"),
        (lambda: fp.DenseRows([[[0], [0, 1]], [[0], [1]]]), "values to be an array, got list: "),
        (lambda: fp.DenseRows([1, [0, 1]]), "values to be an array, got list: "),
        (
            lambda: fp.Table(array((5, 8), {}), [2, 2, 3, 3, 1, 0, 2, 2]),
            "at least 2 categories in every column, got 1 in column 4",
        ),
        (
            lambda: fp.SparseRows(sp.csr_array(array((5, 8), {**TWO_FRACTIONS, (0, 0): 0, (1, 0): 0}))),
            "the matrix to hold zeros and ones, got 0.5; binarise it first (that is at row 2, column 5)",
        ),
        (
            lambda: fp.SparseRows(sp.csc_array(np.diag([0.0, 0.0, 1.0, 3.0, 4.0]))),
            "the matrix to hold zeros and ones, got 3.0; binarise it first (that is at row 3, column 3)",
        ),
    ],
)
def test_what_is_no_data(make, message):
    with pytest.raises(fp.InvalidInputError, match=f"^expected {re.escape(message)}"):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (fp.Tokens, f"tokens in [0, 50) {RANGE} 50 categories, got 57 at row 3, position 7"),
        (
            lambda values: fp.Tokens(np.where(values == 1, 1000, values), padding=1000),
            f"tokens in [0, 50) {RANGE} 50 categories, got 57 at row 3, position 7",
        ),
        (lambda values: values, f"values in [0, 50) {RANGE} 50 categories, got 57 at row 3, position 7"),
        (
            lambda values: values.reshape(5, 2, 4),
            f"values in [0, 50) {RANGE} 50 categories, got 57 at row 3, position (1, 3)",
        ),
    ],
    ids=["tokens", "padded tokens", "vectors", "images"],
)
def test_what_the_noise_does_not_know(make, message):
    values = array((5, 8), {**TWO_LARGE, (0, 0): 49, (1, 0): 2, (2, 0): 2}, int)
    never = fp.FunctionClassifier(lambda batch: pytest.fail("the classifier was asked"), classes=2)
    with pytest.raises(fp.InvalidInputError, match=f"^expected {re.escape(message)}$"):
        fp.vote(never, make(values), fp.FlipNoise(0.1, 0.1, 50), n_select=10, n_estimate=10)


@pytest.mark.parametrize("torch_dtype", ["float32", "int64"])
def test_tensors_are_read_the_same_way(torch_dtype):
    torch = pytest.importorskip("torch")
    values = torch.tensor([[1, 1, 1], [1, -1, 1]]).to(getattr(torch, torch_dtype))
    with pytest.raises(fp.InvalidInputError, match=r"got -1(\.0)? at row 1, position 1$"):
        fp.DenseRows(values)
