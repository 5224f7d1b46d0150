"""Many short lists of numbers in two arrays, such as the edges of many graphs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flipproof.base.values import IntArray


class Pieces(NamedTuple):
    """Concatenated lists of numbers: piece i is `values[starts[i] : starts[i + 1]]`.

    Example:
        >>> pieces = Pieces.joined([np.array([5, 7]), np.array([], np.int64), np.array([6])])
        >>> pieces.taken(np.array([2, 0, 2]))
        Pieces(starts=array([0, 1, 3, 4]), values=array([6, 5, 7, 6]))
    """

    starts: IntArray
    values: IntArray

    @classmethod
    def joined(cls, lists: list[IntArray]) -> Pieces:
        """Concatenates the lists in their order."""
        starts = np.cumsum([0, *(part.size for part in lists)], dtype=np.int64)
        return cls(starts, np.concatenate([np.zeros(0, np.int64), *lists]))

    def taken(self, which: IntArray) -> Pieces:
        """The pieces with these numbers, copied into new arrays."""
        counts = np.diff(self.starts)[which]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        places = np.repeat(self.starts[which] - starts[:-1], counts) + np.arange(starts[-1])
        return Pieces(starts, self.values[places])
