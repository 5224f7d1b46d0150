"""The file format of `NodeDataset`: a zip of arrays that numpy can open and a JSON description, without pickles."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from flipproof.datasets.kinds.labels import read_split, split_arrays
from flipproof.datasets.readers.sparse_arrays import read_csr
from flipproof.errors import one_line
from flipproof.files.archive import reading_archive, write_archive
from flipproof.files.strict_json import FileKind

if TYPE_CHECKING:
    from flipproof.datasets.kinds.node_dataset import NodeDataset

NODES_FILE = FileKind(
    "dataset", "flipproof-nodes", 2, "; fp.datasets.from_scipy takes matrices from elsewhere", also=(1,)
)


def write_nodes(data: NodeDataset, path: str | os.PathLike[str]) -> None:
    """Writes the graph to a file; a partial file never appears."""
    attributes = data.attributes
    kind = None if attributes is None else "sparse" if sp.issparse(attributes) else "dense"
    description = {
        "name": one_line(str(data.name)),
        "class_names": data.class_names,
        "directed": data.directed,
        "attributes": kind,
        "split": data.split is not None,
    }
    arrays = {"labels": data.labels} | split_arrays(data.split) | _csr_arrays("adjacency", data.adjacency)
    if kind is not None:
        arrays |= _csr_arrays("attributes", attributes) if kind == "sparse" else {"attributes": attributes}
    write_archive(path, NODES_FILE, description, arrays)


def read_nodes(path: str | os.PathLike[str], dataset: type[NodeDataset]) -> NodeDataset:
    """Reads and checks a file written by `write_nodes`; `dataset` is the class of the result."""
    with reading_archive(path, NODES_FILE) as file:
        description, attributes = file.description, None
        if description["attributes"] is not None:
            sparse = description["attributes"] == "sparse"
            attributes = read_csr(file.zip, "attributes_") if sparse else file.array("attributes")
        return dataset(
            name=str(description["name"]),
            adjacency=read_csr(file.zip, "adjacency_"),
            attributes=attributes,
            labels=file.array("labels"),
            class_names=tuple(description["class_names"]),
            directed=bool(description["directed"]),
            split=read_split(file),
        )


def _csr_arrays(name: str, matrix: Any) -> dict[str, Any]:
    shape = np.array(matrix.shape, dtype=np.int64)
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": shape}
    return {f"{name}_{part}": array for part, array in parts.items()}
