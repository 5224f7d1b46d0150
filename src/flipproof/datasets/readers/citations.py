"""Citation graphs as the paper uses them: undirected, largest component, binary attributes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from flipproof.datasets.kinds.node_dataset import NodeDataset
from flipproof.datasets.readers.inert_pickle import read_inert
from flipproof.datasets.readers.sparse_arrays import read_csr
from flipproof.errors import FileFormatError
from flipproof.files.archive import read_array


def read_sparse_graph(contents: Mapping[str, bytes], name: str) -> NodeDataset:
    """Reads a file as written by the authors of the paper; arrays of Python objects are never opened."""
    with zipfile.ZipFile(io.BytesIO(contents[f"{name}.npz"])) as archive:
        words = read_array(archive, "class_names")
        class_names = tuple(word.rpartition("/")[2] for word in words.tolist())
        return _standardised(archive, name, ("adj_matrix.", "attr_matrix."), class_names)


def read_planetoid(contents: Mapping[str, bytes], name: str) -> NodeDataset:
    """Reads a Planetoid graph as published: test nodes come last, in the order of their index."""
    attributes, test_attributes, one_hot, test_one_hot, neighbours = (
        read_inert(contents[f"ind.{name}.{part}"]) for part in ("allx", "tx", "ally", "ty", "graph")
    )
    test = np.array(contents[f"ind.{name}.test.index"].split(), dtype=np.int64)
    nodes = one_hot.shape[0] + test.size
    if not np.array_equal(np.sort(test), np.arange(one_hot.shape[0], nodes)):
        raise FileFormatError(f"expected the last {test.size} of {nodes} nodes of {name} to be for tests, got others")
    order = np.argsort(test)
    pairs = np.array(sorted({(node, other) for node, others in neighbours.items() for other in others}))
    return NodeDataset(
        name,
        sp.coo_array((np.ones(len(pairs), dtype=np.float32), tuple(pairs.T)), shape=(nodes, nodes)),
        sp.vstack([attributes, test_attributes[order]]),
        np.concatenate([one_hot, test_one_hot[order]]).argmax(axis=1),
        directed=True,
    ).standardised()


def read_planetoid_arrays(contents: Mapping[str, bytes], name: str) -> NodeDataset:
    """Reads a Planetoid graph whose pickles were converted to plain arrays."""
    with zipfile.ZipFile(io.BytesIO(contents[f"{name}.npz"])) as archive:
        return _standardised(archive, name, ("adj_", "attr_"), ())


def _standardised(
    archive: zipfile.ZipFile, name: str, prefixes: tuple[str, str], class_names: tuple[str, ...]
) -> NodeDataset:
    adjacency, attributes = (read_csr(archive, prefix) for prefix in prefixes)
    pattern = (adjacency != 0).astype(np.float32)
    labels = read_array(archive, "labels")
    return NodeDataset(name, pattern, attributes, labels, class_names, directed=True).standardised()
