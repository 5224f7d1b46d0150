"""Graphs as spaces: every way to make one, and what noise on structure, attributes or both may and may not do."""

import numpy as np
import pytest
import scipy.sparse as sp

from flipproof.errors import InvalidInputError, TooLargeError
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.rows import DenseRows, SparseRows
from flipproof.theory.law import FlipNoise, JointNoise

TRIANGLE = [[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]]
NOISE = FlipNoise(0.1, 0.4)
JOINT = JointNoise(structure=NOISE, attributes=FlipNoise(0.2, 0.3))
FLIP_ALL = FlipNoise(1.0, 1.0)
EYE = np.eye(3)


def draw(graph, noise, samples=1, seed=0):
    return graph.sampler(noise, seed).draw(Role.SELECT, range(samples), np.zeros(1, np.int64))


def pairs(edge_index):
    return [tuple(pair) for pair in np.asarray(edge_index).T.tolist()]


# Ways to make one


def test_from_edge_index():
    graph = Graph.from_edge_index(TRIANGLE, nodes=4)
    assert (graph.nodes, graph.edges.count, graph.parts, graph.attributes) == (4, 3, ("structure",), None)
    assert graph.clean().edge_index.tolist() == [[0, 0, 1, 1, 2, 2], [1, 2, 2, 0, 0, 1]]


@pytest.mark.parametrize("attributes", [EYE, EYE.tolist(), EYE.astype(bool), sp.csr_array(EYE), sp.coo_array(EYE)])
def test_binary_attributes_become_sparse_rows(attributes):
    graph = Graph.from_edge_index(TRIANGLE, attributes=attributes)
    assert (graph.nodes, graph.noisy, graph.parts) == (3, "both", ("structure", "attributes"))
    assert isinstance(graph.attributes, SparseRows)
    assert graph.clean().attributes.toarray().tolist() == EYE.tolist()


def test_categories_become_dense_rows():
    graph = Graph.from_edge_index(TRIANGLE, attributes=np.diag([1, 2, 3]))
    assert isinstance(graph.attributes, DenseRows)
    assert graph.clean().attributes.tolist() == np.diag([1, 2, 3]).tolist()


@pytest.mark.parametrize("rows", [SparseRows(sp.csr_array(EYE)), DenseRows(EYE)])
def test_rows_are_taken_as_they_are(rows):
    assert Graph.from_edge_index(TRIANGLE, attributes=rows).attributes is rows
    assert Graph.from_edge_index(TRIANGLE, nodes=3, attributes=rows, noisy="structure").attributes is rows


def test_attributes_without_noise_may_be_anything():
    values = np.array([[0.5, -1.0], [2.0, np.nan], [0.0, 1e300]])
    graph = Graph.from_edge_index(TRIANGLE, attributes=values, noisy="structure")
    values[:] = 0.0
    assert graph.attributes[0].tolist() == [0.5, -1.0]
    assert not graph.attributes.flags.writeable
    sparse = sp.csr_array(np.array([[0.5], [0.0], [-1.0]], np.float32))
    graph = Graph.from_edge_index(TRIANGLE, attributes=sparse, noisy="structure")
    sparse.data[:] = 0.0
    assert graph.attributes.toarray().tolist() == [[0.5], [0.0], [-1.0]]


@pytest.mark.parametrize("make", [sp.csr_array, sp.coo_array, sp.csc_matrix])
def test_from_scipy(make):
    matrix = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]])
    graph = Graph.from_scipy(make(matrix), EYE, noisy="structure")
    assert (graph.nodes, graph.edges.count, graph.edges.loops.tolist()) == (3, 1, [0])
    directed = Graph.from_scipy(make(np.triu(matrix)), directed=True)
    assert directed.clean().edge_index.tolist() == [[0, 0], [1, 0]]


def test_explicit_zeros_are_no_edges():
    matrix = sp.coo_array((np.array([1, 1, 0]), ([0, 1, 0], [1, 0, 2])), shape=(3, 3))
    assert Graph.from_scipy(matrix).edges.count == 1


