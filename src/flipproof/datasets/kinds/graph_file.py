"""The file format of `GraphDataset`: the nodes and edges of all graphs in sequence, and where each graph begins."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flipproof.datasets.kinds.labels import read_split, split_arrays
from flipproof.errors import FileFormatError, one_line
from flipproof.files.archive import reading_archive, write_archive
from flipproof.files.strict_json import FileKind

if TYPE_CHECKING:
    from flipproof.datasets.kinds.graph_dataset import GraphDataset

GRAPHS_FILE = FileKind("dataset", "flipproof-graphs", 2, "; fp.datasets.GraphDataset(...).save writes one", also=(1,))


def write_graphs(data: GraphDataset, path: str | os.PathLike[str]) -> None:
    """Writes the graphs to a file; a partial file never appears."""
    description = {
        "name": one_line(str(data.name)),
        "class_names": data.class_names,
        "node_names": data.node_names,
        "split": data.split is not None,
    }
    arrays = split_arrays(data.split) | {
        "labels": data.labels,
        "node_labels": np.concatenate([np.zeros(0, np.int64), *data.node_labels]),
        "node_starts": _starts([kinds.size for kinds in data.node_labels]),
        "edge_index": np.concatenate([np.zeros((2, 0), np.int64), *data.edge_indices], axis=1),
        "edge_starts": _starts([index.shape[1] for index in data.edge_indices]),
    }
    write_archive(path, GRAPHS_FILE, description, arrays)


def read_graphs(path: str | os.PathLike[str], dataset: type[GraphDataset]) -> GraphDataset:
    """Reads and checks a file written by `write_graphs`; `dataset` is the class of the result."""
    with reading_archive(path, GRAPHS_FILE) as file:
        return dataset(
            name=str(file.description["name"]),
            edge_indices=_cut(file.array("edge_index"), file.array("edge_starts"), "edge", 2),
            node_labels=_cut(file.array("node_labels"), file.array("node_starts"), "node", 1),
            labels=file.array("labels"),
            class_names=tuple(file.description["class_names"]),
            node_names=tuple(file.description["node_names"]),
            split=read_split(file),
        )


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
