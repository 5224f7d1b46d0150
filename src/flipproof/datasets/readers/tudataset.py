"""The text files of the TUDataset collection: one line per edge, node or graph, numbered from 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from flipproof.base.values import IntArray
from flipproof.datasets.fetching.data_file import Member
from flipproof.datasets.kinds.graph_dataset import GraphDataset
from flipproof.errors import FileFormatError


@dataclass(frozen=True, slots=True)
class TUDataset:
    """A reader for one dataset of the collection, from its zip file.

    Attributes:
        name: the name as the collection spells it.
        classes: the labels of graphs in the file, in our order, and their meanings.
        node_names: the meanings of the labels of nodes, from 0.
        members: the texts `A`, `graph_indicator`, `graph_labels` and `node_labels`, in this order.
    """

    name: str
    classes: Mapping[int, str]
    node_names: tuple[str, ...]
    members: tuple[Member, ...]

    def read(self, contents: Mapping[str, bytes]) -> GraphDataset:
        """Splits the one big graph of the files into the graphs of the collection."""
        archive = contents[f"{self.name}.zip"]
        pairs, graph_of_node, labels, kinds = (_integers(member.read(archive)) for member in self.members)
        return split_graphs(
            self.name.lower(),
            pairs.reshape(-1, 2).T - 1,
            graph_of_node - 1,
            np.searchsorted(sorted(self.classes), labels),
            kinds,
            tuple(self.classes[label] for label in sorted(self.classes)),
            self.node_names,
        )


def split_graphs(
    name: str,
    pairs: IntArray,
    graph_of_node: IntArray,
    labels: IntArray,
    kinds: IntArray,
    class_names: tuple[str, ...],
    node_names: tuple[str, ...],
) -> GraphDataset:
    """Splits one big graph into the graphs it consists of. The nodes of each graph must be numbered consecutively.

    Example:
        >>> pairs = np.array([[0, 1, 2, 3], [1, 0, 3, 2]])
        >>> data = split_graphs("two", pairs, np.array([0, 0, 1, 1]), np.array([0, 1]), np.array([0, 0, 0, 1]), (), ())
        >>> [index.tolist() for index in data.edge_indices]
        [[[0, 1], [1, 0]], [[0, 1], [1, 0]]]
    """
    graphs = labels.size
    starts = np.searchsorted(graph_of_node, np.arange(graphs + 1))
    if (np.diff(graph_of_node) < 0).any() or graph_of_node.min(initial=0) < 0 or starts[-1] != graph_of_node.size:
        raise FileFormatError(f"expected the nodes of {name} in the order of its {graphs} graphs, got another order")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= graph_of_node.size):
        raise FileFormatError(f"expected edges between nodes 1 to {graph_of_node.size}, got another node in {name}")
    graph_of_edge = graph_of_node[pairs[0]]
    if (graph_of_edge != graph_of_node[pairs[1]]).any():
        raise FileFormatError(f"expected edges within graphs, got one between two graphs of {name}")
    order = np.argsort(graph_of_edge, kind="stable")
    cuts = np.searchsorted(graph_of_edge[order], np.arange(graphs + 1))
    return GraphDataset(
        name,
        tuple(pairs[:, order[cuts[i] : cuts[i + 1]]] - starts[i] for i in range(graphs)),
        tuple(kinds[starts[i] : starts[i + 1]] for i in range(graphs)),
        labels,
        class_names,
        node_names,
    )


def _integers(text: bytes) -> IntArray:
    """All whole numbers in a text, whatever separates them."""
    return np.array(text.replace(b",", b" ").split(), dtype=np.int64)