def test_from_networkx():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph([("c", "a"), ("a", "b"), ("b", "b")])
    made = Graph.from_networkx(graph)  # nodes in the order c, a, b
    assert (made.nodes, made.edges.directed, made.edges.loops.tolist()) == (3, False, [2])
    assert sorted(pairs(made.clean().edge_index)) == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 2)]
    directed = Graph.from_networkx(networkx.DiGraph([("c", "a"), ("a", "b"), ("b", "a")]), EYE)
    assert (directed.edges.directed, directed.noisy) == (True, "both")
    assert sorted(pairs(directed.clean().edge_index)) == [(0, 1), (1, 2), (2, 1)]
    assert Graph.from_networkx(networkx.empty_graph(4)).clean().edge_index.shape == (2, 0)
    assert Graph.from_networkx(networkx.Graph()).nodes == 0


def test_multigraphs_are_merged_on_request_only():
    networkx = pytest.importorskip("networkx")
    for kind in (networkx.MultiGraph, networkx.MultiDiGraph):
        graph = kind([(0, 1), (0, 1), (1, 1), (1, 1)])
        with pytest.raises(InvalidInputError, match="expected every edge once, got"):
            Graph.from_networkx(graph)
        merged = Graph.from_networkx(graph, duplicates="merge")
        assert (merged.edges.count, merged.edges.loops.tolist()) == (1, [1])


def test_from_pyg():
    torch, data = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.data")
    graph = Graph.from_pyg(data.Data(edge_index=torch.tensor(TRIANGLE), num_nodes=5))
    assert (graph.nodes, graph.attributes, graph.noisy) == (5, None, "structure")
    with_x = data.Data(edge_index=torch.tensor(TRIANGLE), x=torch.eye(3))
    assert Graph.from_pyg(with_x).parts == ("structure", "attributes")
    assert Graph.from_pyg(with_x, noisy="attributes").parts == ("attributes",)
    one_way = data.Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2)
    assert Graph.from_pyg(one_way, directed=True).edges.count == 1
    with pytest.raises(InvalidInputError, match="in both directions, got 1 without"):
        Graph.from_pyg(one_way)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"nodes": None}, "expected the number of nodes or attributes, got neither; give nodes="),
        ({"nodes": -1}, "expected nodes to be a non-negative integer, got -1"),
        ({"nodes": 2.5}, "expected nodes to be a non-negative integer, got 2.5"),
        ({"nodes": 3, "noisy": "edges"}, "expected noisy to be one of structure, attributes, both, got 'edges'"),
        ({"nodes": 3, "noisy": "both"}, "expected attributes, since noisy is 'both', got none"),
        ({"nodes": 3, "noisy": "attributes"}, "expected attributes, since noisy is 'attributes', got none"),
        ({"nodes": 3, "duplicates": "keep"}, "expected duplicates to be 'refuse' or 'merge', got 'keep'"),
        ({"nodes": 4, "attributes": EYE}, r"expected attributes of shape \[4 nodes, \.\.\.\], got shape \(3, 3\)"),
        ({"attributes": EYE[0]}, r"expected values of shape \[inputs, entries, \.\.\.\], got shape \(3,\)"),
        (
            {"attributes": np.zeros((3, 1, 1))},
            r"expected attributes of shape \[3 nodes, \.\.\.\], got shape \(3, 1, 1\)",
        ),
        ({"attributes": EYE / 2}, r"expected the matrix to hold zeros and ones, got 0\.5; binarise it first"),
        ({"attributes": EYE * 1.5}, r"expected values to be integers, got 1\.5"),
        ({"attributes": -EYE}, r"expected the matrix to hold zeros and ones, got -1\.0"),
        ({"attributes": [["a"], ["b"], ["c"]]}, "expected attributes to be numbers, got <U1"),
        ({"attributes": EYE[0], "noisy": "structure"}, r"expected attributes of shape \[3 nodes, \.\.\.\]"),
    ],
)
def test_what_graphs_refuse(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        Graph.from_edge_index(TRIANGLE, **arguments)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), r"expected a square adjacency matrix, got shape \(2, 3\)"),
        (np.triu(np.ones((3, 3))), "in both directions, got 3 without the reverse"),
        (2 * EYE, "expected the adjacency matrix to hold zeros and ones, got 2.0"),
    ],
)
def test_what_adjacency_matrices_are_refused(matrix, message):
    with pytest.raises(InvalidInputError, match=message):
        Graph.from_scipy(sp.csr_array(matrix))
    with pytest.raises(InvalidInputError, match="expected the adjacency matrix to be a sparse matrix, got ndarray"):
        Graph.from_scipy(matrix)


