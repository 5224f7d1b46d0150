"""Equal noisy inputs are equal in every respect, however they were drawn."""

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.base.values import sorted_rows


def shuffled(rows, columns, density, rng, dtype=np.float32):
    """A sparse matrix of ones with the columns of every row in random order, and the same in order."""
    dense = rng.random((rows, columns)) < density
    ordered = sp.csr_array(dense.astype(dtype))
    mixed = [rng.permutation(ordered.indices[a:b]) for a, b in zip(ordered.indptr, ordered.indptr[1:], strict=False)]
    indices = np.concatenate([np.zeros(0, ordered.indices.dtype), *mixed])
    matrix = sp.csr_array((ordered.data, indices, ordered.indptr), shape=ordered.shape)
    matrix.has_sorted_indices = False
    return matrix, ordered


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("rows", "columns", "density"),
    [(0, 5, 0.5), (5, 0, 0.5), (1, 1, 1.0), (40, 300, 0.1), (40, 64, 1.0), (7, 65, 0.0), (3, 5000, 0.01)],
)
def test_rows_come_out_in_order(rows, columns, density, index_type, rng):
    matrix, ordered = shuffled(rows, columns, density, rng)
    matrix.indices, matrix.indptr = matrix.indices.astype(index_type), matrix.indptr.astype(index_type)
    before = matrix.indices.copy()
    found = sorted_rows(matrix)
    assert found.has_sorted_indices
    assert found.indices.tolist() == ordered.indices.tolist()
    assert found.indptr.tolist() == ordered.indptr.tolist()
    assert (found.toarray() == ordered.toarray()).all()
    assert (matrix.indices == before).all()


def test_values_stay_with_their_columns(rng):
    matrix, _ = shuffled(20, 50, 0.3, rng)
    matrix.data = rng.random(matrix.nnz)
    found = sorted_rows(matrix)
    assert (found.toarray() == matrix.toarray()).all()
    assert all((np.diff(found.indices[a:b]) > 0).all() for a, b in zip(found.indptr, found.indptr[1:], strict=False))


def test_very_wide_rows():
    matrix = sp.csr_array((np.ones(2), np.array([2**31 - 2, 5]), np.array([0, 2])), shape=(1, 2**31 - 1))
    matrix.has_sorted_indices = False
    assert sorted_rows(matrix).indices.tolist() == [5, 2**31 - 2]


@pytest.mark.parametrize("noisy", ["structure", "attributes"])
def test_two_clean_graphs_with_one_noisy_copy(noisy, rng):
    """All entries flip in one graph and none in the other, so that both become the same; a model must see the same."""
    bits = np.triu(rng.random((12, 12)) < 0.3, 1)
    structure, words = (bits | bits.T).astype(int), (rng.random((12, 9)) < 0.4).astype(int)
    seen = []

    def look(graphs):
        x = graphs[0].attributes
        seen.append((graphs[0].edge_index.tobytes(), x if isinstance(x, np.ndarray) else x.indices))
        return np.zeros((len(graphs), 12), dtype=int)

    other = {"structure": (1 - structure - np.eye(12, dtype=int), words), "attributes": (structure, 1 - words)}[noisy]
    for (adjacency, attributes), p in (((structure, words), 0.0), (other, 1.0)):
        graph = fp.Graph.from_scipy(sp.csr_array(adjacency), sp.csr_array(attributes), noisy=noisy)
        classifier = fp.FunctionClassifier(look, classes=2, fingerprint="look")
        fp.vote(classifier, graph, fp.FlipNoise(p, p), n_select=1, n_estimate=0)
    assert seen[0][0] == seen[1][0]
    assert seen[0][1].tolist() == seen[1][1].tolist()
