"""Bounds on single entries of the normalised adjacency around one node, for the program in `structure_program`.

The entry of a kept edge is f(i, j) of `structure_bounds` at the numbers of deletions at its ends. Any slopes give
planes above and below f: the constant is the extreme difference over all integers that the budgets allow, so nothing
has to be proved about the slopes. The slopes chosen here are exact when one edge may be deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flipproof.base.rounding import ROUNDOFF
from flipproof.base.values import BoolArray, FloatArray, IntArray
from flipproof.baselines.gcn.structure_bounds import Surroundings


class Planes(NamedTuple):
    """One plane per entry: a constant, and slopes in the numbers of deletions at head and tail."""

    constant: FloatArray
    head: FloatArray
    tail: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The entries in the rows of the target and its neighbours, those of edges first, then those of the loops.

    Attributes:
        edges: the edge of each entry; 0 for loops, which have none.
        heads: the smaller node of each entry.
        tails: its larger node; equal to the head for loops.
        free: whether the edge may be deleted.
        places: the position of each edge's entry.
        loops: the positions of the loop entries of the target and each neighbour.
        low: a lower bound on the entry while the edge is kept.
        high: an upper bound on the entry while the edge is kept.
        above: planes above the entry.
        below: a plane below the entry.
        drop: the amount to subtract from the plane below where the edge is deleted, so that it is not above 0.
        error: an upper bound on the rounding errors of all of these.
    """

    edges: IntArray
    heads: IntArray
    tails: IntArray
    free: BoolArray
    places: IntArray
    loops: IntArray
    low: FloatArray
    high: FloatArray
    above: tuple[Planes, Planes]
    below: Planes
    drop: FloatArray
    error: FloatArray

    @classmethod
    def of(cls, around: Surroundings) -> Entries:
        """All entries around a target."""
        edges, inner = np.flatnonzero(around.there & (around.pairs[:, 0] < around.inner)), np.arange(around.inner)
        none = np.zeros(inner.size, dtype=np.int64)
        heads, tails = np.concatenate([around.pairs[edges], np.stack([inner, inner], axis=1)]).T
        grid = _Grid(
            around.budget,
            np.concatenate([around.most_besides(edges, heads[: edges.size]), around.most[inner]]),
            np.concatenate([around.most_besides(edges, tails[: edges.size]), none]),
            around.degrees[heads],
            around.degrees[tails],
            np.arange(heads.size) >= edges.size,
        )
        places = np.zeros(around.free.size, dtype=np.int64)
        places[edges] = np.arange(edges.size)
        high, below = grid.highest() * (1.0 + 8.0 * ROUNDOFF), grid.below()
        return cls(
            edges=np.concatenate([edges, none]),
            heads=heads,
            tails=tails,
            free=np.concatenate([around.deletable[edges], none]) > 0,
            places=places,
            loops=edges.size + inner,
            low=grid.at(none[0], none[0]) * (1.0 - 8.0 * ROUNDOFF),
            high=high,
            above=grid.above(),
            below=below,
            drop=grid.drop(below),
            error=32.0 * ROUNDOFF * (around.budget + 2) * high,
        )


class _Grid:
    """The entries [entries, i, j] at all numbers of deletions at head and tail, and which numbers are allowed."""

    def __init__(
        self, budget: int, most_head: IntArray, most_tail: IntArray, head: IntArray, tail: IntArray, loop: BoolArray
    ) -> None:
        self.budget, self.most_head, self.most_tail = budget, most_head, most_tail
        self.i, self.j = np.indices((budget + 1, budget + 1))
        self.allowed = (self.i <= most_head[:, None, None]) & (self.j <= most_tail[:, None, None])
        self.allowed &= self.i + self.j <= budget
        heads = np.maximum(head[:, None, None] - self.i, 1).astype(float)
        tails = np.maximum(tail[:, None, None] - self.j, 1).astype(float)
        self.values = 1.0 / np.where(loop[:, None, None], heads, np.sqrt(heads * tails))

    def at(self, i: IntArray, j: IntArray) -> FloatArray:
        """Each entry at one point."""
        values: FloatArray = self.values[np.arange(len(self.values)), i, j]
        return values

    def highest(self) -> FloatArray:
        """The largest allowed value of each entry."""
        return self._most(self.values, self.allowed)

    def above(self) -> tuple[Planes, Planes]:
        """Two planes above, with slopes from no deletion to the most at one end, and on to the most at the other."""
        none = np.zeros_like(self.most_head)
        alone = self._slope((none, none), (self.most_head, none)), self._slope((none, none), (none, self.most_tail))
        then_tail = np.minimum(self.most_tail, self.budget - self.most_head)
        then_head = np.minimum(self.most_head, self.budget - self.most_tail)
        tail = self._slope((self.most_head, none), (self.most_head, then_tail))
        head = self._slope((none, self.most_tail), (then_head, self.most_tail))
        return (
            self._plane_above(alone[0], np.where(then_tail > 0, tail, alone[1])),
            self._plane_above(np.where(then_head > 0, head, alone[0]), alone[1]),
        )

    def below(self) -> Planes:
        """A plane below, with slopes through the points of no deletion and of one deletion at either end."""
        none = np.zeros_like(self.most_head)
        head = self._slope((none, none), (np.minimum(self.most_head, 1), none))
        tail = self._slope((none, none), (none, np.minimum(self.most_tail, 1)))
        rest = self.values - self._rise(head, tail)
        return Planes(np.min(rest, axis=(1, 2), where=self.allowed, initial=np.inf), head, tail)

    def drop(self, plane: Planes) -> FloatArray:
        """The largest rise of a plane while one deletion is spent on the edge itself."""
        others = self.allowed & (self.i + self.j < self.budget)
        return self._most(self._rise(plane.head, plane.tail), others)

    def _plane_above(self, head: FloatArray, tail: FloatArray) -> Planes:
        return Planes(self._most(self.values - self._rise(head, tail), self.allowed), head, tail)

    @staticmethod
    def _most(values: FloatArray, where: BoolArray) -> FloatArray:
        """The largest positive value of every entry at the selected points."""
        most: FloatArray = np.max(values, axis=(1, 2), where=where, initial=0.0)
        return most

    def _rise(self, head: FloatArray, tail: FloatArray) -> FloatArray:
        rise: FloatArray = head[:, None, None] * self.i + tail[:, None, None] * self.j
        return rise

    def _slope(self, start: tuple[IntArray, IntArray], end: tuple[IntArray, IntArray]) -> FloatArray:
        """The change of the entry per deletion, from one point to another on the same axis."""
        steps = np.maximum(end[0] - start[0] + end[1] - start[1], 1)
        slope: FloatArray = (self.at(*end) - self.at(*start)) / steps
        return slope
