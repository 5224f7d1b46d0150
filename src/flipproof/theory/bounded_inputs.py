"""Inputs with bounds on the probabilities of their labels, and all that follows from the bounds at any radii."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import BoolArray, FloatArray, IntArray
from flipproof.errors import InvalidInputError
from flipproof.theory.any_law import worst_at
from flipproof.theory.base_law import checked_law
from flipproof.theory.frontier import frontier
from flipproof.theory.l0_ball import largest_l0_radius
from flipproof.theory.law import Law, Noise
from flipproof.theory.radii import (
    UNBOUNDED,
    AnyRadii,
    Axis,
    Counts,
    Grid,
    Point,
    axes_of,
    axis_index,
    grid_of,
    has_parts,
    origin_of,
    point_of,
    radii_at,
)
from flipproof.theory.scope import Scope
from flipproof.theory.search import SEARCH_LIMIT, radii_along
from flipproof.theory.tables import Parts, margin_grid

_PAIRS_TIMES_CELLS = 2**23
"""How many margins are held at once, 64 MiB."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundedInputs:
    """What is certified of inputs whose labels have bounded probabilities under a noise.

    An input is certified at radii if no change within them can bring the predicted label's probability down to that
    of another one: if the margin mu is positive (paper, section 5). No radius exceeds what an input can suffer, if
    that is known, and an input that withstands losing everything is certified at every larger radius.

    Attributes:
        noise: the law under which the bounds hold.
        p_lower: [inputs], lower bounds on the probability of the predicted label.
        p_upper: [inputs], upper bounds on the probability of any other label.
        scope: what can be changed at all; None if that is not known.
        unanswered: [inputs], true where there is no prediction to certify.
        certain: [inputs], true where the bounds alone decide for the predicted label on the input as it is.
    """

    noise: Noise
    p_lower: FloatArray
    p_upper: FloatArray
    scope: Scope | None
    unanswered: BoolArray
    certain: BoolArray = field(init=False)
    _cases: _Cases = field(init=False)

    def __post_init__(self) -> None:
        cases = _Cases.of(self.noise, self.p_lower, self.p_upper, self.room)
        object.__setattr__(self, "_cases", cases)
        object.__setattr__(self, "certain", cases.certified(origin_of(self.noise))[cases.index])

    @classmethod
    def under(
        cls, law: Law, p_lower: FloatArray, p_upper: FloatArray, scope: Scope | None, unanswered: BoolArray
    ) -> BoundedInputs:
        """The inputs, if the law is one that certificates can be made under."""
        expected, got = "votes under a FlipNoise or a JointNoise", "{}; see flipproof.baselines"
        noise = checked_law(law, Noise, expected, got)  # type: ignore[type-abstract]
        return cls(noise, p_lower, p_upper, scope, unanswered)

    def __len__(self) -> int:
        return int(self.p_lower.size)

    @property
    def abstained(self) -> BoolArray:
        """[inputs]: true where nothing is certified, not even the prediction on the input itself."""
        return self.unanswered | ~self.certain

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The kinds of change that radii count."""
        return axes_of(self.noise)

    @property
    def axis_names(self) -> tuple[str, ...]:
        """What the kinds of change are called, such as "add" or "structure.add"."""
        return tuple(map(str, self.axes))

    @property
    def room(self) -> IntArray:
        """[inputs, axes]: how many changes of each kind there can be, whatever else is changed."""
        return self._unbounded(len(self.axes)) if self.scope is None else self.scope.room(self.noise)

    @property
    def room_alone(self) -> IntArray:
        """[inputs, axes]: how many changes of each kind there can be if nothing of another kind is changed."""
        return self._unbounded(len(self.axes)) if self.scope is None else self.scope.room_alone(self.noise)

    @property
    def room_together(self) -> IntArray:
        """[inputs]: how many changes of all kinds there can be at once."""
        return self._unbounded(1)[:, 0] if self.scope is None else self.scope.totals

    def _unbounded(self, columns: int) -> IntArray:
        return np.full((len(self), columns), UNBOUNDED)

    def certified(self, radii: AnyRadii) -> BoolArray:
        """[inputs]: whether the prediction is proved against all changes within the radii."""
        return self._cases.certified(point_of(self.noise, radii))[self._cases.index] & ~self.abstained

    def max_radius(self, along: str | tuple[str, str], limit: int = SEARCH_LIMIT) -> IntArray:
        """[inputs]: the largest certified number of changes of one kind, and no more than the input can suffer."""
        return np.minimum(self.uncapped_radius(along, limit), self.room_alone[:, axis_index(self.noise, along)])

    def uncapped_radius(self, along: str | tuple[str, str], limit: int = SEARCH_LIMIT) -> IntArray:
        """[inputs]: what `max_radius` would be of inputs without end."""
        axis, cases = axis_index(self.noise, along), self._cases
        radii = radii_along(self.noise, axis, cases.p_lower, cases.p_upper, limit)
        return np.where(self.abstained, 0, radii[cases.pair_of_input])

    def max_l0_radius(self, limit: int = SEARCH_LIMIT) -> IntArray:
        """[inputs]: the largest certified number of changes in any mixture of kinds."""
        cases = self._cases
        radii = largest_l0_radius(self.noise, cases.p_lower, cases.p_upper, limit=limit)[cases.pair_of_input]
        return np.minimum(np.where(self.abstained, 0, radii), self.room_together)

    def frontier(self, number: int, limit: int = SEARCH_LIMIT) -> list[AnyRadii]:
        """All maximal certified radii of one input, up to what it can suffer; empty if it abstained."""
        if self.abstained[number]:
            return []
        corners = frontier(self.noise, float(self.p_lower[number]), float(self.p_upper[number]), limit=limit)
        points = np.unique(np.minimum([point_of(self.noise, corner) for corner in corners], self.room[number]), axis=0)
        inside = (points[:, None, :] <= points[None, :, :]).all(axis=2).sum(axis=1) > 1  # below another one, too
        return [radii_at(self.noise, tuple(point)) for point in points[~inside].tolist()]

    def grid(self, parts: Parts | None, kinds: Mapping[str, Counts | None]) -> Grid:
        """The counts that were asked for; without any, radius 0, whatever the noise."""
        nothing = parts is None and all(counts is None for counts in kinds.values())
        return grid_of(self.noise, {} if nothing and has_parts(self.noise) else parts, kinds)

    def share(self, grid: Grid, counted: BoolArray | None = None) -> float | NDArray[np.float64]:
        """The share of all inputs that are certified and counted, for every cell of a grid."""
        if not len(self):
            raise InvalidInputError("expected at least one input, got none")
        chosen_inputs = ~self.abstained if counted is None else counted & ~self.abstained
        weight = np.bincount(self._cases.index, chosen_inputs, minlength=self._cases.pair.size)
        total = np.zeros(grid.cells)
        for chosen, certified in self._cases.certified_on(grid):
            total += certified @ weight[chosen]
        share = total.reshape(grid.shape) / len(self)
        return share if grid.shape else float(share.item())

    def staircases(self, grid: Grid) -> tuple[IntArray, IntArray]:
        """Heights [staircases, all axes of the grid but the last], and the number of each input's staircase.

        A height says how many of the last axis' counts are certified beside the counts of the other axes: as rho falls
        in every radius, these are the first ones.
        """
        cases = self._cases
        every = np.zeros((cases.pair.size + 1, *grid.shape[:-1]), dtype=np.int64)  # the last one is that of abstentions
        for chosen, certified in cases.certified_on(grid):
            every[chosen] = np.moveaxis(certified.reshape(*grid.shape, -1).sum(axis=len(grid.shape) - 1), -1, 0)
        stairs, index = np.unique(every, axis=0, return_inverse=True)
        return stairs, index.ravel()[np.where(self.abstained, cases.pair.size, cases.index)]

    def selected(self, rows: IntArray) -> BoundedInputs:
        """Some of the inputs."""
        scope = None if self.scope is None else self.scope.selected(rows)
        return BoundedInputs(self.noise, self.p_lower[rows], self.p_upper[rows], scope, self.unanswered[rows])


@dataclass(frozen=True, slots=True, eq=False)
class _Cases:
    """Each distinct case once: inputs with equal bounds and equal room for changes have equal certificates.

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
    def of(cls, noise: Noise, p_lower: FloatArray, p_upper: FloatArray, room: IntArray) -> _Cases:
        """Those of all inputs."""
        pairs, pair_of_input = np.unique(p_lower + 1j * p_upper, return_inverse=True)
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
