"""A random walk on a graph, some of whose edges an attacker may switch: the subject of PageRank certificates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from flipproof.base.values import FloatArray, IntArray, as_array, checked_count, read_only, read_only_csr
from flipproof.baselines.checked_arguments import checked_local, local_of_each
from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.rows import binary_csr


@dataclass(frozen=True, slots=True, eq=False)
class Threat:
    """The changes that an attacker may make to the edges of a graph.

    Attributes:
        fragile: integers [2, edges]: the attacker may switch (i, j), which removes an existing edge or adds a missing
            one, independently of (j, i).
        local: how many fragile edges (i, .) of each node i may switch; one number, one per node, or None for all.
        total: how many edges may be switched in total; None leaves only the local budgets.

    Example:
        >>> Threat([[0, 1], [1, 0]], local=1).total is None
        True
    """

    fragile: IntArray
    local: Any
    total: int | None = None

    def __post_init__(self) -> None:
        fragile = as_array(self.fragile, "fragile")
        if fragile.size == 0:
            fragile = np.zeros((2, 0), dtype=np.int64)
        if fragile.ndim != 2 or fragile.shape[0] != 2 or fragile.dtype.kind not in "iu":
            raise InvalidInputError(
                f"expected fragile to be integers of shape [2, edges], got {fragile.dtype} of shape {fragile.shape}"
            )
        if self.total is not None:
            checked_count(self.total, "total")
        object.__setattr__(self, "fragile", read_only(fragile.astype(np.int64)))
        object.__setattr__(self, "local", read_only(checked_local(self.local)))


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """A random walk on a graph some of whose edges are fragile. Make one with `under`.

    Attributes:
        clean: the adjacency matrix; row i holds the edges that the walk may take from node i.
        pattern: the adjacency matrix with explicit zeros for the edges that may be added.
        places: the positions of the fragile edges in the pattern, in order of `heads`.
        heads: the node from which each fragile edge leads.
        tails: the node to which it leads.
        signs: 1.0 if switching adds the edge, -1.0 if it removes it.
        budget: how many fragile edges of each node may be switched.
        damping: the probability a with which the walk goes on.
        degree: how many edges each node has.
        fewest: the smallest number of edges that each node can be left with.
    """

    clean: Any
    pattern: Any
    places: IntArray
    heads: IntArray
    tails: IntArray
    signs: FloatArray
    budget: IntArray
    damping: float
    degree: FloatArray = field(init=False)
    fewest: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        degree = np.diff(self.clean.indptr).astype(np.float64)
        removable = np.bincount(self.heads[self.signs < 0], minlength=degree.size)
        stuck = np.flatnonzero(degree == removable)
        if stuck.size:
            raise InvalidInputError(
                f"expected every node to have an edge that is not fragile, got none at node {stuck[0]}; leave one out "
                "of the fragile ones, or add a self-loop"
            )
        object.__setattr__(self, "degree", read_only(degree))
        object.__setattr__(self, "fewest", read_only(degree - np.minimum(removable, self.budget)))

    @classmethod
    def under(cls, threat: Threat, adjacency: Any, damping: float) -> Walk:
        """The walk on a graph under a threat."""
        starts, columns = square_csr(adjacency)
        nodes = starts.size - 1
        there = np.repeat(np.arange(nodes), np.diff(starts)) * nodes + columns
        fragile = _codes(threat.fragile, nodes)
        every = np.union1d(there, fragile)
        present = np.isin(every, there).astype(np.float64)
        pattern = sp.csr_array(
            (present, every % max(1, nodes), np.searchsorted(every, np.arange(nodes + 1) * nodes)), shape=(nodes, nodes)
        )
        places = np.searchsorted(every, fragile)
        return cls(
            clean=read_only_csr(sp.csr_array((np.ones(columns.size), columns, starts), shape=(nodes, nodes))),
            pattern=read_only_csr(pattern),
            places=read_only(places),
            heads=read_only(fragile // max(1, nodes)),
            tails=read_only(fragile % max(1, nodes)),
            signs=read_only(1.0 - 2.0 * present[places]),
            budget=read_only(local_of_each(threat.local, nodes)),
            damping=damping,
        )

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return int(self.degree.size)


def square_csr(adjacency: Any) -> tuple[IntArray, IntArray]:
    """Row starts and columns of an adjacency matrix of zeros and ones."""
    starts, columns = binary_csr(adjacency, "the adjacency matrix")
    if adjacency.shape[0] != adjacency.shape[1]:
        raise InvalidInputError(f"expected a square adjacency matrix, got shape {adjacency.shape}")
    return starts, columns.astype(np.int64)


def _codes(fragile: IntArray, nodes: int) -> IntArray:
    if fragile.size and (fragile.min() < 0 or fragile.max() >= nodes):
        wrong = fragile.min() if fragile.min() < 0 else fragile.max()
        raise InvalidInputError(f"expected fragile edges between nodes 0 to {nodes - 1}, got node {wrong}")
    codes = np.unique(fragile[0] * nodes + fragile[1])
    if codes.size < fragile.shape[1]:
        raise InvalidInputError(
            f"expected every fragile edge once, got {fragile.shape[1] - codes.size} of them more than once"
        )
    return codes


def all_edges(adjacency: Any) -> IntArray:
    """All edges [2, edges] but self-loops: a fragile set for models whose nodes always keep their self-loop.

    Example:
        >>> all_edges(sp.csr_array([[1, 1], [1, 1]]))
        array([[0, 1],
               [1, 0]])
    """
    starts, columns = square_csr(adjacency)
    heads = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    return np.stack([heads, columns])[:, heads != columns]


def outside_forest(adjacency: Any) -> IntArray:
    """Both directions [2, edges] of the edges of an undirected graph outside a spanning forest.

    This is the usual fragile set for deletions, since no node can lose all its edges. The forest is found breadth first
    from the first node of every component; self-loops are left out.

    Example:
        >>> triangle = sp.csr_array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
        >>> outside_forest(triangle)
        array([[1, 2],
               [2, 1]])
    """
    starts, columns = square_csr(adjacency)
    nodes = starts.size - 1
    heads = np.repeat(np.arange(nodes), np.diff(starts))
    one_way = np.setdiff1d(heads * nodes + columns, columns * nodes + heads).size
    if one_way:
        raise InvalidInputError(
            f"expected an undirected graph, got {one_way} edges without the reverse; say which are fragile"
        )
    _, first = np.unique(connected_components(adjacency, directed=False)[1], return_index=True)
    root = np.full(first.size, nodes)  # one more node, from which every component is reached
    every = np.concatenate([heads, root]), np.concatenate([columns, first])
    joined = sp.csr_array((np.ones(every[0].size), every), shape=(nodes + 1, nodes + 1))
    parent = breadth_first_order(joined, nodes, directed=False)[1]
    kept = (parent[columns] != heads) & (parent[heads] != columns) & (heads != columns)
    return np.stack([heads[kept], columns[kept]])
