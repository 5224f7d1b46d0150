"""Sparse matrices of zeros and ones: every format, and nothing dropped silently."""

import numpy as np
import pytest
import scipy.sparse as sp
from drawing import draw

from flipproof.errors import InvalidInputError, TooLargeError
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.rows import DenseRows, SparseRows
from flipproof.theory.law import FlipNoise, JointNoise

NOISE = FlipNoise(0.2, 0.4)
TERNARY = FlipNoise(0.5, 0.5, 3)
FLIP_ALL = FlipNoise(1.0, 1.0)


def csr(dense, dtype=np.float32):
    return sp.csr_array(np.array(dense), dtype=dtype)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.dok_array, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32])
def test_sparse_rows_in_any_format(make, dtype):
    rows = SparseRows(make(np.array([[0, 1, 1], [0, 0, 0], [1, 0, 0]]), dtype=dtype))
    assert (rows.inputs, rows.columns, rows.ones, rows.parts) == (3, 3, 3, ("bits",))
    assert (rows.starts.tolist(), rows.positions.tolist()) == ([0, 2, 2, 3], [1, 2, 0])
    assert not rows.positions.flags.writeable
    assert not rows.starts.flags.writeable
    drawn = draw(rows, FLIP_ALL, 1)
    assert drawn.toarray().tolist() == [[1, 0, 0], [1, 1, 1], [0, 1, 1]]
    assert (drawn.dtype, drawn.format) == (np.float32, "csr")


def test_unsorted_columns_and_explicit_zeros_are_understood():
    matrix = sp.csr_array((np.array([1.0, 0.0, 1.0]), np.array([2, 1, 0]), np.array([0, 3])), shape=(1, 4))
    before = [array.copy() for array in (matrix.data, matrix.indices, matrix.indptr)]
    rows = SparseRows(matrix)
    assert (rows.ones, rows.positions.tolist()) == (2, [0, 2])
    draw(rows, NOISE)
    assert all(map(np.array_equal, (matrix.data, matrix.indices, matrix.indptr), before))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32])
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_duplicates_in_a_sparse_matrix_are_refused(dtype, format):
    data, twice = np.ones(3, dtype), np.array([0, 0, 0])
    if format == "coo":
        matrix = sp.coo_array((data, (twice, np.array([1, 1, 2]))), shape=(1, 3))
    elif format == "csr":
        matrix = sp.csr_array((data, np.array([1, 1, 2]), np.array([0, 3])), shape=(1, 3))
    else:
        matrix = sp.csc_array((data, twice, np.array([0, 0, 2, 3])), shape=(1, 3))
    message = r"expected the matrix to hold every entry once, got 1 duplicates; call sum_duplicates\(\)"
    with pytest.raises(InvalidInputError, match=message):
        SparseRows(matrix)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (csr([[0, 2]]), "expected the matrix to hold zeros and ones, got 2.0; binarise it first"),
        (csr([[0, -1]]), "expected the matrix to hold zeros and ones, got -1.0"),
        (csr([[0, 0.5]]), "expected the matrix to hold zeros and ones, got 0.5"),
        (csr([[0, np.nan]]), "expected the matrix to hold zeros and ones, got nan"),
        (np.eye(2), "expected the matrix to be a sparse matrix, got ndarray"),
        (None, "expected the matrix to be a sparse matrix, got NoneType"),
        (sp.coo_array(np.array([0, 1])), "expected the matrix to be a sparse matrix, got coo_array"),
    ],
)
def test_what_sparse_rows_refuse(given, message):
    with pytest.raises(InvalidInputError, match=message):
        SparseRows(given)


def test_columns_past_32_bits_are_refused():
    far = sp.csr_array((np.ones(1), np.array([2**33 + 5]), np.array([0, 1])), shape=(1, 2**34))
    with pytest.raises(TooLargeError, match=f"expected the matrix to have fewer than {2**31} columns, got {2**34}"):
        SparseRows(far)


def test_the_last_of_all_columns_is_drawn_as_itself():
    last = 2**31 - 2
    matrix = sp.csr_array((np.ones(2), np.array([0, last]), np.array([0, 2])), shape=(1, last + 1))
    drawn = draw(SparseRows(matrix), FlipNoise(1e-7, 0.0), samples=3)
    assert drawn.indices.min() == 0
    assert drawn.indices.max() == last
    # 3 * 2**31 entries at 1e-7: 644 on average, and outside 450 to 850 with probability below 1e-12.
    assert 450 < drawn.nnz < 850
    assert drawn[[0], [last]] == 1.0


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (3, 5)])
@pytest.mark.parametrize("noise", [FlipNoise(0.0, 0.5), FlipNoise(0.1, 0.5), FlipNoise(0.5, 0.5)])
def test_empty_sparse_rows(shape, noise):
    assert draw(SparseRows(sp.csr_array(shape)), noise, samples=2).shape == (2 * shape[0], shape[1])
    assert draw(SparseRows(sp.csr_array(shape)), noise, samples=0).shape == (0, shape[1])


def test_noisy_sparse_rows_are_valid_matrices(rng):
    matrix = sp.csr_array(rng.random((20, 60)) < 0.3)
    for noise in (FlipNoise(0.0, 0.5), FlipNoise(0.05, 0.5), FlipNoise(0.5, 0.5)):
        drawn = draw(SparseRows(matrix), noise, samples=5)
        assert drawn.shape == (100, 60)
        assert drawn.has_sorted_indices
        # Looks through the columns: in order, each once.
        assert sp.csr_array((drawn.data, drawn.indices, drawn.indptr), shape=drawn.shape).has_canonical_format
        assert set(drawn.data) == {1.0}
        assert 0 <= drawn.indices.min() <= drawn.indices.max() < 60


def test_sparse_rows_have_two_categories():
    with pytest.raises(InvalidInputError, match=r"expected noise with 2 categories .*, got 3"):
        SparseRows(csr([[0, 1]])).sampler(TERNARY, 0)


@pytest.mark.parametrize("noise", [FlipNoise(0.0, 0.0), FlipNoise(0.01, 0.6), FlipNoise(0.3, 0.3)])
def test_memory_is_at_least_what_a_row_takes(noise, rng):
    dense = rng.random((50, 200)) < 0.1
    for space in (SparseRows(sp.csr_array(dense)), DenseRows(dense)):
        sampler = space.sampler(noise, 0)
        drawn = sampler.draw(Role.SELECT, range(4), np.arange(50))
        size = drawn.nbytes if isinstance(drawn, np.ndarray) else drawn.data.nbytes + drawn.indices.nbytes
        assert 200 * sampler.bytes_per_row > size


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (JointNoise(words=NOISE), "expected noise on parts bits, got noise on words"),
        (JointNoise(bits=NOISE, words=NOISE, more=NOISE), "expected noise on parts bits, got noise on words, more"),
        (0.1, r"expected a FlipNoise or a JointNoise, got 0\.1"),
        (None, "expected a FlipNoise or a JointNoise, got None"),
    ],
)
def test_noise_of_other_parts_is_refused(noise, message):
    with pytest.raises(InvalidInputError, match=message):
        SparseRows(csr([[0, 1]])).sampler(noise, 0)


def test_a_joint_noise_of_the_only_part_is_its_noise():
    rows = SparseRows(csr([[0, 1, 0, 1]]))
    assert np.array_equal(draw(rows, JointNoise(bits=NOISE)).toarray(), draw(rows, NOISE).toarray())
