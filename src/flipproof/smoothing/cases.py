"""Each distinct case once: inputs with equal bounds and equal room for changes have equal certificates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from flipproof.base.values import BoolArray, FloatArray, IntArray
from flipproof.statistics.bounds import Bounds
from flipproof.theory.any_law import worst_at
from flipproof.theory.law import Noise
from flipproof.theory.radii import UNBOUNDED, Grid, Point, axes_of
from flipproof.theory.scope import Scope
from flipproof.theory.tables import margin_grid

_PAIRS_TIMES_CELLS = 2**23
"""How many margins are held at once, 64 MiB."""


@dataclass(frozen=True, slots=True, eq=False)
class Cases:
    """The distinct pairs of bounds, and the distinct pairs with their room for changes.

    Radii beyond the room of an input are certified where the room itself is: nobody can make more changes than that.

    Attributes:
        p_lower: [pairs]
        p_upper: [pairs]
        pair: [cases], the number of its pair.
        room: [cases, axes], how many changes of each kind there can be; `UNBOUNDED` if that is not known.
        index: [inputs], the number of its case.
    """

    noise: Noise
    p_lower: FloatArray
    p_upper: FloatArray
    pair: IntArray
    room: IntArray
    index: IntArray

    @classmethod
    def of(cls, noise: Noise, bounds: Bounds, scope: Scope | None) -> Cases:
        """Those of all inputs."""
        pairs, pair_of_input = np.unique(bounds.p_lower + 1j * bounds.p_upper, return_inverse=True)
        inputs = pair_of_input.size
        room = np.full((inputs, len(axes_of(noise))), UNBOUNDED) if scope is None else scope.room(noise)
        rows, index = np.unique(np.column_stack([pair_of_input, room]), axis=0, return_inverse=True)
        parts = np.ascontiguousarray(pairs.real), np.ascontiguousarray(pairs.imag)
        return cls(noise, *parts, rows[:, 0], rows[:, 1:], index.ravel())

    @property
    def pair_of_input(self) -> IntArray:
        """[inputs]: the number of its pair of bounds."""
        return self.pair[self.index]

    def certified(self, point: Point) -> BoolArray:
        """[cases]: whether all changes up to a point, as far as there can be any, leave a margin."""
        certified = np.zeros(self.pair.size, dtype=bool)
        for reached, members in _groups(np.minimum(self.room, point)):
            pairs, of_member = np.unique(self.pair[members], return_inverse=True)
            margin = worst_at(self.noise, reached).margin(self.p_lower[pairs], self.p_upper[pairs])
            certified[members] = (margin > 0.0)[of_member]
        return certified

    def certified_on(self, grid: Grid) -> Iterator[tuple[IntArray, BoolArray]]:
        """Some cases at a time, and where they are certified: [cells, cases]."""
        farthest = np.array([counts[-1] for counts in grid.counts])
        finer = _with_rooms(grid, np.minimum(self.room, farthest))
        step = max(1, _PAIRS_TIMES_CELLS // max(finer.cells, grid.cells))
        by_pair = np.argsort(self.pair, kind="stable")
        for start in range(0, self.p_lower.size, step):
            pairs = slice(start, start + step)
            margin = margin_grid(self.noise, finer, self.p_lower[pairs], self.p_upper[pairs])
            first, last = np.searchsorted(self.pair[by_pair], [start, start + step])
            chosen = by_pair[first:last]
            for reached, members in _groups(np.minimum(self.room[chosen], farthest)):
                cases = chosen[members]
                yield cases, margin[np.ix_(_cells(grid, finer, reached), self.pair[cases] - start)] > 0.0


def _groups(points: IntArray) -> Iterator[tuple[Point, IntArray]]:
    """Every distinct point, and the rows that it is in."""
    distinct, index = np.unique(points, axis=0, return_inverse=True)
    order = np.argsort(index.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(index.ravel(), minlength=len(distinct)))
    for point, first, last in zip(distinct.tolist(), [0, *ends.tolist()], ends.tolist(), strict=False):
        yield tuple(point), order[first:last]


def _with_rooms(grid: Grid, rooms: IntArray) -> Grid:
    """The grid with those counts added at which some input has no more to change."""
    counts = tuple(
        tuple(sorted({*given, *np.unique(rooms[:, axis]).tolist()})) for axis, given in enumerate(grid.counts)
    )
    return Grid(counts, tuple(map(len, counts)))


def _cells(grid: Grid, finer: Grid, room: Point) -> IntArray:
    """Where in the finer grid the cells of a grid are, for inputs with this room."""
    cells, stride = np.zeros(1, dtype=np.int64), 1
    for counts, fine, most in zip(*(reversed(each) for each in (grid.counts, finer.counts, room)), strict=True):
        own = stride * np.searchsorted(fine, np.minimum(counts, most))
        cells, stride = np.add.outer(own, cells).ravel(), stride * len(fine)
    return cells
