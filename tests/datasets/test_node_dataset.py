"""The dataset of one graph: what it accepts, how it is standardised, and its file."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.datasets import NodeDataset

TRIANGLE = sp.csr_array(np.ones((3, 3)) - np.eye(3))


def test_values_are_normal_and_cannot_be_written_to():
    data = NodeDataset("triangle", TRIANGLE.tocoo(), np.eye(3, dtype=int), [0.0, 1.0, 1.0], ("a", "b"))
    assert (data.nodes, data.edges, data.features, data.classes) == (3, 3, 3, 2)
    assert (data.adjacency.dtype, data.attributes.dtype, data.labels.dtype) == (np.float32, np.float32, np.int64)
    assert data.adjacency.indices.dtype == data.attributes.indptr.dtype == np.int32
    for array in (data.adjacency.data, data.adjacency.indices, data.attributes.data, data.labels):
        assert not array.flags.writeable
    with pytest.raises(AttributeError):
        data.name = "other"


def test_inputs_are_not_changed():
    adjacency, attributes, labels = TRIANGLE.copy(), np.full((3, 2), 0.5), np.array([0, 1, 0])
    NodeDataset("triangle", adjacency, attributes, labels).standardised()
    assert (adjacency != TRIANGLE).nnz == 0
    for array in (adjacency.data, attributes, labels):
        assert array.flags.writeable


def test_attributes_that_are_not_binary_stay_what_they_are():
    dense = NodeDataset("t", TRIANGLE, [[0.5], [0], [0]], [0, 0, 0])
    assert isinstance(dense.attributes, np.ndarray)
    tiny = sp.csr_array([[1e-60], [0], [3]])
    sparse = NodeDataset("t", TRIANGLE, tiny, [0, 0, 0])
    assert sparse.attributes.toarray().tolist() == [[1e-60], [0], [3]]
    for data in (dense, sparse):
        assert data.standardised().attributes.toarray().ravel().tolist() == [1, 0, data is sparse]
        assert data.graph("structure").parts == ("structure",)
        with pytest.raises(fp.InvalidInputError, match="noisy='structure' takes any attributes"):
            data.graph("attributes")


def test_standardised_takes_the_largest_component_without_loops_and_directions():
    adjacency = np.zeros((6, 6))
    adjacency[[0, 2, 3, 4, 5, 5], [1, 3, 4, 4, 5, 4]] = 1
    data = NodeDataset("six", sp.csr_array(adjacency), None, [0, 0, 1, 1, 2, 2], directed=True)
    assert data.edges == 4
    small = data.standardised()
    assert (small.nodes, small.edges, small.directed) == (4, 3, False)
    assert small.labels.tolist() == [1, 1, 2, 2]
    assert small.classes == 3
    assert small.adjacency.toarray().tolist() == [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]


def test_of_equal_components_the_first_is_taken():
    adjacency = sp.block_diag([np.ones((1, 1)), TRIANGLE, TRIANGLE], format="csr")
    assert NodeDataset("two", adjacency, None, range(7)).standardised().labels.tolist() == [1, 2, 3]


def test_isolated_nodes_one_class_and_nothing_at_all_are_fine():
    lonely = NodeDataset("lonely", sp.csr_array((3, 3)), None, [0, 0, 0])
    assert (lonely.edges, lonely.classes, lonely.standardised().nodes) == (0, 1, 1)
    nothing = NodeDataset("nothing", sp.csr_array((0, 0)), np.zeros((0, 4)), [])
    assert (nothing.nodes, nothing.classes, nothing.standardised().nodes) == (0, 0, 0)


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (None, "none"),
        ([0, 1], r"labels of shape [2] for 3 nodes"),
        ([[0, 1], [1, 0], [0, 0]], r"labels of shape [3, 2] for 3 nodes"),
        ([0, np.nan, 1], "the label nan"),
        ([0, -1, 1], "the label -1"),
        ([0, 0.5, 1], "the label 0.5"),
        ([0, 10**9, 1], "the label 1000000000"),
        ([0, np.inf, 1], "the label inf"),
        (["a", "b", "c"], "labels of type <U1"),
    ],
)
def test_wrong_labels_are_refused(labels, reason):
    with pytest.raises(fp.InvalidInputError, match=re.escape(f"expected a label from 0 for every node, got {reason}")):
        NodeDataset("triangle", TRIANGLE, None, labels)


@pytest.mark.parametrize(
    ("adjacency", "attributes", "reason"),
    [
        (np.eye(3), None, "expected the adjacency matrix to be a sparse matrix, got ndarray"),
        (sp.csr_array((3, 4)), None, "expected a square adjacency matrix"),
        (TRIANGLE * 2, None, "to hold zeros and ones, got 2.0"),
        (sp.csr_array(np.triu(np.ones((3, 3)))), None, "every edge in both directions, got 3 without the reverse"),
        (sp.coo_array(([1, 1], ([0, 0], [0, 0])), shape=(3, 3)), None, "got 1 duplicates"),
        (TRIANGLE, np.zeros((2, 5)), "expected attributes of shape [3 nodes, ...], got shape (2, 5)"),
        (TRIANGLE, np.zeros(3), "expected attributes of shape [3 nodes, ...], got shape (3,)"),
        (TRIANGLE, [[np.nan], [0], [1]], "expected finite attributes, got nan"),
        (TRIANGLE, [["a"], ["b"], ["c"]], "expected attributes to be numbers"),
        (TRIANGLE, sp.csr_array(np.eye(3) * 1j), "expected attributes to be numbers, got complex128"),
        (TRIANGLE, sp.coo_array(([1, 1], ([0, 0], [0, 0])), shape=(3, 1)), "every attribute once, got 1 duplicates"),
    ],
)
def test_wrong_matrices_are_refused(adjacency, attributes, reason):
    with pytest.raises(fp.InvalidInputError, match=re.escape(reason)):
        NodeDataset("triangle", adjacency, attributes, [0, 0, 1])


def test_too_few_class_names_are_refused():
    with pytest.raises(fp.InvalidInputError, match="expected a name for each of 2 classes, got 1"):
        NodeDataset("triangle", TRIANGLE, None, [0, 0, 1], ("a",))


@pytest.mark.parametrize(
    "attributes", [None, np.eye(3), np.array([[0.25], [1e-60], [0]]), sp.csr_array([[0.25], [0], [7]])]
)
@pytest.mark.parametrize("directed", [True, False])
def test_a_saved_dataset_comes_back(tmp_path, attributes, directed):
    data = NodeDataset("mine: ä", TRIANGLE, attributes, [0, 2, 2], ("a", "b", "ß"), directed)
    data.save(tmp_path / "mine.npz")
    for again in (NodeDataset.load(tmp_path / "mine.npz"), fp.datasets.load(str(tmp_path / "mine.npz"))):
        assert (again.name, again.class_names, again.directed) == (data.name, data.class_names, directed)
        assert (again.adjacency != data.adjacency).nnz == 0
        assert again.labels.tolist() == [0, 2, 2]
        assert type(again.attributes) is type(data.attributes)
        if attributes is not None:
            plain = [part.toarray() if sp.issparse(part) else part for part in (again.attributes, data.attributes)]
            assert plain[0].tolist() == plain[1].tolist()
            assert plain[0].dtype == plain[1].dtype
    again.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "mine.npz").read_bytes()