@pytest.mark.parametrize(
    ("noisy", "noise", "message"),
    [
        (
            "both",
            NOISE,
            r"expected JointNoise\(structure=\.\.\., attributes=\.\.\.\), or.*noisy='structure' takes a FlipNoise",
        ),
        ("both", JointNoise(words=NOISE), "expected noise on parts structure, attributes, got noise on words"),
        ("structure", JOINT, "expected noise on parts structure, got noise on attributes"),
        ("attributes", JOINT, "expected noise on parts attributes, got noise on structure"),
        ("structure", FlipNoise(0.1, 0.1, 3), "expected noise with 2 categories for structure, got 3"),
        ("attributes", FlipNoise(0.1, 0.1, 3), "expected noise with 2 categories .*, got 3"),
    ],
)
def test_noise_that_does_not_fit_is_refused(noisy, noise, message):
    with pytest.raises(InvalidInputError, match=message):
        Graph.from_edge_index(TRIANGLE, attributes=EYE, noisy=noisy).sampler(noise, 0)


def test_categories_that_the_noise_does_not_know_are_refused():
    graph = Graph.from_edge_index(TRIANGLE, attributes=2 * EYE, noisy="attributes")
    with pytest.raises(InvalidInputError, match=r"expected values in \[0, 2\) as the noise has 2 categories, got 2"):
        graph.sampler(NOISE, 0)


# What noise does


def looped(rng, nodes, directed):
    """A random graph with some self-loops."""
    matrix = rng.random((nodes, nodes)) < 0.2
    matrix = matrix if directed else matrix | matrix.T
    return matrix, Graph.from_scipy(sp.csr_array(matrix), directed=directed)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("noise", [FlipNoise(0.0, 0.5), FlipNoise(0.05, 0.5), FlipNoise(0.4, 0.2), FLIP_ALL])
def test_noisy_structure_is_a_graph(directed, noise, rng):
    matrix, graph = looped(rng, 25, directed)
    for noisy in draw(graph, noise, samples=30):
        found = pairs(noisy.edge_index)
        own = [(u, v) for u, v in found if (u != v if directed else u < v)]
        turned = [] if directed else [(v, u) for u, v in own]
        assert own == sorted(set(own))
        assert found == [*own, *turned, *((u, u) for u in np.flatnonzero(matrix.diagonal()).tolist())]
        assert noisy.edge_index.dtype == np.int64
        assert all(0 <= u < 25 and 0 <= v < 25 for u, v in found)
        if noise.p_plus == 0.0:
            assert all(matrix[u, v] for u, v in found)


@pytest.mark.parametrize("directed", [False, True])
def test_certain_noise_gives_the_complement(directed, rng):
    matrix, graph = looped(rng, 12, directed)
    (noisy,) = draw(graph, FLIP_ALL)
    found = np.zeros((12, 12), bool)
    found[tuple(noisy.edge_index)] = True
    assert np.array_equal(found, matrix ^ ~np.eye(12, dtype=bool))


def test_noise_on_attributes_leaves_the_edges_alone():
    graph = Graph.from_edge_index(TRIANGLE, attributes=EYE, noisy="attributes")
    first, second = draw(graph, FLIP_ALL, samples=2)
    assert first.edge_index is second.edge_index
    assert first.edge_index.tolist() == graph.clean().edge_index.tolist()
    assert first.attributes.toarray().tolist() == (1 - EYE).tolist()


def test_noise_on_structure_leaves_the_attributes_alone():
    values = np.array([[0.5], [1.5], [-1.0]])
    first, second = draw(Graph.from_edge_index(TRIANGLE, attributes=values, noisy="structure"), FLIP_ALL, samples=2)
    assert first.attributes is second.attributes
    assert first.attributes.tolist() == values.tolist()
    assert first.edge_index.shape == (2, 0)


