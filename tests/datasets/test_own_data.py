"""Graphs that users bring: from PyTorch Geometric, networkx and scipy."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

import flipproof as fp
from flipproof.datasets import from_networkx, from_pyg, from_scipy

PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


def test_pyg():
    data = Data(x=torch.eye(4), edge_index=PATH, y=torch.tensor([[0], [1], [1], [0]]))
    mine = from_pyg(data, name="path")
    assert (mine.name, mine.nodes, mine.edges, mine.features, mine.classes) == ("path", 4, 2, 4, 2)
    assert mine.adjacency.toarray().tolist() == [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert mine.labels.tolist() == [0, 1, 1, 0]
    assert mine.graph("both").edges.count == 2


def test_pyg_without_attributes_and_labels():
    data = Data(edge_index=PATH, num_nodes=3, y=torch.tensor([0, 0, 1]))
    assert from_pyg(data).attributes is None
    data.y = None
    with pytest.raises(fp.InvalidInputError, match="expected a label from 0 for every node, got none"):
        from_pyg(data)
    with pytest.raises(fp.InvalidInputError, match="expected a graph with an edge_index, got Data without"):
        from_pyg(Data(y=torch.zeros(3)))
    with pytest.raises(fp.InvalidInputError, match="expected a graph that knows its num_nodes"):
        from_pyg(SimpleNamespace(edge_index=PATH, y=[0]))


def test_pyg_directions_and_duplicates():
    y = torch.tensor([0, 1, 1])
    one_way = Data(edge_index=PATH[:, [0, 2]], num_nodes=3, y=y)
    assert from_pyg(one_way, directed=True).edges == 2
    with pytest.raises(fp.InvalidInputError, match="every edge in both directions, got 2 without"):
        from_pyg(one_way)
    twice = Data(edge_index=torch.cat([PATH, PATH], dim=1), num_nodes=3, y=y)
    with pytest.raises(fp.InvalidInputError, match="got 4 duplicates; give duplicates='merge'"):
        from_pyg(twice)
    assert from_pyg(twice, duplicates="merge").edges == 2
    with pytest.raises(fp.InvalidInputError, match="expected duplicates to be 'refuse' or 'merge', got 'sum'"):
        from_pyg(twice, duplicates="sum")
    with pytest.raises(fp.InvalidInputError, match="expected edges between nodes 0 to 1, got node 2"):
        from_pyg(Data(edge_index=PATH, num_nodes=2, y=y[:2]))


def bags():
    graph = nx.Graph([("x", "y"), ("y", "z")])
    for node, bag, kind in (("x", [1, 0], "cat"), ("y", [0, 1], "ant"), ("z", [1, 1], "cat")):
        graph.nodes[node].update(bag=bag, kind=kind)
    return graph


def test_networkx_with_names_of_node_attributes():
    mine = from_networkx(bags(), attributes="bag", labels="kind", name="animals")
    assert mine.attributes.toarray().tolist() == [[1, 0], [0, 1], [1, 1]]
    assert (mine.labels.tolist(), mine.class_names) == ([1, 0, 1], ("ant", "cat"))
    graph = bags()
    nx.set_node_attributes(graph, dict(zip("xyz", (3, 4, 5), strict=True)), "size")
    assert from_networkx(graph, attributes="size", labels="kind").attributes.tolist() == [[3], [4], [5]]


def test_networkx_with_arrays_in_the_order_of_its_nodes():
    mine = from_networkx(bags(), attributes=np.eye(3), labels=[2, 1, 0])
    assert (mine.labels.tolist(), mine.class_names) == ([2, 1, 0], ("0", "1", "2"))
    words = np.array(["b", "a", "b"], dtype=object)
    assert from_networkx(bags(), labels=words).class_names == ("a", "b")


def test_networkx_directed_loops_and_parallel_edges():
    assert from_networkx(nx.DiGraph([(0, 1), (1, 2)]), labels=[0, 1, 1]).directed
    loops = from_networkx(nx.Graph([(0, 1), (1, 1)]), labels=[0, 1])
    assert (loops.edges, loops.adjacency.nnz, loops.standardised().adjacency.nnz) == (1, 3, 2)
    parallel = nx.MultiGraph([(0, 1), (0, 1)])
    with pytest.raises(fp.InvalidInputError, match="duplicates='merge'"):
        from_networkx(parallel, labels=[0, 1])
    assert from_networkx(parallel, labels=[0, 1], duplicates="merge").edges == 1


def test_networkx_with_something_missing():
    graph = bags()
    del graph.nodes["y"]["kind"]
    with pytest.raises(fp.InvalidInputError, match="expected every node to have 'kind', got node 'y' without"):
        from_networkx(graph, labels="kind")
    with pytest.raises(fp.InvalidInputError, match="expected a label from 0 for every node, got none"):
        from_networkx(graph)
    graph.nodes["y"]["bag"] = [1]
    with pytest.raises(fp.InvalidInputError, match="expected an array, got list"):
        from_networkx(graph, attributes="bag", labels=[0, 0, 0])
    assert from_networkx(nx.Graph(), labels=[]).nodes == 0


def test_scipy():
    adjacency = sp.csr_array([[0, 1], [1, 0]])
    mine = from_scipy(adjacency, sp.csr_array([[1], [0]]), [0, 1])
    assert (mine.nodes, mine.features, mine.classes) == (2, 1, 2)
    assert from_scipy(adjacency, labels=["b", "a"]).labels.tolist() == [1, 0]
    with pytest.raises(fp.InvalidInputError, match="expected a label from 0 for every node, got none"):
        from_scipy(adjacency)
    with pytest.raises(fp.InvalidInputError, match="labels of type object"):
        from_scipy(adjacency, labels=["b", None])
