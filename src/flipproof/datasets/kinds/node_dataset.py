"""One graph with attributes and labels of its nodes, as files and users provide it, before any noise."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipproof.base.short_repr import amount, shape_words, short_repr
from flipproof.base.values import IntArray, as_array, checked_flag, read_only, read_only_csr
from flipproof.datasets.kinds.labels import checked_labels, checked_names, checked_split, read_split, split_arrays
from flipproof.datasets.readers.sparse_arrays import read_csr
from flipproof.errors import InvalidInputError, one_line
from flipproof.files.archive import reading_archive, write_archive
from flipproof.files.strict_json import FileKind
from flipproof.noise.spaces.graph import Graph, adjacency_csr
from flipproof.run_folder.split import Split

NODES_FILE = FileKind(
    "dataset", "flipproof-nodes", 2, "; fp.datasets.from_scipy takes matrices from elsewhere", also=(1,)
)


@dataclass(frozen=True, slots=True, eq=False)
class NodeDataset:
    """A graph whose nodes have labels and optional attributes.

    Attributes:
        name: the name of the dataset.
        adjacency: csr_array [nodes, nodes] of float32 zeros and ones; symmetric unless `directed`.
        attributes: zeros and ones become a csr_array of float32, whatever their type; other sparse attributes stay
            sparse, and other dense attributes are an array. None if there are no attributes.
        labels: int64 [nodes], from 0.
        class_names: one name per class; by default the numbers.
        directed: whether (u, v) and (v, u) are different entries.
        split: the nodes for training, validation and testing, if the data define a split; runs then use it.

    Example:
        >>> data = NodeDataset("path", sp.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), None, [0, 1, 1])
        >>> data.nodes, data.edges, data.features, data.classes
        (3, 2, 0, 2)
    """

    name: str
    adjacency: Any
    attributes: Any
    labels: IntArray
    class_names: tuple[str, ...] = ()
    directed: bool = False
    split: Split | None = None

    def __post_init__(self) -> None:
        adjacency = _checked_adjacency(self.adjacency, checked_flag(self.directed, "directed"))
        labels = checked_labels(self.labels, adjacency.shape[0], "node")
        object.__setattr__(self, "adjacency", adjacency)
        object.__setattr__(self, "attributes", _checked_attributes(self.attributes, adjacency.shape[0]))
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "class_names", checked_names(self.class_names, labels))
        checked_split(self.split, labels.size, "node")

    def __repr__(self) -> str:
        return short_repr(
            self,
            repr(self.name),
            amount(self.nodes, "node"),
            amount(self.edges, "edge"),
            f"attributes {shape_words(self.attributes)}",
            amount(self.classes, "class"),
        )

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return int(self.adjacency.shape[0])

    @property
    def edges(self) -> int:
        """The number of joined pairs of different nodes; ordered pairs if directed."""
        entries = int(self.adjacency.nnz - np.count_nonzero(self.adjacency.diagonal()))
        return entries if self.directed else entries // 2

    @property
    def features(self) -> int:
        """The number of attributes of a node."""
        return 0 if self.attributes is None else int(self.attributes.shape[1])

    @property
    def classes(self) -> int:
        """The number of classes, including classes without nodes."""
        return len(self.class_names)

    def graph(self, noisy: str) -> Graph:
        """The graph as `vote` takes it, with noise on "structure", "attributes" or "both"."""
        return Graph.from_scipy(self.adjacency, self.attributes, noisy=noisy, directed=self.directed)

    def standardised(self) -> NodeDataset:
        """The largest component of the undirected graph, without self-loops and with binarised attributes.

        Sec. 7 of the paper. Nonzero attributes become one. Among equally large components, the one with the first node
        is kept; nodes keep their order.

        Example:
            >>> one_way = sp.csr_array([[1, 0, 0], [0, 0, 1], [0, 0, 0]])
            >>> data = NodeDataset("pair", one_way, [[0.0], [0.3], [0.0]], [0, 0, 1], directed=True).standardised()
            >>> data.adjacency.toarray().tolist(), data.attributes.toarray().tolist(), data.labels.tolist()
            ([[0.0, 1.0], [1.0, 0.0]], [[1.0], [0.0]], [0, 1])
        """
        from scipy.sparse.csgraph import connected_components

        both = self.adjacency.maximum(self.adjacency.T).tocoo()
        heads, tails = both.coords
        kept = heads != tails
        pairs = sp.csr_array((both.data[kept], (heads[kept], tails[kept])), shape=both.shape)
        component = connected_components(pairs, directed=False)[1]
        nodes = np.flatnonzero(component == np.bincount(component).argmax()) if component.size else component
        attributes = None
        if self.attributes is not None:
            attributes = (sp.csr_array(self.attributes[nodes]) != 0).astype(np.float32)
        split = None if self.split is None else self.split.among(nodes)
        kept = pairs[nodes][:, nodes]
        return NodeDataset(self.name, kept, attributes, self.labels[nodes], self.class_names, split=split)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the dataset, without pickles, to a file that `load` reads; a partial file never appears."""
        attributes = self.attributes
        kind = None if attributes is None else "sparse" if sp.issparse(attributes) else "dense"
        description = {
            "name": one_line(str(self.name)),
            "class_names": self.class_names,
            "directed": self.directed,
            "attributes": kind,
            "split": self.split is not None,
        }
        arrays = {"labels": self.labels} | split_arrays(self.split) | _csr_arrays("adjacency", self.adjacency)
        if kind is not None:
            arrays |= _csr_arrays("attributes", attributes) if kind == "sparse" else {"attributes": attributes}
        write_archive(path, NODES_FILE, description, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> NodeDataset:
        """Reads a file written by `save`."""
        with reading_archive(path, NODES_FILE) as file:
            description, attributes = file.description, None
            if description["attributes"] is not None:
                sparse = description["attributes"] == "sparse"
                attributes = read_csr(file.zip, "attributes_") if sparse else file.array("attributes")
            return cls(
                name=str(description["name"]),
                adjacency=read_csr(file.zip, "adjacency_"),
                attributes=attributes,
                labels=file.array("labels"),
                class_names=tuple(description["class_names"]),
                directed=bool(description["directed"]),
                split=read_split(file),
            )


def _checked_adjacency(given: Any, directed: bool) -> Any:
    starts, columns = adjacency_csr(given)
    ones = np.ones(columns.size, dtype=np.float32)
    adjacency = sp.csr_array((ones, columns, starts), shape=given.shape)
    one_way = 0 if directed else (adjacency > adjacency.T).nnz
    if one_way:
        raise InvalidInputError(
            f"expected an undirected graph to have every edge in both directions, got {one_way} without the reverse; "
            "give directed=True, or add them (torch_geometric.utils.to_undirected, A.maximum(A.T))"
        )
    return _compact(adjacency)


def _checked_attributes(given: Any, nodes: int) -> Any:
    if given is None:
        return None
    attributes = _without_duplicates(given) if sp.issparse(given) else as_array(given, "attributes")
    if attributes.ndim != 2 or attributes.shape[0] != nodes:
        raise InvalidInputError(f"expected attributes of shape [{nodes} nodes, ...], got shape {attributes.shape}")
    values: Any = attributes.data if sp.issparse(attributes) else attributes
    if values.dtype.kind not in "biuf":
        raise InvalidInputError(f"expected attributes to be numbers, got {values.dtype}")
    if not np.isfinite(values).all():
        raise InvalidInputError(f"expected finite attributes, got {values[~np.isfinite(values)].flat[0]}")
    if ((values == 0) | (values == 1)).all():
        return _compact(sp.csr_array(attributes, dtype=np.float32))
    return _compact(attributes) if sp.issparse(attributes) else read_only(attributes)


def _compact(matrix: Any) -> Any:
    """A read-only copy of a sparse matrix, with 32-bit indices where they suffice."""
    index = np.int32 if max(*matrix.shape, matrix.nnz) < 2**31 else np.int64
    arrays = (matrix.data, matrix.indices.astype(index), matrix.indptr.astype(index))
    return read_only_csr(sp.csr_array(arrays, shape=matrix.shape))


def _without_duplicates(given: Any) -> Any:
    matrix = sp.csr_array(given, copy=True)
    stored = given.nnz if given.format == "coo" else matrix.nnz  # converting a COO matrix sums its duplicates
    matrix.sum_duplicates()
    if matrix.nnz < stored:
        raise InvalidInputError(f"expected every attribute once, got {stored - matrix.nnz} duplicates")
    matrix.eliminate_zeros()
    return matrix


def _csr_arrays(name: str, matrix: Any) -> dict[str, Any]:
    shape = np.array(matrix.shape, dtype=np.int64)
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": shape}
    return {f"{name}_{part}": array for part, array in parts.items()}
