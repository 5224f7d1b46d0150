"""Citation graphs in npz files, as the paper uses them: undirected, largest component, binary attributes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import numpy as np

from flipproof.datasets.node_dataset import NodeDataset
from flipproof.datasets.sparse_arrays import read_csr
from flipproof.smoothing.array_archive import read_array


def read_sparse_graph(contents: Mapping[str, bytes], name: str) -> NodeDataset:
    """A file as written by the authors of the paper, of whose arrays those that are objects are left alone."""
    with zipfile.ZipFile(io.BytesIO(contents[f"{name}.npz"])) as archive:
        words = read_array(archive, "class_names")
        class_names = tuple(word.rpartition("/")[2] for word in words.tolist())
        return _standardised(archive, name, ("adj_matrix.", "attr_matrix."), class_names)


def read_planetoid(contents: Mapping[str, bytes], name: str) -> NodeDataset:
    """A Planetoid graph whose pickles were turned into plain arrays."""
    with zipfile.ZipFile(io.BytesIO(contents[f"{name}.npz"])) as archive:
        return _standardised(archive, name, ("adj_", "attr_"), ())


def _standardised(
    archive: zipfile.ZipFile, name: str, prefixes: tuple[str, str], class_names: tuple[str, ...]
) -> NodeDataset:
    adjacency, attributes = (read_csr(archive, prefix) for prefix in prefixes)
    pattern = (adjacency != 0).astype(np.float32)
    labels = read_array(archive, "labels")
    return NodeDataset(name, pattern, attributes, labels, class_names, directed=True).standardised()
