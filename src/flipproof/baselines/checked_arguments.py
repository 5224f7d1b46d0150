"""Checks the arguments of certificates for networks in one place: graph, nodes, radii and budgets."""

from __future__ import annotations

from typing import Any

import numpy as np

from flipproof.base.values import IntArray, as_array, checked_count
from flipproof.datasets import NodeDataset
from flipproof.errors import InvalidInputError
from flipproof.extras import require
from flipproof.models.adapters.node_classifier import NodeClassifier
from flipproof.models.fused.nodes import as_shipped
from flipproof.noise.spaces.graph import Graph, checked_graph
from flipproof.theory.radii import UNBOUNDED

NO_LIMIT = 2**62
"""A local budget too large to be spent; the sum of two such budgets fits an int64."""


def graph_of(data: Any, noisy: str) -> Graph:
    """Returns a graph with attributes: the given one, or a dataset's, whose "attributes" or "structure" are noisy."""
    given = data.graph(noisy) if isinstance(data, NodeDataset) else data
    graph = checked_graph(given, expected="a NodeDataset or a Graph")
    if graph.attributes is None:
        raise InvalidInputError("expected a graph with attributes, got none")
    return graph


def check_width(attributes: Any, weights: Any) -> None:
    """Raises unless a network with first weights [features, hidden] accepts these attributes [nodes, features]."""
    if attributes.shape[1] != len(weights):
        raise InvalidInputError(f"expected {len(weights)} attributes of a node, got {attributes.shape[1]}")


def checked_nodes(given: Any, nodes: int) -> IntArray:
    """Returns the given node numbers; None stands for all nodes.

    Example:
        >>> checked_nodes([2, 0], nodes=3), checked_nodes(None, nodes=3)
        (array([2, 0]), array([0, 1, 2]))
    """
    which = np.arange(nodes) if given is None else as_array(given, "nodes")
    if which.ndim != 1 or (which.size and which.dtype.kind not in "iu"):
        raise InvalidInputError(f"expected nodes to be a list of integers, got {which.dtype} of shape {which.shape}")
    if which.size and (which.min() < 0 or which.max() >= nodes):
        wrong = which.min() if which.min() < 0 else which.max()
        raise InvalidInputError(f"expected nodes from 0 to {nodes - 1}, got {wrong}")
    return which.astype(np.int64)


def checked_radii(given: Any, name: str) -> tuple[int, ...]:
    """Returns the requested radii in increasing order without duplicates, starting with radius 0.

    Example:
        >>> checked_radii([3, 1, 3], "budgets")
        (0, 1, 3)
    """
    try:
        listed = list(given.tolist() if hasattr(given, "tolist") else given)
    except (TypeError, OverflowError):
        raise InvalidInputError(f"expected {name} to be a list of non-negative integers, got {given!r}") from None
    radii = sorted({0, *(checked_count(each, f"each of the {name}") for each in listed)})
    if radii[-1] > UNBOUNDED:
        raise InvalidInputError(f"expected {name} below 2**63, got {radii[-1]}")
    return tuple(radii)


def checked_local(given: Any) -> IntArray:
    """Returns one budget for every node, or a budget per node; None means no limit.

    Example:
        >>> checked_local(2), checked_local([0, 3])
        (array(2), array([0, 3]))
    """
    local = as_array(NO_LIMIT if given is None else given, "local")
    if local.ndim > 1 or local.dtype.kind not in "iu" or (local.size and local.min() < 0):
        raise InvalidInputError(f"expected local to be one non-negative integer, or one per node, got {given!r}")
    return np.asarray(np.minimum(local, NO_LIMIT), dtype=np.int64)  # a uint64 number may not fit


def local_of_each(local: IntArray, nodes: int) -> IntArray:
    """Returns one local budget per node."""
    if local.ndim == 1 and local.size != nodes:
        raise InvalidInputError(f"expected one local budget or one for each of {nodes} nodes, got {local.size}")
    return np.broadcast_to(local, nodes)


def checked_gcn(model: Any) -> Any:
    """Returns the given `GCN`, or a classifier's, and refuses it if more than its weights was changed."""
    from flipproof.models.networks.node_modules import GCN  # needs torch, which is optional

    torch = require("torch")
    module = model.module if isinstance(model, NodeClassifier) else model
    if type(module) is not GCN or not as_shipped(module):
        raise InvalidInputError(
            f"expected a flipproof.GCN, or a NodeClassifier of one, with no part replaced or hooked, got "
            f"{type(module).__name__}"
        )
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if parameter.dtype != torch.float32 or not bool(parameter.isfinite().all()):
                raise InvalidInputError(f"expected finite weights of float32, got others in {name}")
    return module
