"""Edges as entries: every pair of different nodes is an entry, numbered row by row; self-loops are not entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flipproof.base.short_repr import amount, short_repr
from flipproof.base.values import IntArray, as_array, checked_flag, read_only
from flipproof.errors import InvalidInputError, TooLargeError

MOST_NODES = 2**30


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """The structure of a graph: sorted ranks of its edges among all pairs, and its self-loops, which never change.

    An undirected pair is ranked once, as (smaller, larger).

    Example:
        >>> edges = Edges.from_index([[0, 1, 1, 2], [1, 0, 2, 1]], nodes=4, directed=False, merge_duplicates=False)
        >>> edges.count, edges.pairs, edges.index()
        (2, 6, array([[0, 1, 1, 2],
               [1, 2, 0, 1]]))
    """

    nodes: int
    ranks: IntArray
    loops: IntArray
    directed: bool

    def __repr__(self) -> str:
        return short_repr(
            self, amount(self.nodes, "node"), amount(self.count, "edge"), "directed" if self.directed else ""
        )

    @classmethod
    def from_index(cls, edge_index: Any, nodes: int, *, directed: bool, merge_duplicates: bool) -> Edges:
        """Edges from two rows of node numbers; an undirected edge must appear in both directions."""
        directed = checked_flag(directed, "directed")
        heads, tails = _checked_index(edge_index, nodes)
        codes = heads * nodes + tails
        distinct = np.unique(codes)
        if distinct.size < codes.size and not merge_duplicates:
            raise InvalidInputError(
                f"expected every edge once, got {codes.size - distinct.size} duplicates; "
                "give duplicates='merge' to count them as one"
            )
        heads, tails = distinct // max(1, nodes), distinct % max(1, nodes)
        loops = heads[heads == tails]
        if not directed:
            one_way = np.setdiff1d(distinct, tails * nodes + heads)
            if one_way.size:
                raise InvalidInputError(
                    f"expected an undirected graph to have every edge in both directions, got {one_way.size} without "
                    "the reverse; give directed=True, or add them (torch_geometric.utils.to_undirected, A.maximum(A.T))"
                )
        kept = heads != tails if directed else heads < tails
        ranks = _ranks(heads[kept], tails[kept], nodes, directed)
        return cls(nodes, read_only(ranks), read_only(loops), directed)

    @property
    def pairs(self) -> int:
        """The number of entries."""
        ordered = self.nodes * (self.nodes - 1)
        return ordered if self.directed else ordered // 2

    @property
    def count(self) -> int:
        """The number of entries that are one, which is the number of edges without self-loops."""
        return int(self.ranks.size)

    def index(self, ranks: IntArray | None = None) -> IntArray:
        """The edge index of the given ranks, with both directions of undirected edges, followed by the self-loops.

        Ranks must be sorted, as samplers draw them, so that the same edges give the same index.
        """
        from flipproof.noise.sampling.edge_kernels import pairs_of_ranks  # loads numba

        ranks = self.ranks if ranks is None else ranks
        count, loops = ranks.size, self.loops.size
        both = np.empty((2, (count if self.directed else 2 * count) + loops), dtype=np.int64)
        pairs_of_ranks(ranks, self.nodes, self.directed, both[0], both[1])
        if not self.directed:
            both[0, count : 2 * count] = both[1, :count]
            both[1, count : 2 * count] = both[0, :count]
        both[:, both.shape[1] - loops :] = self.loops
        return both

    def within(self, nodes: IntArray) -> tuple[Edges, IntArray]:
        """The edges among some nodes (sorted), renumbered in order, and the previous numbers of these edges."""
        pairs = self.index()[:, : self.count]
        new = np.full(self.nodes, -1, dtype=np.int64)
        new[nodes] = np.arange(nodes.size)
        heads, tails = new[pairs]
        numbers = np.flatnonzero((heads >= 0) & (tails >= 0))
        ranks = _ranks(heads[numbers], tails[numbers], nodes.size, self.directed)
        loops = new[self.loops]
        return Edges(nodes.size, read_only(ranks), read_only(loops[loops >= 0]), self.directed), numbers

    def ball(self, centres: IntArray, hops: int) -> IntArray:
        """The sorted nodes from which a message reaches the centres in at most `hops` steps."""
        heads, tails = self.index()
        inside = np.zeros(self.nodes, dtype=bool)
        inside[centres] = True
        for _ in range(hops):
            before = int(inside.sum())
            inside[np.concatenate([heads[inside[tails]], tails[inside[heads]]])] = True
            if int(inside.sum()) == before:
                break
        return np.flatnonzero(inside)


def _checked_index(edge_index: Any, nodes: int) -> tuple[IntArray, IntArray]:
    index = as_array(edge_index, "edge_index")
    if index.size == 0:
        index = np.zeros((2, 0), dtype=np.int64)
    if index.ndim != 2 or index.shape[0] != 2 or index.dtype.kind not in "iu":
        raise InvalidInputError(
            f"expected edge_index to be integers of shape [2, edges], got {index.dtype} of shape {index.shape}"
        )
    if nodes > MOST_NODES:
        raise TooLargeError(f"expected at most {MOST_NODES} nodes, got {nodes}")
    if index.size and (index.min() < 0 or index.max() >= nodes):
        wrong = index.min() if index.min() < 0 else index.max()
        raise InvalidInputError(f"expected edges between nodes 0 to {nodes - 1}, got node {wrong}")
    heads, tails = index.astype(np.int64)
    return heads, tails


def _ranks(heads: IntArray, tails: IntArray, nodes: int, directed: bool) -> IntArray:
    """The place of each pair among all pairs; pairs sorted by (head, tail) have sorted ranks."""
    if directed:
        return heads * (nodes - 1) + tails - (tails > heads)
    return heads * (2 * nodes - heads - 1) // 2 + tails - heads - 1
