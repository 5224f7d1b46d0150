"""Which space graphs become that are given as they are: of PyTorch Geometric or networkx, one or many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.graph import STRUCTURE, Graph
from flipproof.noise.spaces.graphs import Graphs
from flipproof.noise.spaces.networkx_graphs import names_of_graphs
from flipproof.noise.spaces.pyg import check_homogeneous
from flipproof.theory.law import JointNoise, Law


def space_of_graphs(inputs: Any, law: Law | None = None) -> Graph | Graphs | None:
    """The space of one or more graphs; None for anything else.

    Attributes that no noise can change, such as real numbers, are left alone if the law is about the edges alone.

    Example:
        >>> import networkx as nx
        >>> space_of_graphs(nx.path_graph(3)).edges.count
        2
    """
    make = _maker(inputs)
    if make is None:
        return None
    try:
        return make({})
    except InvalidInputError:
        if not (isinstance(law, JointNoise) and list(law.parts) == [STRUCTURE]):
            raise
        return make({"noisy": STRUCTURE})


def _maker(inputs: Any) -> Callable[[dict[str, Any]], Graph | Graphs] | None:
    """What makes the space, with options; None if these are no graphs."""
    for graph in inputs[:1] if isinstance(inputs, list | tuple) else (inputs,):
        check_homogeneous(graph)
    if hasattr(inputs, "to_data_list"):  # a PyG Batch: noise must not add edges between its graphs
        return lambda options: Graphs.from_pyg(inputs.to_data_list(), **options)
    if hasattr(inputs, "edge_index"):
        # A PyG dataset also has an edge_index, for all its graphs together, but no num_nodes.
        if hasattr(inputs, "num_nodes"):
            return lambda options: Graph.from_pyg(inputs, **options)
        return lambda options: Graphs.from_pyg(inputs, **options)
    if _is_networkx(inputs):
        return lambda options: Graph.from_networkx(inputs, **options)
    if isinstance(inputs, list | tuple) and inputs:
        if all(isinstance(item, Graph) for item in inputs):
            return lambda options: Graphs(tuple(inputs))
        if all(hasattr(item, "edge_index") for item in inputs):
            return lambda options: Graphs.from_pyg(inputs, **options)
        if all(map(_is_networkx, inputs)):
            names = names_of_graphs(inputs)
            return lambda options: Graphs(tuple(Graph.from_networkx(item, **options) for item in inputs), names)
    return None


def _is_networkx(item: Any) -> bool:
    return hasattr(item, "is_directed") and hasattr(item, "edges")
