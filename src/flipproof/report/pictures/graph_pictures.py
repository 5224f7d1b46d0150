"""Graphs as arrays for a page: the neighbourhoods of nodes; small graphs with a noisy copy that was voted on."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flipproof.base.values import IntArray
from flipproof.noise.spaces.graph import ATTRIBUTES, STRUCTURE, Graph, plain_attributes
from flipproof.noise.spaces.graphs import Graphs
from flipproof.noise.spaces.rows import DenseRows
from flipproof.noise.spaces.space import noise_of_parts
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.pictures.pictures import (
    COPIES,
    Pictures,
    Pixels,
    dense,
    first_texts,
    levels,
    packed,
    pictures_of,
    pixels_of,
)

_MOST_EDGES = 200_000
_MOST_ADDED = 400_000
_MOST_ADDED_TO_ONE = 2_000
"""A noisy copy with more added edges than this is no picture."""
_NAME_BYTES = 100_000


@pictures_of.register
def _(graph: Graph, certified: CertifiedInputs) -> Pictures:
    return {"graph": neighbourhoods(graph) if certified.in_order else None}


@pictures_of.register
def _(graphs: Graphs, certified: CertifiedInputs) -> Pictures:
    return {"graphs": small_graphs(certified, graphs, certified.described.node_names)}


def neighbourhoods(graph: Graph) -> dict[str, Any] | None:
    """The neighbours of each node, in either direction; None if the graph has too many edges for a page."""
    if graph.edges.count > _MOST_EDGES:
        return None
    heads, tails = graph.edges.index()
    both = np.unique(np.concatenate([heads * graph.nodes + tails, tails * graph.nodes + heads]))
    heads, tails = both // graph.nodes, both % graph.nodes
    heads, tails = heads[heads != tails], tails[heads != tails]
    return {
        "starts": packed(np.searchsorted(heads, np.arange(graph.nodes + 1)), "u4"),
        "neighbours": packed(tails, "u4"),
    }


@pixels_of.register
def _(graph: Graph, certified: CertifiedInputs) -> Pixels | None:
    """The attributes of nodes, which are drawn with their graph."""
    if not certified.in_order:
        return None
    rows = dense(plain_attributes(graph.attributes))
    if graph.noisy == STRUCTURE:
        return Pixels(rows, 2, None)

    def copies(count: int) -> tuple[list[int], NDArray[Any]]:
        samples = certified.voted_samples[:COPIES]
        graphs = certified.drawn(graph, samples, np.zeros(1, dtype=np.int64)) if samples else []
        noisy = [dense(copy.attributes)[:count] for copy in graphs]
        return list(samples), np.array(noisy) if noisy else np.zeros((0, count, rows.shape[1]), dtype=np.uint8)

    return Pixels(rows, levels(certified, rows, ATTRIBUTES), copies)


def small_graphs(
    certified: CertifiedInputs, graphs: Graphs, node_names: tuple[str, ...] | None = None
) -> dict[str, Any]:
    """The first graphs, as many as fit in a page: all their edges in a row, and the kinds of their nodes."""
    count = _count_of_graphs(graphs)
    offsets = graphs.offsets[: count + 1]
    indices = [_each_edge_once(graph.edges.index(), graph.edges.directed) for graph in graphs.graphs[:count]]
    kinds = _kinds(graphs.attributes, int(offsets[-1]))
    known = kinds is not None and bool((kinds >= 0).all())
    starts = np.cumsum([0, *(index.shape[1] for index in indices)])
    edges = np.concatenate([np.zeros((2, 0), dtype=np.int64), *indices], axis=1)
    return {
        "starts": packed(starts, "u4"),
        "nodes": packed(np.diff(offsets), "u4"),
        "edges": packed(edges, "u4"),
        "kinds": packed(kinds, "i4") if kinds is not None and known else None,
        "names": first_texts(node_names or (), _NAME_BYTES),
        "noisy": graphs.graphs[0].noisy,
        "copy": _noisy_copy(certified, graphs, edges + np.repeat(offsets[:-1], np.diff(starts)), count, known),
    }


def _count_of_graphs(graphs: Graphs) -> int:
    sizes = np.array([graph.nodes + graph.edges.count for graph in graphs.graphs])
    return int((np.cumsum(sizes) <= _MOST_EDGES).sum())


def _each_edge_once(index: IntArray, directed: bool) -> IntArray:
    return index if directed else index[:, index[0] <= index[1]]


@singledispatch
def _kinds(attributes: Any, nodes: int) -> IntArray | None:
    """The kind of each of the first nodes, -1 if it has none or several; None if attributes are no kinds."""
    plain = plain_attributes(attributes)
    return None if plain is None else _only_one(plain[:nodes])


@_kinds.register
def _(attributes: DenseRows, nodes: int) -> IntArray:
    plain = attributes.values[:nodes]
    return np.asarray(plain[:, 0], dtype=np.int64) if plain.shape[1] == 1 else _only_one(plain)


def _only_one(plain: Any) -> IntArray:
    """The column of the only one in each row; -1 for rows with any other content."""
    ones = sp.csr_array(plain)
    ones.eliminate_zeros()
    single = np.flatnonzero(np.diff(ones.indptr) == 1)
    places = ones.indptr[single]
    kinds = np.full(ones.shape[0], -1, dtype=np.int64)
    kinds[single] = np.where(ones.data[places] == 1, ones.indices[places], -1)
    return kinds


def _noisy_copy(
    certified: CertifiedInputs, graphs: Graphs, edges: IntArray, count: int, has_kinds: bool
) -> dict[str, Any] | None:
    """A noisy copy of each graph that is small enough. `edges` has those of all graphs, with nodes counted across."""
    rows, samples = _drawable(certified, graphs, count), certified.voted_samples[:1]
    if not samples or not rows.size:
        return None
    union = certified.drawn(graphs, samples, rows)
    offsets, every = graphs.offsets[: count + 1], int(graphs.offsets[count])
    nodes = np.concatenate([np.arange(offsets[row], offsets[row + 1]) for row in rows])
    noisy = nodes[_each_edge_once(union.edge_index, graphs.graphs[0].edges.directed)]
    before, after = (pair[0] * every + pair[1] for pair in (edges, noisy))
    added = np.setdiff1d(after, before)
    owner = np.searchsorted(offsets, added // max(1, every), side="right") - 1
    chosen = np.isin(np.arange(count), rows)
    return {
        "number": samples[0],
        "drawn": packed(chosen, "u1"),
        "kept": packed(np.isin(before, after), "u1"),
        "starts": packed(np.searchsorted(owner, np.arange(count + 1)), "u4"),
        "added": packed(np.stack([added // max(1, every), added % max(1, every)]) - offsets[owner], "u4"),
        "kinds": _noisy_kinds(union.attributes, nodes, every) if has_kinds else None,
    }


def _drawable(certified: CertifiedInputs, graphs: Graphs, count: int) -> IntArray:
    """The graphs whose noisy copies are small enough to look at."""
    noise = noise_of_parts(certified.noise, graphs.parts).get(STRUCTURE)
    pairs = np.array([graph.edges.pairs for graph in graphs.graphs[:count]], dtype=np.float64)
    added = pairs * (0.0 if noise is None else noise.p_plus)
    small = added <= _MOST_ADDED_TO_ONE
    return np.flatnonzero(small & (np.cumsum(np.where(small, added, 0.0)) <= _MOST_ADDED))


def _noisy_kinds(attributes: Any, nodes: IntArray, every: int) -> dict[str, Any]:
    kinds: NDArray[Any] = np.full(every, -1, dtype=np.int64)
    dense_kinds = not sp.issparse(attributes) and attributes.shape[1] == 1
    kinds[nodes] = np.asarray(attributes)[:, 0] if dense_kinds else _only_one(attributes)
    return packed(kinds, "i4")
