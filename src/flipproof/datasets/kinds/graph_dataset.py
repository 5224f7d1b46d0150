"""Many small graphs with one label each, such as molecules: the data of graph classification."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flipproof.base.short_repr import amount, short_repr
from flipproof.base.values import IntArray, as_array, checked_index, checked_items, checked_rows, chosen, read_only
from flipproof.datasets.kinds.labels import checked_labels, checked_names, checked_split, read_split, split_arrays
from flipproof.errors import FileFormatError, InvalidInputError, one_line
from flipproof.files.archive import reading_archive, write_archive
from flipproof.files.strict_json import FileKind
from flipproof.noise.spaces.edges import Edges
from flipproof.noise.spaces.graph import STRUCTURE, Graph
from flipproof.noise.spaces.graphs import Graphs, naming_graph
from flipproof.noise.spaces.rows import DenseRows
from flipproof.run_folder.split import Split

GRAPHS_FILE = FileKind("dataset", "flipproof-graphs", 2, "; fp.datasets.GraphDataset(...).save writes one", also=(1,))


class Kinds(StrEnum):
    """How the kinds of nodes become attributes."""

    ONE_HOT = "one-hot"
    CATEGORY = "category"

    @classmethod
    def named(cls, name: str) -> Kinds:
        """The reading with this name."""
        return chosen(cls, name, "kinds")


@dataclass(frozen=True, slots=True, eq=False)
class GraphDataset:
    """Undirected graphs whose nodes are of a few kinds.

    Attributes:
        name: the name of the dataset.
        edge_indices: per graph, integers [2, edges] with every edge in both directions.
        node_labels: per graph, the kind of each node, from 0.
        labels: int64 [graphs], from 0.
        class_names: one name per class; by default the numbers.
        node_names: one name per kind of node; by default the numbers.
        split: the graphs for training, validation and testing, if the data define a split; runs then use it.

    Example:
        >>> data = GraphDataset("two", ([[0, 1], [1, 0]], [[], []]), ([0, 1], [1]), [0, 1])
        >>> len(data), data.nodes, data.edges, data.features
        (2, 3, 1, 2)
    """

    name: str
    edge_indices: tuple[IntArray, ...] = field(repr=False)
    node_labels: tuple[IntArray, ...] = field(repr=False)
    labels: IntArray
    class_names: tuple[str, ...] = ()
    node_names: tuple[str, ...] = ()
    split: Split | None = None

    def __post_init__(self) -> None:
        edge_indices = checked_items(self.edge_indices, "edge_indices", "edges, one per graph")
        node_labels = checked_items(self.node_labels, "node_labels", "kinds of nodes, one per graph")
        if len(edge_indices) != len(node_labels):
            raise InvalidInputError(
                f"expected edges and node labels of equally many graphs, got {len(edge_indices)} and {len(node_labels)}"
            )
        kinds = tuple(itertools.starmap(_checked_kinds, enumerate(node_labels)))
        edges = tuple(map(_checked_edges, itertools.count(), edge_indices, kinds))
        labels = checked_labels(self.labels, len(edges), "graph")
        every_kind = np.concatenate([np.zeros(0, np.int64), *kinds])
        object.__setattr__(self, "edge_indices", edges)
        object.__setattr__(self, "node_labels", kinds)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "class_names", checked_names(self.class_names, labels))
        object.__setattr__(self, "node_names", checked_names(self.node_names, every_kind))
        checked_split(self.split, labels.size, "graph")

    def __repr__(self) -> str:
        return short_repr(self, repr(self.name), amount(len(self.labels), "graph"), amount(self.classes, "class"))

    def __len__(self) -> int:
        return len(self.edge_indices)

    @property
    def nodes(self) -> int:
        """The number of nodes of all graphs together."""
        return sum(kinds.size for kinds in self.node_labels)

    @property
    def edges(self) -> int:
        """The number of undirected edges of all graphs together, without self-loops."""
        return sum(int(np.count_nonzero(index[0] < index[1])) for index in self.edge_indices)

    @property
    def features(self) -> int:
        """The number of kinds of nodes, which is the number of columns of the one-hot attributes."""
        return len(self.node_names)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.class_names)

    def graph(self, i: int, noisy: str = STRUCTURE, kinds: str = Kinds.ONE_HOT) -> Graph:
        """The i-th graph with its kinds of nodes as attributes and noise on the parts in `noisy`; see `graphs`."""
        i = checked_index(i, len(self), "i")
        numbers = self.node_labels[i]
        attributes: Any
        if Kinds.named(kinds) is Kinds.CATEGORY:
            attributes = DenseRows(numbers[:, None])
        else:
            starts = np.arange(numbers.size + 1)
            shape = numbers.size, self.features
            attributes = sp.csr_array((np.ones(numbers.size, np.float32), numbers, starts), shape=shape)
        return Graph.from_edge_index(self.edge_indices[i], numbers.size, attributes, noisy=noisy)

    def graphs(self, noisy: str = STRUCTURE, which: Iterable[int] | None = None, kinds: str = Kinds.ONE_HOT) -> Graphs:
        """All graphs, or some of them, as `vote` takes them.

        Args:
            noisy: "structure", "attributes" or "both": the parts that get noise.
            which: the numbers of the graphs; all by default.
            kinds: how kinds of nodes become attributes. "one-hot" gives each kind a column of zeros and ones, so that
                turning one kind into another takes two flips. "category" gives each node one number, so that it takes
                one change; the noise is then `FlipNoise(..., categories=features)`, and a model receives one-hot
                columns through `GraphClassifier(one_hot=...)`.
        """
        numbers = range(len(self)) if which is None else checked_rows(which, len(self), "which").tolist()
        return Graphs(tuple(self.graph(i, noisy, kinds) for i in numbers))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the dataset, without pickles, to a file that `load` reads; a partial file never appears."""
        description = {
            "name": one_line(str(self.name)),
            "class_names": self.class_names,
            "node_names": self.node_names,
            "split": self.split is not None,
        }
        arrays = split_arrays(self.split) | {
            "labels": self.labels,
            "node_labels": np.concatenate([np.zeros(0, np.int64), *self.node_labels]),
            "node_starts": _starts([kinds.size for kinds in self.node_labels]),
            "edge_index": np.concatenate([np.zeros((2, 0), np.int64), *self.edge_indices], axis=1),
            "edge_starts": _starts([index.shape[1] for index in self.edge_indices]),
        }
        write_archive(path, GRAPHS_FILE, description, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GraphDataset:
        """Reads a file written by `save`."""
        with reading_archive(path, GRAPHS_FILE) as file:
            return cls(
                name=str(file.description["name"]),
                edge_indices=_cut(file.array("edge_index"), file.array("edge_starts"), "edge", 2),
                node_labels=_cut(file.array("node_labels"), file.array("node_starts"), "node", 1),
                labels=file.array("labels"),
                class_names=tuple(file.description["class_names"]),
                node_names=tuple(file.description["node_names"]),
                split=read_split(file),
            )


def _checked_kinds(number: int, given: Any) -> IntArray:
    if np.size(given) == 0:
        raise InvalidInputError(f"expected graphs with nodes, got graph {number} with none")
    with naming_graph(number):
        return checked_labels(given, np.size(given), "node")


def _checked_edges(number: int, given: Any, kinds: IntArray) -> IntArray:
    with naming_graph(number):
        index = as_array(given, "edge_index")
        Edges.from_index(index, kinds.size, directed=False, merge_duplicates=False)
    checked: IntArray = read_only(index.astype(np.int64).reshape(2, -1))
    return checked


def _starts(sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *sizes], dtype=np.int64)


def _cut(whole: NDArray[Any], starts: NDArray[Any], what: str, dimensions: int) -> tuple[NDArray[Any], ...]:
    """The pieces of an array along its last axis, one per graph."""
    if starts.ndim != 1 or starts.dtype.kind not in "iu" or whole.ndim != dimensions:
        raise FileFormatError(f"its {what}s are arrays of the wrong types")
    total = whole.shape[-1]
    if not starts.size or starts[0] != 0 or starts[-1] != total or (starts[1:] < starts[:-1]).any():
        raise FileFormatError(f"its {what}_starts do not fit its {total} {what}s")
    places = starts.astype(np.int64).tolist()
    return tuple(whole[..., start:end] for start, end in itertools.pairwise(places))
