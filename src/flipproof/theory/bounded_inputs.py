"""Inputs with bounds on the probabilities of their labels, and the certificates that follow from these bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flipproof.base.short_repr import amount, short_repr
from flipproof.base.values import BoolArray, FloatArray, IntArray
from flipproof.errors import InvalidInputError
from flipproof.theory.frontier import frontier
from flipproof.theory.l0_ball import largest_l0_radius
from flipproof.theory.law import Law, Noise, checked_law, checked_noise
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
from flipproof.theory.regions import worst_margin
from flipproof.theory.scope import Scope
from flipproof.theory.search import SEARCH_LIMIT, radii_along
from flipproof.theory.tables import Parts, margin_grid

_PAIRS_TIMES_CELLS = 2**23
"""The number of margins that are held in memory at once, 64 MiB."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundedInputs:
    """The certificates of inputs whose labels have bounded probabilities under a noise.

    An input is certified at radii if no change within them can bring the predicted label's probability down to that
    of another label: if the margin mu is positive (paper, section 5). If the scope is known, no radius exceeds the
    number of changes that an input has room for, and an input that withstands the loss of everything is certified at
    every larger radius.

    Attributes:
        noise: the law under which the bounds hold.
        p_lower: [inputs], lower bounds on the probability of the predicted label.
        p_upper: [inputs], upper bounds on the probability of any other label.
        scope: how many entries of each input can be changed; None if that is not known.
        unanswered: [inputs], true where there is no prediction to certify.
        certain: [inputs], true where the bounds prove the prediction for the unchanged input.
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

    def __repr__(self) -> str:
        return short_repr(self, amount(len(self), "input"), repr(self.noise))

    @classmethod
    def under(
        cls, law: Law, p_lower: FloatArray, p_upper: FloatArray, scope: Scope | None, unanswered: BoolArray
    ) -> BoundedInputs:
        """The inputs under a law; a law without regions is refused."""
        expected, got = "votes under a FlipNoise or a JointNoise", "{}; see flipproof.baselines"
        noise = checked_law(law, Noise, expected, got)  # type: ignore[type-abstract]  # no value is made of it
        return cls(checked_noise(noise), p_lower, p_upper, scope, unanswered)

    def __len__(self) -> int:
        return int(self.p_lower.size)

    @property
    def abstained(self) -> BoolArray:
        """[inputs]: true where nothing is certified, not even the prediction for the unchanged input."""
        return self.unanswered | ~self.certain

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The kinds of change that radii count."""
        return axes_of(self.noise)

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The names of the kinds of change, such as "add" or "structure.add"."""
        return tuple(map(str, self.axes))

    @property
    def room(self) -> IntArray:
        """[inputs, axes]: how many changes of each kind an input has room for, whatever else is changed."""
        return self._unbounded(len(self.axes)) if self.scope is None else self.scope.room(self.noise)

    @property
    def room_alone(self) -> IntArray:
        """[inputs, axes]: how many changes of each kind an input has room for if no other kind of change is made."""
        return self._unbounded(len(self.axes)) if self.scope is None else self.scope.room_alone(self.noise)

    @property
    def room_together(self) -> IntArray:
        """[inputs]: how many changes of all kinds together an input has room for."""
        if self.scope is None or not self.noise.changes_entries:
            return self._unbounded(1)[:, 0]
        return self.scope.totals

    def _unbounded(self, columns: int) -> IntArray:
        return np.full((len(self), columns), UNBOUNDED)

    def certified(self, radii: AnyRadii) -> BoolArray:
        """[inputs]: whether the prediction is proved to withstand all changes within the radii."""
        return self._cases.certified(point_of(self.noise, radii))[self._cases.index] & ~self.abstained

    def max_radius(self, along: str | tuple[str, str], limit: int = SEARCH_LIMIT) -> IntArray:
        """[inputs]: the largest certified number of changes of one kind, at most as many as the input has room for."""
        return np.minimum(self.uncapped_radius(along, limit), self.room_alone[:, axis_index(self.noise, along)])

    def uncapped_radius(self, along: str | tuple[str, str], limit: int = SEARCH_LIMIT) -> IntArray:
        """[inputs]: the largest certified number of changes of one kind, however small the input is."""
        axis, cases = axis_index(self.noise, along), self._cases
        radii = radii_along(self.noise, axis, cases.p_lower, cases.p_upper, limit)
        return np.where(self.abstained, 0, radii[cases.pair_of_input])

    def max_l0_radius(self, limit: int = SEARCH_LIMIT) -> IntArray:
        """[inputs]: the largest certified number of changes in any mixture of kinds."""
        cases = self._cases
        radii = largest_l0_radius(self.noise, cases.p_lower, cases.p_upper, limit=limit)[cases.pair_of_input]
        return np.minimum(np.where(self.abstained, 0, radii), self.room_together)

    def frontier(self, number: int, limit: int = SEARCH_LIMIT) -> list[AnyRadii]:
        """All maximal certified radii of one input, as far as it has room for them; empty if it abstained."""
        if self.abstained[number]:
            return []
        corners = frontier(self.noise, float(self.p_lower[number]), float(self.p_upper[number]), limit=limit)
        points = np.unique(np.minimum([point_of(self.noise, corner) for corner in corners], self.room[number]), axis=0)
        inside = (points[:, None, :] <= points[None, :, :]).all(axis=2).sum(axis=1) > 1  # below another point, too
        return [radii_at(self.noise, tuple(point)) for point in points[~inside].tolist()]

    def grid(self, parts: Parts | None, kinds: Mapping[str, Counts | None]) -> Grid:
        """The grid of the given counts; without any, radius 0 alone."""
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

        A height is how many counts of the last axis are certified beside given counts of the other axes: since rho
        falls in every radius, these are the first counts.
        """
        cases = self._cases
        every = np.zeros((cases.pair.size + 1, *grid.shape[:-1]), dtype=np.int64)  # the last one is that of abstentions
        for chosen, certified in cases.certified_on(grid):
            every[chosen] = np.moveaxis(certified.reshape(*grid.shape, -1).sum(axis=len(grid.shape) - 1), -1, 0)
        stairs, index = np.unique(every, axis=0, return_inverse=True)
        return stairs, index.ravel()[np.where(self.abstained, cases.pair.size, cases.index)]

    def selected(self, rows: IntArray) -> BoundedInputs:
        """The inputs in some rows."""
        scope = None if self.scope is None else self.scope.selected(rows)
        return BoundedInputs(self.noise, self.p_lower[rows], self.p_upper[rows], scope, self.unanswered[rows])


