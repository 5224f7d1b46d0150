"""Which space the user's data becomes."""

import numpy as np
import pytest
import scipy.sparse as sp

from flipproof.errors import InvalidInputError
from flipproof.noise.laws import space_of
from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.graphs import Graphs
from flipproof.noise.spaces.rows import DenseRows, SparseRows
from flipproof.noise.spaces.table import Table
from flipproof.noise.spaces.tokens import Tokens

GRAPH = Graph.from_edge_index([[0, 1], [1, 0]], nodes=2)


@pytest.mark.parametrize(
    "space",
    [
        DenseRows([[0, 1]]),
        SparseRows(sp.csr_array(np.eye(2))),
        Tokens([[1, 2]]),
        Table([[0, 1]], [2, 2]),
        GRAPH,
        Graphs([GRAPH]),
    ],
    ids=lambda space: type(space).__name__,
)
def test_a_space_is_a_space(space):
    assert space_of(space) is space


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ([[0, 1]], DenseRows),
        (np.zeros((2, 3, 3)), DenseRows),
        (sp.csr_array(np.eye(2)), SparseRows),
        (sp.coo_matrix(np.eye(2)), SparseRows),
        ([GRAPH, GRAPH], Graphs),
        ((GRAPH,), Graphs),
    ],
)
def test_arrays_matrices_and_lists(data, kind):
    assert type(space_of(data)) is kind


def test_tensors_and_pyg():
    torch, data = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.data")
    assert type(space_of(torch.eye(2))) is DenseRows
    one = data.Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
    assert type(space_of(one)) is Graph
    assert type(space_of([one, one])) is Graphs


def test_a_pyg_dataset_is_a_collection_of_graphs():
    torch, data = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.data")

    class Edges(data.InMemoryDataset):
        def __init__(self):
            super().__init__(None)
            one = data.Data(edge_index=torch.tensor([[0, 1], [1, 0]]), x=torch.eye(2))
            self._data, self.slices = self.collate([one, one, one])

    graphs = space_of(Edges())
    assert (type(graphs), len(graphs), graphs.nodes) == (Graphs, 3, 6)


def test_networkx():
    networkx = pytest.importorskip("networkx")
    assert space_of(networkx.path_graph(3)).edges.count == 2
    assert space_of(networkx.path_graph(3, networkx.DiGraph)).edges.directed


class Frame:
    """As much of a data frame as is looked at."""

    columns = iloc = ()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Frame(), r"expected a data frame of pandas or polars, got test_space_of.Frame: call its to_pandas\(\)"),
        ("text", r"expected a list of texts, got a single text 'text'; put it into a list: \[text\]"),
        (None, "expected values to be numbers, got NoneType"),
        ([], r"expected values of shape \[inputs, entries, \.\.\.\], got shape \(0,\)"),
        ([GRAPH, None], "expected values to be numbers, got object"),
        ({1, 2}, "expected values to be numbers, got set"),
    ],
)
def test_what_is_no_space(data, message):
    with pytest.raises(InvalidInputError, match=message):
        space_of(data)
