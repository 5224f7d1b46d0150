"""Checks of PyTorch Geometric graphs: data that noisy copies could not carry is refused, not dropped."""

from __future__ import annotations

from typing import Any

from flipproof.base.values import checked_count
from flipproof.errors import InvalidInputError

_OF_EDGES = ("edge_attr", "edge_weight", "edge_type")


def index_of_pyg(data: Any) -> tuple[Any, int]:
    """The edge index of a PyTorch Geometric `Data`, and its number of nodes."""
    check_homogeneous(data)
    if getattr(data, "edge_index", None) is None:
        raise InvalidInputError(f"expected a graph with an edge_index, got {type(data).__name__} without")
    if getattr(data, "num_nodes", None) is None:
        raise InvalidInputError("expected a graph that knows its num_nodes, got one that does not")
    for name in _OF_EDGES:
        if getattr(data, name, None) is not None:
            raise InvalidInputError(
                f"expected edges that carry nothing, got {name}: noise draws edges anew, and what an observed edge "
                f"carries would tell the model that it is real; set data.{name} = None if the model does without it"
            )
    return data.edge_index, checked_count(data.num_nodes, "num_nodes")


def check_homogeneous(data: Any) -> None:
    """Refuses a heterogeneous graph, whose kinds of nodes or edges have separate attributes and edge indices."""
    if hasattr(data, "node_types") and hasattr(data, "edge_types"):
        raise InvalidInputError(
            f"expected a graph with one kind of nodes and edges, got {type(data).__name__}; if the model takes such a "
            "graph, give data.to_homogeneous(add_edge_type=False)"
        )
