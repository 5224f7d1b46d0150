"""Which space the user's data is."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.graphs import Graphs
from flipproof.noise.spaces.pyg import check_homogeneous
from flipproof.noise.spaces.rows import DenseRows, SparseRows
from flipproof.noise.spaces.space import Space


def space_of(inputs: Any) -> Space:
    """The space of some data: a space itself, an array or tensor, a sparse matrix, a networkx or PyG graph, or graphs.

    Example:
        >>> space_of([[0, 1], [1, 1]]).parts
        ('values',)
    """
    if isinstance(inputs, Space):
        return inputs
    if sp.issparse(inputs):
        return SparseRows(inputs)
    for graph in inputs[:1] if isinstance(inputs, list | tuple) else (inputs,):
        check_homogeneous(graph)
    if hasattr(inputs, "to_data_list"):  # a PyG Batch: graphs without edges between them, which noise must not add
        return Graphs.from_pyg(inputs.to_data_list())
    if hasattr(inputs, "edge_index"):
        # A PyG dataset has an edge_index too, that of all its graphs together, but no num_nodes.
        return Graph.from_pyg(inputs) if hasattr(inputs, "num_nodes") else Graphs.from_pyg(inputs)
    if hasattr(inputs, "is_directed") and hasattr(inputs, "edges"):
        return Graph.from_networkx(inputs)
    if hasattr(inputs, "columns") and hasattr(inputs, "iloc"):
        raise InvalidInputError("expected an array, a sparse matrix or a space, got a data frame; see flipproof.Table")
    if isinstance(inputs, list | tuple) and inputs:
        if all(isinstance(item, Graph) for item in inputs):
            return Graphs(tuple(inputs))
        if all(hasattr(item, "edge_index") for item in inputs):
            return Graphs.from_pyg(inputs)
    return DenseRows(inputs)