def test_noise_on_both_or_on_one_of_both():
    graph = Graph.from_edge_index(TRIANGLE, attributes=EYE)
    both = draw(graph, JOINT, samples=20)
    structure = draw(graph, JointNoise(structure=JOINT.parts["structure"]), samples=20)
    attributes = draw(graph, JointNoise(attributes=JOINT.parts["attributes"]), samples=20)
    for joint, one, other in zip(both, structure, attributes, strict=True):
        assert joint.edge_index.tolist() == one.edge_index.tolist()
        assert joint.attributes.toarray().tolist() == other.attributes.toarray().tolist()
        assert other.edge_index.tolist() == graph.clean().edge_index.tolist()
        assert one.attributes.toarray().tolist() == EYE.tolist()


def test_noisy_categories_stay_in_range():
    graph = Graph.from_edge_index(TRIANGLE, attributes=np.diag([1, 2, 3]), noisy="attributes")
    drawn = np.array([noisy.attributes for noisy in draw(graph, FlipNoise(0.5, 0.5, 5), samples=100)])
    assert set(np.unique(drawn)) == {0, 1, 2, 3, 4}


def test_sampling_changes_nothing():
    graph = Graph.from_edge_index(TRIANGLE, attributes=EYE)
    before = graph.clean()
    draw(graph, JOINT, samples=5)
    assert graph.clean().edge_index.tolist() == before.edge_index.tolist()
    assert graph.clean().attributes.toarray().tolist() == EYE.tolist()


@pytest.mark.parametrize("nodes", [0, 1, 2])
@pytest.mark.parametrize("noise", [FlipNoise(0.0, 0.5), FlipNoise(0.1, 0.5), FLIP_ALL])
def test_tiny_graphs(nodes, noise):
    graph = Graph.from_edge_index([], nodes, np.zeros((nodes, 3)))
    drawn = draw(graph, JointNoise(structure=noise, attributes=noise), samples=3)
    assert [noisy.nodes for noisy in drawn] == [nodes] * 3
    assert [noisy.attributes.shape for noisy in drawn] == [(nodes, 3)] * 3
    if noise == FLIP_ALL:
        assert drawn[0].edge_index.tolist() == ([[0, 1], [1, 0]] if nodes == 2 else [[], []])


def test_distance_is_that_of_both_parts():
    graph = Graph.from_edge_index(TRIANGLE, attributes=EYE)
    sampler = graph.sampler(JOINT, 0)
    assert sampler.distance == sampler.structure.distance + sampler.attributes.distance
    assert 0 < sampler.structure.distance < 2**-110
    assert graph.sampler(JointNoise(structure=FlipNoise(0.0, 0.5)), 0).distance == 0


# Size


def test_additions_to_a_graph_of_a_million_nodes():
    graph = Graph.from_edge_index([[0, 10**6 - 1], [10**6 - 1, 0]], 10**6)
    first, second = draw(graph, FlipNoise(1e-9, 0.0), samples=2)
    for noisy in (first, second):
        found = pairs(noisy.edge_index)
        # 5 * 10**11 pairs at 1e-9: 500 on average, and outside 300 to 700 with probability below 1e-15.
        half = len(found) // 2
        assert found[:half] == sorted(set(found[:half]))
        assert found[half:] == [(v, u) for u, v in found[:half]]
        assert 300 < half < 700
        assert {(0, 10**6 - 1), (10**6 - 1, 0)} <= set(found)
        assert noisy.edge_index.max() < 10**6
    assert pairs(first.edge_index) != pairs(second.edge_index)


def test_additions_to_a_graph_of_a_billion_nodes_are_refused():
    graph = Graph.from_edge_index([[0, 2**30 - 1], [2**30 - 1, 0]], 2**30)
    for p_plus, limit in [(1e-18, 2**42), (0.01, 6400 * 2**22), (0.5, 2**46)]:
        with pytest.raises(TooLargeError, match=f"expected at most {limit} entries in a row with FlipNoise"):
            graph.sampler(FlipNoise(p_plus, 0.5), 0)


def test_deletions_from_a_graph_of_a_billion_nodes():
    graph = Graph.from_edge_index([[0, 2**30 - 1, 7], [2**30 - 1, 0, 7]], 2**30)
    sampler = graph.sampler(FlipNoise(0.0, 0.5), 0)
    starts, ranks = sampler.structure.draw(Role.SELECT, range(40), np.zeros(1, np.int64))
    assert set(np.diff(starts).tolist()) == {0, 1}
    assert set(ranks.tolist()) == {2**30 - 2}
