"""Your own graphs as datasets: from PyTorch Geometric, networkx, or sparse matrices. Inputs are never changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from flipproof.base.values import as_array
from flipproof.datasets.kinds.labels import numbered, plain_array, split_of_pyg
from flipproof.datasets.kinds.node_dataset import NodeDataset
from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.edges import Edges
from flipproof.noise.spaces.graph import index_of_networkx, merges_duplicates
from flipproof.noise.spaces.pyg import index_of_pyg
from flipproof.run_folder.split import Split


def from_scipy(
    adjacency: Any,
    attributes: Any = None,
    labels: Any = None,
    name: str = "graph",
    directed: bool = False,
    split: Split | None = None,
) -> NodeDataset:
    """A dataset from a square sparse matrix of zeros and ones, one row of attributes and one label per node.

    Labels are numbers from 0, or words, which are numbered in sorted order. A `split` says which nodes are for
    training, validation and testing; see `Split.from_masks`.

    Example:
        >>> pair = sp.csr_array([[0, 1], [1, 0]])
        >>> from_scipy(pair, [[1, 0], [1, 1]], ["cat", "ant"]).class_names
        ('ant', 'cat')
    """
    numbers, class_names = numbered(labels)
    return NodeDataset(name, adjacency, attributes, numbers, class_names, directed, split)


def from_pyg(data: Any, name: str = "graph", directed: bool = False, duplicates: str = "refuse") -> NodeDataset:
    """A dataset from a PyTorch Geometric `Data`: its `edge_index` and `y`, and `x` and masks if it has them.

    `train_mask` and `test_mask` (and `val_mask`) become the dataset's split, which runs then use.

    Args:
        data: one graph with a label per node.
        name: the name of the dataset.
        directed: whether (u, v) and (v, u) are different edges; if not, both must be present.
        duplicates: "refuse" or "merge" edges that appear more than once.

    Example:
        >>> from types import SimpleNamespace
        >>> data = SimpleNamespace(edge_index=[[0, 1], [1, 0]], num_nodes=3, y=[0, 0, 1], x=None)
        >>> from_pyg(data).edges
        1
    """
    adjacency = _adjacency(*index_of_pyg(data), directed, duplicates)
    return from_scipy(adjacency, getattr(data, "x", None), getattr(data, "y", None), name, directed, split_of_pyg(data))


def from_networkx(
    graph: Any, attributes: Any = None, labels: Any = None, name: str = "graph", duplicates: str = "refuse"
) -> NodeDataset:
    """A dataset from a networkx graph, directed if the graph is; edge data is dropped.

    Args:
        graph: nodes are numbered in the order of `graph.nodes`.
        attributes: the name of a node attribute that holds a number or a list of numbers; or one row per node.
        labels: the name of a node attribute; or one label per node. Words are numbered in sorted order.
        name: the name of the dataset.
        duplicates: "refuse" or "merge" parallel edges of a multigraph.

    Example:
        >>> import networkx as nx
        >>> data = from_networkx(nx.karate_club_graph(), labels="club")
        >>> data.nodes, data.edges, data.class_names
        (34, 78, ('Mr. Hi', 'Officer'))
    """
    index, directed = index_of_networkx(graph)
    if isinstance(attributes, str):
        rows = plain_array(_node_values(graph, attributes))
        attributes = rows.reshape(-1, 1) if rows.ndim == 1 else rows
    if isinstance(labels, str):
        labels = _node_values(graph, labels)
    return from_scipy(_adjacency(index, len(graph), directed, duplicates), attributes, labels, name, directed)


def _adjacency(edge_index: Any, nodes: int, directed: bool, duplicates: str) -> Any:
    Edges.from_index(edge_index, nodes, directed=directed, merge_duplicates=merges_duplicates(duplicates))
    heads, tails = as_array(edge_index, "edge_index").reshape(2, -1).astype(np.int64)
    codes = np.unique(heads * nodes + tails)
    return sp.csr_array((np.ones(codes.size, np.float32), (codes // nodes, codes % nodes)), shape=(nodes, nodes))


def _node_values(graph: Any, attribute: str) -> list[Any]:
    for node, carried in graph.nodes(data=True):
        if carried.get(attribute) is None:
            raise InvalidInputError(f"expected every node to have {attribute!r}, got node {node!r} without")
    return [carried[attribute] for _, carried in graph.nodes(data=True)]
