"""Collections of graphs: unions with the right offsets, and every graph the same in all of them."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from drawing import draw

from flipproof.errors import InvalidInputError
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.graphs import Graphs
from flipproof.noise.spaces.rows import DenseRows, SparseRows
from flipproof.theory.law import FlipNoise, JointNoise

TRIANGLE = [[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]]
EDGE = [[0, 1, 1], [1, 0, 1]]
NOISE = FlipNoise(0.1, 0.4)
JOINT = JointNoise(structure=NOISE, attributes=FlipNoise(0.2, 0.3))
NOTHING = FlipNoise(0.0, 0.0)


def graph(index, nodes, **more):
    return Graph.from_edge_index(index, nodes, np.eye(nodes, 3), **more)


GRAPHS = Graphs([graph(TRIANGLE, 3), graph([], 1), graph(EDGE, 2), graph([], 4), graph(TRIANGLE, 5)])


def split(union):
    """Edges, with node numbers of the graph itself, and attributes of every graph of a union."""
    firsts = np.searchsorted(union.graph_of_node, np.arange(union.graphs))
    owner = union.graph_of_node[union.edge_index[0]]
    assert np.array_equal(owner, union.graph_of_node[union.edge_index[1]])
    attributes = union.attributes.toarray() if sp.issparse(union.attributes) else union.attributes
    return [
        (
            (union.edge_index[:, owner == i] - firsts[i]).T.tolist(),
            attributes[union.graph_of_node == i].tolist(),
        )
        for i in range(union.graphs)
    ]


def test_a_union_without_noise_holds_the_graphs():
    union = draw(GRAPHS, JointNoise(structure=NOTHING, attributes=NOTHING), samples=2)
    assert (union.nodes, union.graphs) == (30, 10)
    assert union.graph_of_node.tolist() == np.repeat(np.arange(10), [3, 1, 2, 4, 5] * 2).tolist()
    clean = [(g.clean().edge_index.T.tolist(), g.clean().attributes.toarray().tolist()) for g in GRAPHS.graphs]
    assert split(union) == clean * 2


@pytest.mark.parametrize(
    "noise",
    [
        JOINT,
        JointNoise(structure=NOISE),
        JointNoise(attributes=NOISE),
        JointNoise(structure=FlipNoise(0.0, 0.5), attributes=FlipNoise(0.5, 0.5)),
    ],
)
def test_every_graph_is_the_same_in_all_unions(noise):
    sampler = GRAPHS.sampler(noise, 3)
    whole = split(sampler.draw(Role.SELECT, range(6), np.arange(5)))
    for rows in ([0], [4], [2, 0], [3], [4, 4, 1]):
        some = split(sampler.draw(Role.SELECT, range(2, 5), np.array(rows)))
        assert some == [whole[5 * sample + row] for sample in range(2, 5) for row in rows]


def slow_union(sampler, role, samples, rows):
    """Edge index, graphs of nodes and dense attributes, put together graph by graph as each says by itself."""
    space, edges, owners, first = sampler.space, [np.zeros((2, 0), int)], [], 0
    bits = None if sampler.structure is None else sampler.structure.draw(role, samples, rows)
    for i, row in enumerate(np.tile(rows, len(samples))):
        own = space.graphs[row].edges
        index = own.index() if bits is None else own.index(bits[1][bits[0][i] : bits[0][i + 1]])
        edges.append(index + first)
        owners += [i] * own.nodes
        first += own.nodes
    nodes = np.array([node for row in rows for node in range(space.offsets[row], space.offsets[row + 1])], dtype=int)
    if sampler.attributes is not None:
        attributes = sampler.attributes.draw(role, samples, nodes).toarray()
    else:
        attributes = np.tile(space.attributes.matrix.toarray()[nodes], (len(samples), 1))
    return np.concatenate(edges, axis=1), owners, attributes


def random_graph(rng, nodes, directed):
    adjacency = rng.random((nodes, nodes)) < 0.3  # self-loops among them
    adjacency = adjacency if directed else adjacency | adjacency.T
    attributes = rng.integers(0, 2, (nodes, 3))
    return Graph.from_edge_index(np.stack(adjacency.nonzero()), nodes, attributes, directed=directed)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("noise", [NOISE, FlipNoise(0.3, 0.4), FlipNoise(0.0, 0.4), FlipNoise(1.0, 0.0), None])
@pytest.mark.parametrize("part", [None, FlipNoise(0.2, 0.3)])
def test_a_union_is_what_its_graphs_say_one_by_one(rng, directed, noise, part):
    """Every method of drawing; graphs of one node, with few and with many pairs."""
    sizes = [1, 2, 17, 90, 1, 5]
    graphs = Graphs([random_graph(rng, nodes, directed) for nodes in sizes])
    parts = {name: law for name, law in (("structure", noise), ("attributes", part)) if law is not None}
    sampler = graphs.sampler(JointNoise(**parts or {"attributes": NOTHING}), 5)
    for samples, rows in ((range(3), range(6)), (range(7, 9), [5, 0, 5, 3])):
        union = sampler.draw(Role.ESTIMATE, samples, np.array(rows))
        edges, owners, attributes = slow_union(sampler, Role.ESTIMATE, samples, np.array(rows))
        assert union.edge_index.dtype == union.graph_of_node.dtype == np.int64
        assert (union.edge_index == edges).all()
        assert union.graph_of_node.tolist() == owners
        assert (union.nodes, union.graphs) == (len(owners), len(samples) * len(rows))
        assert (union.attributes.toarray() == attributes).all()


def test_a_union_is_cut_into_smaller_ones():
    union = draw(GRAPHS, JOINT, samples=4)
    for size in (1, 3, 7, 19, 20, 21):
        parts = list(union.cut(size))
        assert [part.graphs for part in parts] == [min(size, 20 - start) for start in range(0, 20, size)]
        assert [piece for part in parts for piece in split(part)] == split(union)
        assert all(part.nodes == part.graph_of_node.size == part.attributes.shape[0] for part in parts)
    plain = draw(Graphs([Graph.from_edge_index(TRIANGLE, 3)] * 3), NOISE, samples=1)
    assert [part.attributes for part in plain.cut(2)] == [None, None]


def test_only_graphs_in_order_can_be_cut():
    union = draw(GRAPHS, JOINT, samples=4)
    for wrong in (
        replace(union, edge_index=union.edge_index[:, ::-1]),
        replace(union, graph_of_node=union.graph_of_node[::-1]),
    ):
        with pytest.raises(InvalidInputError, match="expected nodes and edges in the order of their graphs, got"):
            list(wrong.cut(7))


def test_noisy_unions_have_both_directions_once_and_keep_loops():
    union = draw(GRAPHS, JOINT, samples=50)
    pairs = [tuple(pair) for pair in union.edge_index.T.tolist()]
    assert len(set(pairs)) == len(pairs)
    assert {(v, u) for u, v in pairs} == set(pairs)
    loops = {u for u, v in pairs if u == v}
    assert loops == {15 * sample + 5 for sample in range(50)}


def test_empty_draws():
    sampler = GRAPHS.sampler(JOINT, 0)
    for samples, rows in ((range(0), [0, 1]), (range(2), [])):
        union = sampler.draw(Role.SELECT, samples, np.array(rows, np.int64))
        assert (union.nodes, union.graphs, union.edge_index.shape) == (0, 0, (2, 0))
        assert union.attributes.shape == (0, 3)


def test_graphs_without_attributes():
    graphs = Graphs([Graph.from_edge_index(TRIANGLE, 3), Graph.from_edge_index([], 2)])
    assert (len(graphs), graphs.nodes, graphs.parts, graphs.attributes) == (2, 5, ("structure",), None)
    assert draw(graphs, NOISE).attributes is None


def test_attributes_of_one_kind_are_stacked():
    binary, categories = graph(EDGE, 2), Graph.from_edge_index(EDGE, 2, 2 * np.eye(2, 3))
    assert isinstance(Graphs([binary, binary]).attributes, SparseRows)
    mixed = Graphs([binary, categories])
    assert isinstance(mixed.attributes, DenseRows)
    assert mixed.attributes.values.tolist() == [[1, 0, 0], [0, 1, 0], [2, 0, 0], [0, 2, 0]]
    drawn = draw(mixed, JointNoise(attributes=FlipNoise(1.0, 1.0, 3)), samples=1)
    assert (drawn.attributes != mixed.attributes.values).all()


def test_attributes_without_noise_are_stacked_too():
    dense = Graph.from_edge_index(EDGE, 2, np.full((2, 3), 0.5), noisy="structure")
    sparse = Graph.from_edge_index(EDGE, 2, sp.csr_array(np.full((2, 3), 0.25)), noisy="structure")
    assert sp.issparse(Graphs([sparse, sparse]).attributes)
    for graphs in (Graphs([dense, sparse]), Graphs([sparse, sparse]), Graphs([dense, dense])):
        drawn = draw(graphs, NOISE, samples=2).attributes
        drawn = drawn.toarray() if sp.issparse(drawn) else drawn
        values = [plain[0] for plain in split(draw(graphs, NOISE, samples=1)) for plain in plain[1]]
        assert drawn[:, 0].tolist() == values * 2


def test_from_pyg():
    torch, data = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.data")
    one = data.Data(edge_index=torch.tensor(TRIANGLE), x=torch.eye(3))
    graphs = Graphs.from_pyg([one, one])
    assert (len(graphs), graphs.nodes, graphs.parts) == (2, 6, ("structure", "attributes"))
    assert Graphs.from_pyg(iter([one]), noisy="attributes").parts == ("attributes",)
    wrong = data.Data(edge_index=torch.tensor(TRIANGLE), x=torch.eye(2))
    with pytest.raises(InvalidInputError, match="graph 1: expected edges between nodes 0 to 1, got node 2"):
        Graphs.from_pyg([one, wrong])


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        ([], "expected one or more Graph, got none"),
        ([graph(EDGE, 2), graph([], 0), graph([], 0)], "expected graphs with nodes, got graph 1 with none"),
        ([graph(EDGE, 2), "graph"], "expected one or more Graph, got 'graph'"),
        ([graph(EDGE, 2), graph(EDGE, 2, noisy="structure")], "expected graphs with noise on the same parts, got"),
        ([graph(EDGE, 2), graph(EDGE, 2, directed=True)], "expected graphs with directed edges in all or in none"),
        (
            [graph(EDGE, 2, noisy="structure"), Graph.from_edge_index(EDGE, 2)],
            "expected attributes for all graphs or for none, got some without",
        ),
        (
            [graph(EDGE, 2), Graph.from_edge_index(EDGE, 2, np.eye(2))],
            r"expected equally many attributes in all graphs, got \[2, 3\]",
        ),
    ],
)
def test_what_is_refused(graphs, message):
    with pytest.raises(InvalidInputError, match=message):
        Graphs(graphs)


def test_distance_and_memory_count_all_graphs():
    sampler = GRAPHS.sampler(JOINT, 0)
    assert sampler.rows == 5
    assert sampler.distance == sampler.structure.distance + sampler.attributes.distance > 0
    union = sampler.draw(Role.SELECT, range(10), np.arange(5))
    assert 50 * sampler.bytes_per_row > union.edge_index.nbytes + union.attributes.data.nbytes
