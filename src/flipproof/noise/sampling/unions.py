"""The compiled loop that puts many small graphs side by side: from the ranks of their edges to one edge index."""

from __future__ import annotations

from typing import Any

import numpy as np

from flipproof.base.compiled import compiled
from flipproof.base.values import IntArray
from flipproof.noise.spaces.pieces import Pieces


def union_index(ranks: Pieces, loops: Pieces, offsets: IntArray, directed: bool) -> IntArray:
    """The edge index of graphs side by side, that of each as in `Edges.index`. Ranks must be in order.

    Graph i has the nodes from `offsets[i]` to `offsets[i + 1]`, and edges and self-loops as its pieces say.
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
        own = all_ranks[rank_starts[i] : rank_starts[i + 1]]
        reverse, u, first, stop = at + own.size, 0, 0, others  # pairs (u, ...) have the ranks from first to stop
        for k in range(own.size):
            while own[k] >= stop:
                u += 1
                first = stop
                stop += others if directed else others - u
            v = own[k] - first
            v += v >= u if directed else u + 1
            heads[at + k], tails[at + k] = offset + u, offset + v
            if not directed:
                heads[reverse + k], tails[reverse + k] = offset + v, offset + u
        at = reverse if directed else reverse + own.size
        for k in range(loop_starts[i], loop_starts[i + 1]):
            heads[at] = tails[at] = offset + all_loops[k]
            at += 1
