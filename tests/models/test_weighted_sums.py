"""Weighted sums of rows: against matrix products, on paper and with gradients."""

import numpy as np
import pytest
import torch

from flipproof.models.networks.node_modules import SparseMatrix, neighbours, normalised_adjacency

EPSILON = 2.0**-24
"""How much of a float32 number one operation may round away."""


def gathering(matrix, rng, dtype=torch.float32):
    """The non-zero entries of a matrix, the columns of every row in no order."""
    columns, weights, starts = [], [], [0]
    for row in matrix:
        own = rng.permutation(np.flatnonzero(row))
        columns.extend(own)
        weights.extend(row[own])
        starts.append(len(columns))
    return SparseMatrix(
        torch.tensor(np.array(columns, dtype=np.int64)),
        torch.tensor(starts),
        torch.tensor(np.array(weights, dtype=np.float64), dtype=dtype),
    )


def sparse_matrix(rng, rows, columns, share=0.4):
    return rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < share)


def random_edges(rng, nodes, count):
    """Directed, with loops, and some twice."""
    return torch.tensor(rng.integers(0, nodes, (2, count)))


def adjacency(edge_index, nodes):
    """How many edges lead from the column's node to the row's, with one loop at every node."""
    matrix = np.zeros((nodes, nodes))
    for source, target in edge_index.T.tolist():
        matrix[target, source] += 1
    np.fill_diagonal(matrix, 1)
    return matrix


def dense(gathered, nodes):
    """The matrix that a gathering of float32 weights stands for, exactly: sums of one term."""
    return gathered.times(torch.eye(nodes)).numpy()


# Sums


def test_sums_on_paper():
    table = torch.tensor([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    gathered = SparseMatrix(torch.tensor([2, 0, 1]), torch.tensor([0, 2, 2, 3]), torch.tensor([0.5, -1.0, 8.0]))
    assert gathered.times(table).tolist() == [[1.0, 10.0], [0.0, 0.0], [16.0, 160.0]]


def test_a_column_may_stand_in_a_row_twice():
    gathered = SparseMatrix(torch.tensor([1, 1, 0]), torch.tensor([0, 3]), torch.tensor([2.0, 3.0, 1.0]))
    assert gathered.times(torch.tensor([[1.0], [10.0]])).tolist() == [[51.0]]


@pytest.mark.parametrize(
    ("rows", "columns", "share"), [(1, 1, 1.0), (7, 4, 0.4), (4, 9, 0.2), (5, 6, 0.0), (6, 5, 1.0)]
)
def test_sums_are_products_with_the_matrix(rows, columns, share, rng):
    matrix, table = sparse_matrix(rng, rows, columns, share).astype(np.float32), rng.normal(size=(columns, 3))
    table = table.astype(np.float32)
    found = gathering(matrix, rng).times(torch.tensor(table))
    # A sum of n products rounds n times for the products and n - 1 times for the sum.
    bound = 2 * columns * EPSILON * (np.abs(matrix) @ np.abs(table))
    assert (np.abs(found.numpy() - matrix.astype(float) @ table.astype(float)) <= bound).all()
    assert found.shape == (rows, 3)


def test_the_table_may_be_a_view():
    table = torch.arange(12.0).reshape(3, 4)
    gathered = SparseMatrix(torch.tensor([0, 3]), torch.tensor([0, 1, 2]), torch.ones(2))
    assert gathered.times(table.t()).tolist() == [[0.0, 4.0, 8.0], [3.0, 7.0, 11.0]]


def test_sums_have_the_gradients_of_finite_differences(rng):
    matrix = sparse_matrix(rng, 6, 5)
    matrix[2] = 0
    form = gathering(matrix, rng, torch.float64)
    table = torch.tensor(rng.normal(size=(5, 3)), requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda weights, rows: form._replace(weights=weights).times(rows), (form.weights.requires_grad_(), table)
    )


# Edges


def test_neighbours_on_paper():
    edges = torch.tensor([[0, 2, 1, 2, 3], [1, 1, 1, 0, 0]])
    found = neighbours(edges, nodes=5)
    assert found.starts.tolist() == [0, 3, 6, 7, 8, 9]
    assert found.targets.tolist() == [0, 0, 0, 1, 1, 1, 2, 3, 4]
    assert [sorted(found.sources[a:b].tolist()) for a, b in ((0, 3), (3, 6), (6, 9))] == [
        [0, 2, 3],
        [0, 1, 2],
        [2, 3, 4],
    ]


@pytest.mark.parametrize("loops", [[[], []], [[2], [2]], [[0, 1, 2], [0, 1, 2]], [[1, 1, 1], [1, 1, 1]]])
def test_every_node_has_one_loop_however_many_it_had(loops):
    given = torch.tensor([[0, 1, *loops[0]], [1, 2, *loops[1]]])
    found = neighbours(given, nodes=3)
    pairs = sorted(zip(found.sources.tolist(), found.targets.tolist(), strict=True))
    assert pairs == [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]


@pytest.mark.parametrize("nodes", [1, 4])
def test_without_edges_there_are_only_loops(nodes):
    found = neighbours(torch.zeros(2, 0, dtype=torch.int64), nodes)
    assert found.sources.tolist() == found.targets.tolist() == list(range(nodes))
    assert found.starts.tolist() == list(range(nodes + 1))
    assert (
        dense(normalised_adjacency(torch.zeros(2, 0, dtype=torch.int64), nodes), nodes).tolist()
        == np.eye(nodes).tolist()
    )


def test_edges_are_left_as_they_were(rng):
    edges = random_edges(rng, 6, 20)
    before = edges.clone()
    normalised_adjacency(edges, 6)
    assert torch.equal(edges, before)


def test_the_normalised_adjacency_of_a_directed_path_on_paper():
    """From 0 to 1 to 2: rows receive, columns send, and degrees count what is received, the loop included."""
    found = dense(normalised_adjacency(torch.tensor([[0, 1], [1, 2]]), 3), 3)
    half = np.float32(2.0).item() ** -0.5
    # 1 / sqrt(1) / sqrt(2) is rounded twice.
    assert np.allclose(found, [[1, 0, 0], [half, 0.5, 0], [0, 0.5, 0.5]], rtol=2 * EPSILON, atol=0)


@pytest.mark.parametrize(("nodes", "count"), [(1, 3), (2, 1), (9, 30), (12, 8), (5, 60)])
def test_the_normalised_adjacency_is_the_matrix_of_kipf_and_welling(nodes, count, rng):
    edges = random_edges(rng, nodes, count)
    matrix = adjacency(edges, nodes)
    degrees = matrix.sum(axis=1)
    expected = matrix / np.sqrt(np.outer(degrees, degrees))
    # Two roots, one product, and a sum over edges that are there several times.
    rounding = (3 + matrix.max()) * EPSILON
    assert np.allclose(dense(normalised_adjacency(edges, nodes), nodes), expected, rtol=2 * rounding, atol=0)
