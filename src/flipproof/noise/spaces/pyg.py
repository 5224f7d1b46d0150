"""Graphs of PyTorch Geometric: their edges, and what these carry."""

from __future__ import annotations

from typing import Any

from flipproof.base.values import checked_count
from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.edge_features import NAMES


def edges_of_pyg(data: Any) -> tuple[Any, int]:
    """The edge index of a PyTorch Geometric `Data`, and its number of nodes."""
    check_homogeneous(data)
    if getattr(data, "edge_index", None) is None:
        hint = (
            "; leave out ToSparseTensor: models that take adj_t get it"
            if getattr(data, "adj_t", None) is not None
            else ""
        )
        raise InvalidInputError(f"expected a graph with an edge_index, got {type(data).__name__} without{hint}")
    if getattr(data, "num_nodes", None) is None:
        raise InvalidInputError("expected a graph that knows its num_nodes, got one that does not")
    return data.edge_index, checked_count(data.num_nodes, "num_nodes")


def carried_in_pyg(data: Any) -> dict[str, Any]:
    """What the edges of a PyTorch Geometric `Data` carry, by name."""
    return {name: getattr(data, name) for name in NAMES if getattr(data, name, None) is not None}


def features_of_pyg(data: Any, given: Any) -> Any:
    """The features of the edges of a `Data`: what they carry, unless the user gives something else, or False."""
    if given is False:
        return None
    carried = carried_in_pyg(data)
    if given is None and len(carried) > 1:
        raise InvalidInputError(
            f"expected edges that carry one thing, got {' and '.join(carried)}: set one of them to None"
        )
    if given is None or not callable(given) or not carried:
        return (carried or None) if given is None else given
    return {next(iter(carried)): given}


def index_of_pyg(data: Any) -> tuple[Any, int]:
    """The edge index and the number of nodes, for a dataset, which has no place for what edges carry."""
    edges = edges_of_pyg(data)
    for name in carried_in_pyg(data):
        raise InvalidInputError(
            f"expected edges that carry nothing, got {name}: a dataset has no place for it; set data.{name} = None if "
            "the model does without it, else give vote the graph itself, Graph.from_pyg(data)"
        )
    return edges


def check_homogeneous(data: Any) -> None:
    """Refuses a heterogeneous graph, whose kinds of nodes or edges have separate attributes and edge indices."""
    if hasattr(data, "node_types") and hasattr(data, "edge_types"):
        raise InvalidInputError(
            f"expected a graph with one kind of nodes and edges, got {type(data).__name__}; if the model takes such a "
            "graph, give data.to_homogeneous(add_edge_type=False)"
        )
