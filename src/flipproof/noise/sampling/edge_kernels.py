"""The compiled loops that turn ranks of edges into an edge index, for one graph or for many small graphs in one."""

from __future__ import annotations

from typing import Any

import numpy as np

from flipproof.base.compiled import compiled
from flipproof.base.values import IntArray
from flipproof.noise.spaces.pieces import Pieces


@compiled
def pairs_of_ranks(rank: Any, nodes: Any, directed: bool, heads: Any, tails: Any) -> None:
    """Writes the node pair of each rank: ordered pairs row by row without the diagonal, or pairs with head < tail."""
    for i in range(rank.size):
        r = rank[i]
        if directed:
            u = r // (nodes - 1)
            v = r - u * (nodes - 1)
            v += v >= u
        else:
            # Row u starts at u (2 nodes - u - 1) / 2; the float root may be off by a few rows, so integers correct it.
            half = nodes - 0.5
            u = np.int64(half - np.sqrt(max(0.0, half * half - 2.0 * r)))
            while (u * (2 * nodes - u - 1)) >> 1 > r:
                u -= 1
            while ((u + 1) * (2 * nodes - u - 2)) >> 1 <= r:
                u += 1
            v = r - ((u * (2 * nodes - u - 1)) >> 1) + u + 1
        heads[i] = u
        tails[i] = v


def union_index(ranks: Pieces, loops: Pieces, offsets: IntArray, directed: bool) -> IntArray:
    """The edge index of the disjoint union of graphs; each part equals `Edges.index`. Ranks must be in order.

    Graph i has the nodes `offsets[i]` to `offsets[i + 1] - 1`, and the edges and self-loops of piece i.
    """
    count = (1 if directed else 2) * ranks.values.size + loops.values.size
    out = np.empty((2, count), dtype=np.int64)
    _write_union(out[0], out[1], ranks, loops, offsets, directed)
    return out


@compiled
def _write_union(heads: Any, tails: Any, ranks: Any, loops: Any, offsets: Any, directed: Any) -> None:
    rank_starts, all_ranks, loop_starts, all_loops = ranks.starts, ranks.values, loops.starts, loops.values
    at: Any = 0
    for i in range(offsets.size - 1):
        offset, others = offsets[i], offsets[i + 1] - offsets[i] - 1
        pairs = all_ranks[rank_starts[i] : rank_starts[i + 1]]
        reverse, u, first, stop = at + pairs.size, 0, 0, others  # pairs (u, ...) have the ranks first to stop - 1
        for k in range(pairs.size):
            while pairs[k] >= stop:
                u += 1
                first = stop
                stop += others if directed else others - u
            v = pairs[k] - first
            v += v >= u if directed else u + 1
            heads[at + k], tails[at + k] = offset + u, offset + v
            if not directed:
                heads[reverse + k], tails[reverse + k] = offset + v, offset + u
        at = reverse if directed else reverse + pairs.size
        for k in range(loop_starts[i], loop_starts[i + 1]):
            heads[at] = tails[at] = offset + all_loops[k]
            at += 1