@dataclass(frozen=True, slots=True, eq=False)
class _Cases:
    """The distinct cases of inputs: inputs with equal bounds and equal room for changes have equal certificates.

    A radius beyond the room of an input is certified if the room itself is, as nobody can make more changes than that.

    Attributes:
        p_lower: [pairs], the distinct pairs of bounds.
        p_upper: [pairs], the same pairs.
        pair: [cases], the number of each case's pair.
        room: [cases, axes], how many changes of each kind there is room for; `UNBOUNDED` if that is not known.
        index: [inputs], the number of each input's case.
    """

    noise: Noise
    p_lower: FloatArray
    p_upper: FloatArray
    pair: IntArray
    room: IntArray
    index: IntArray

    @classmethod
    def of(cls, noise: Noise, p_lower: FloatArray, p_upper: FloatArray, room: IntArray) -> _Cases:
        """The cases of all inputs."""
        pairs, pair_of_input = np.unique(p_lower + 1j * p_upper, return_inverse=True)
        rows, index = np.unique(np.column_stack([pair_of_input, room]), axis=0, return_inverse=True)
        parts = np.ascontiguousarray(pairs.real), np.ascontiguousarray(pairs.imag)
        return cls(noise, *parts, rows[:, 0], rows[:, 1:], index.ravel())

    @property
    def pair_of_input(self) -> IntArray:
        """[inputs]: the number of each input's pair of bounds."""
        return self.pair[self.index]

    def certified(self, point: Point) -> BoolArray:
        """[cases]: whether all changes up to a point, as far as there is room for them, leave a margin."""
        certified = np.zeros(self.pair.size, dtype=bool)
        for reached, members in _groups(np.minimum(self.room, point)):
            pairs, of_member = np.unique(self.pair[members], return_inverse=True)
            margin = worst_margin(self.noise, reached, self.p_lower[pairs], self.p_upper[pairs])
            certified[members] = (margin > 0.0)[of_member]
        return certified

    def certified_on(self, grid: Grid) -> Iterator[tuple[IntArray, BoolArray]]:
        """Yields some cases at a time, and in which cells of the grid they are certified: [cells, cases]."""
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
    """Every distinct point with the numbers of its rows."""
    distinct, index = np.unique(points, axis=0, return_inverse=True)
    order = np.argsort(index.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(index.ravel(), minlength=len(distinct)))
    for point, first, last in zip(distinct.tolist(), [0, *ends.tolist()], ends.tolist(), strict=False):
        yield tuple(point), order[first:last]


def _with_rooms(grid: Grid, rooms: IntArray) -> Grid:
    """The grid with further counts, at which the room of some input is exhausted."""
    counts = tuple(
        tuple(sorted({*given, *np.unique(rooms[:, axis]).tolist()})) for axis, given in enumerate(grid.counts)
    )
    return Grid(counts, tuple(map(len, counts)))


def _cells(grid: Grid, finer: Grid, room: Point) -> IntArray:
    """The numbers that the cells of a grid have in the finer grid, for inputs with this room."""
    cells, stride = np.zeros(1, dtype=np.int64), 1
    for counts, fine, most in zip(*(reversed(each) for each in (grid.counts, finer.counts, room)), strict=True):
        places = stride * np.searchsorted(fine, np.minimum(counts, most))
        cells, stride = np.add.outer(places, cells).ravel(), stride * len(fine)
    return cells
