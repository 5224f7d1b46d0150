"""Whether a model keeps the edges of the graph that was observed, which noise then cannot reach."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from flipproof.base.values import IntArray
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.torch_modules import checked_uncached, is_module, torch
from flipproof.noise.laws import as_given, sampler_of
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.graph import STRUCTURE, Graph
from flipproof.noise.spaces.graphs import Graphs
from flipproof.theory.base_law import Law

_FEW_GRAPHS = 4
_DEEPEST = 3
"""How deep containers in an attribute of a module are searched: a list of pairs of tensors has depth 2."""


def clean_graphs(space: Graph | Graphs, noise: Law) -> Any:
    """The graph, or a few of the graphs, as models get them without noise."""
    sampler = sampler_of(space, noise.without_noise(), 0)
    return as_given(sampler, sampler.draw(Role.ESTIMATE, range(1), np.arange(min(_FEW_GRAPHS, sampler.rows))))


def check_keeps_no_edges(model: Any, call: Any, labels_of: Callable[[Any], Any], space: Any, noise: Law) -> None:
    """Refuses a model with the edges of an observed graph in it: it may answer for that graph whatever noise does.

    Its votes would agree on every label, and certificates from them would be false. The edges may be in a cache that an
    earlier call has filled, or be part of the model on purpose. What a model only notes of its last input is harmless.

    Args:
        model: a module, or a function that may use modules.
        call: a function of the user that calls the model, or None.
        labels_of: asks the model about graphs as samplers draw them.
        space: the data; only graphs whose edges get noise are looked at.
        noise: the law of the noise.
    """
    if not isinstance(space, Graph | Graphs) or STRUCTURE not in getattr(noise, "parts", space.parts):
        return
    clean, many = clean_graphs(space, noise), isinstance(space, Graphs)
    observed = [clean, next(clean.cut(1))] if many else [clean[0]]
    modules = [*_modules_in(model), *_modules_in(call)]
    for graph in observed if modules else ():
        with contextlib.suppress(Exception):  # votes will report it
            labels_of(graph if many else [graph])
    for module, graph in itertools.product(modules, observed):
        checked_uncached(module)
        place = _place_of(graph, module)
        if place is None:
            continue
        with contextlib.suppress(Exception):  # what cannot answer to fewer edges keeps those that it has
            fewer = _with_fewer_edges(graph)
            labels_of(fewer if many else [fewer])
        if _place_of(graph, module) is not None:
            raise InvalidInputError(
                f"expected a model that looks at the noisy copy alone, got {type(module).__name__} with the edges of "
                f"the observed graph in {place}, which noise does not reach; let it use the edges that it is called "
                "with, and keep nothing from call to call"
            )


def _modules_in(model: Any) -> list[Any]:
    """The torch modules that a model is, or that a function of the user mentions."""
    if is_module(model):
        return [model]
    if isinstance(model, functools.partial):
        return [part for each in (model.func, *model.args, *model.keywords.values()) for part in _modules_in(each)]
    if inspect.ismethod(model):
        return [*_modules_in(model.__self__), *_modules_in(model.__func__)]
    if not inspect.isfunction(model):
        return [each for each in getattr(model, "__dict__", {}).values() if is_module(each)]
    try:
        known = inspect.getclosurevars(model)
    except ValueError:  # a name that has no value yet
        return []
    return [each for names in (known.nonlocals, known.globals) for each in names.values() if is_module(each)]


def _with_fewer_edges(graph: Any) -> Any:
    """The graph without the edges of one node."""
    edges = graph.edge_index
    kept = (edges != edges[0, 0]).all(axis=0)
    features = None if graph.edge_features is None else graph.edge_features[kept]
    return replace(graph, edge_index=edges[:, kept], edge_features=features)


def _place_of(graph: Any, module: Any) -> str | None:
    """The name of an attribute of a module, or of a part of it, that holds the edges of a graph, if there are any."""
    edges = _codes(graph.edge_index, graph.nodes)
    for part in module.modules() if edges.size else ():
        for name, value in [*vars(part).items(), *part.named_buffers(recurse=False)]:
            if name in ("_parameters", "_buffers", "_modules"):
                continue
            if any(np.array_equal(_codes(kept, graph.nodes), edges) for kept in _indices_in(value, graph.nodes)):
                return f"{type(part).__name__}.{name}"
    return None


def _codes(edge_index: IntArray, nodes: int) -> IntArray:
    """One number for every pair of different nodes with an edge, in whichever direction, in ascending order."""
    low, high = np.sort(edge_index.astype(np.int64), axis=0)
    return np.unique((low * nodes + high)[low != high])


def _indices_in(value: Any, nodes: int, depth: int = 0) -> Iterator[IntArray]:
    """Whatever in a value may be the edges of a graph: indices [2, edges], and adjacency matrices."""
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided:
            value = value.to_sparse(layout=torch.sparse_coo).coalesce().indices()
        elif value.shape == (nodes, nodes):
            value = value.nonzero().T
        if value.ndim == 2 and value.shape[0] == 2 and not value.is_floating_point():
            index = value.cpu().numpy()
            if index.size and index.min() >= 0 and index.max() < nodes:
                yield index
        return
    if hasattr(value, "edge_index"):  # a whole `Data`
        yield from _indices_in(value.edge_index, nodes, depth + 1)
    if isinstance(value, dict | list | tuple) and depth < _DEEPEST:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _indices_in(each, nodes, depth + 1)
