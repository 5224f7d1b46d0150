"""The compiled loop between ranks and pairs of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from flipproof.base.compiled import compiled


@compiled
def pairs_of_ranks(rank: Any, nodes: Any, directed: bool, heads: Any, tails: Any) -> None:
    """The node pair of each rank: ordered pairs row by row without the diagonal, or only those with head < tail."""
    for i in range(rank.size):
        r = rank[i]
        if directed:
            u = r // (nodes - 1)
            v = r - u * (nodes - 1)
            v += v >= u
        else:
            # Row u starts at u (2 nodes - u - 1) / 2; the float root may be off by a few rows, integers put it right.
            half = nodes - 0.5
            u = np.int64(half - np.sqrt(max(0.0, half * half - 2.0 * r)))
            while (u * (2 * nodes - u - 1)) >> 1 > r:
                u -= 1
            while ((u + 1) * (2 * nodes - u - 2)) >> 1 <= r:
                u += 1
            v = r - ((u * (2 * nodes - u - 1)) >> 1) + u + 1
        heads[i] = u
        tails[i] = v
