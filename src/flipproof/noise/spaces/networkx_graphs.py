"""Graphs of networkx: their edges, and what these carry."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from flipproof.base.values import IntArray, as_array
from flipproof.errors import FlipproofWarning, InvalidInputError
from flipproof.noise.spaces.edge_features import EDGE_ATTR, EDGE_WEIGHT


def index_of_networkx(graph: Any) -> tuple[IntArray, bool]:
    """The edge index of a networkx graph, both directions of an undirected edge, and whether it is directed."""
    if not all(callable(getattr(graph, name, None)) for name in ("edges", "is_directed")):
        raise InvalidInputError(f"expected a networkx graph, got {type(graph).__name__}")
    number = {node: i for i, node in enumerate(graph.nodes)}
    pairs = [(number[u], number[v]) for u, v in graph.edges()]
    index = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    directed = bool(graph.is_directed())
    if not directed:
        index = np.concatenate([index, index[::-1, index[0] != index[1]]], axis=1)
    return index, directed


def names_of_networkx(graph: Any) -> tuple[str, ...] | None:
    """The names of the nodes, unless they are their numbers."""
    names = tuple(map(str, graph.nodes))
    return None if names == tuple(map(str, range(len(names)))) else names


def names_of_graphs(graphs: Sequence[Any]) -> tuple[str, ...] | None:
    """The names of the graphs, if any of them has one; a graph without a name goes by its number."""
    names = tuple(str(getattr(graph, "name", "") or "") for graph in graphs)
    return tuple(name or str(i) for i, name in enumerate(names)) if any(names) else None


def features_of_networkx(graph: Any, given: Any) -> Any:
    """The features of the edges of a networkx graph, in the order of `index_of_networkx`."""
    if given is None:
        names = sorted({str(name) for *_, carried in graph.edges(data=True) for name in carried})
        if names:
            warnings.warn(
                f"the edges of the networkx graph carry {', '.join(names)}, which no model gets: keep it by "
                f"Graph.from_networkx(graph, edge_features={names[0]!r}), or leave it out by edge_features=False",
                FlipproofWarning,
                stacklevel=3,
            )
    if not isinstance(given, str):
        return given
    carried = [data.get(given) for *_, data in graph.edges(data=True)]
    if any(each is None for each in carried):
        edge = next(pair for pair, each in zip(graph.edges(), carried, strict=True) if each is None)
        raise InvalidInputError(f"expected every edge to carry {given!r}, got {edge!r} without")
    values = as_array(np.asarray(carried), f"what edges carry as {given!r}")
    if not graph.is_directed():
        loops = np.array([u == v for u, v in graph.edges()], dtype=bool)
        values = np.concatenate([values, values[~loops]])
    return {EDGE_WEIGHT if given == "weight" else EDGE_ATTR: values}
