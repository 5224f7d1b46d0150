"""Grids of radii that show where certificates end, and the certified part of such a grid for every input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from flipproof.base.values import IntArray
from flipproof.errors import InvalidInputError
from flipproof.theory.bounded_inputs import BoundedInputs
from flipproof.theory.lattice import positions_at
from flipproof.theory.law import Noise
from flipproof.theory.radii import Axis, Grid, axes_of, axis_index
from flipproof.theory.search import SEARCH_LIMIT

GridCounts = tuple[tuple[int, ...], ...]
"""Numbers of changes in increasing order, for each axis of a noise."""

_FAR = 60
"""The largest count of a grid with one or two axes."""

_FAR_OF_MANY = 24
"""The largest count of a grid with more axes: its cells multiply, and only planes of it are drawn."""

_ENDLESS = 10
"""The largest count along an axis where some certificates never end, unless others end later."""

_MOST_CELLS, _MARGINS = 20_000, 100_000_000
"""The largest number of cells of a grid, and of margins to compute for the staircases of all inputs."""

_MOST_MASSES = 2**26
"""The largest number of masses of a table over a grid, 512 MiB."""

_NOTHING_HELD: Mapping[str, int] = MappingProxyType({})


def grid_counts(
    inputs: BoundedInputs, most_cells: int = _MOST_CELLS, held: Mapping[str, int] = _NOTHING_HELD
) -> GridCounts:
    """Counts along every axis that show where certificates end: 0, 1, ... to one more than the largest radius.

    Counts go to at most 60, or 24 with more than two axes. Radii without an end, or with an end beyond the search
    limit, are followed to 10. The longest axis (of several such axes the last) is cut until the grid has at most
    `most_cells` cells and its masses fit into memory. Axes that are held have one count.
    """
    if most_cells < 1:
        raise InvalidInputError(f"expected at least one cell, got most_cells = {most_cells}")
    names = inputs.axis_names
    free = [name for name in names if name not in held]
    far = _FAR if len(free) <= 2 else _FAR_OF_MANY
    lengths = {name: min(far, farthest_end(inputs, name)) + 1 for name in free}
    while math.prod(lengths.values()) > most_cells or _masses(inputs.noise, held, lengths) > _MOST_MASSES:
        lengths[max(reversed(lengths), key=lengths.__getitem__)] -= 1
    return tuple((held[name],) if name in held else tuple(range(lengths[name])) for name in names)


def _masses(noise: Noise, held: Mapping[str, int], lengths: Mapping[str, int]) -> int:
    """The number of masses of the table over a grid."""
    corner = tuple(held[str(axis)] if str(axis) in held else lengths[str(axis)] - 1 for axis in axes_of(noise))
    return math.prod(lengths.values()) * positions_at(noise, corner)


def page_counts(inputs: BoundedInputs) -> GridCounts:
    """Counts along every axis, at most as many as can be computed for all inputs of a page."""
    return grid_counts(inputs, min(_MOST_CELLS, max(4, _MARGINS // max(1, len(inputs)))))


def farthest_end(inputs: BoundedInputs, axis: str) -> int:
    """The count at which the last certificate with an end has ended; at least 10 if some certificates have no end."""
    if not len(inputs):
        raise InvalidInputError("expected at least one input, got none")
    # together with changes of other kinds, an input may have more room than without them
    radii = np.minimum(inputs.uncapped_radius(axis), inputs.room[:, axis_index(inputs.noise, axis)])
    endless = radii >= SEARCH_LIMIT
    last = int(radii[~endless].max(initial=0)) + 1
    return max(last, _ENDLESS) if endless.any() else last


def ranges_of(noise: Noise, counts: GridCounts) -> tuple[Any, dict[str, tuple[int, ...]]]:
    """Counts along every axis as arguments of `certified_ratio`: a mapping of parts, and keywords."""
    axes = axes_of(noise)
    if len(counts) != len(axes):
        raise InvalidInputError(f"expected counts for {', '.join(map(str, axes))}, got {len(counts)} of them")
    return ranges_along(dict(zip(axes, counts, strict=True)))


def ranges_along(counts: Mapping[Axis, tuple[int, ...]]) -> tuple[Any, dict[str, tuple[int, ...]]]:
    """Counts along some axes as arguments of `certified_ratio`; along other axes nothing is changed."""
    by_part: dict[str | None, dict[str, tuple[int, ...]]] = {}
    for axis, wanted in counts.items():
        by_part.setdefault(axis.part, {})[axis.kind] = wanted
    return (None, by_part[None]) if None in by_part else (by_part, {})


@dataclass(frozen=True, slots=True, eq=False)
class Stairs:
    """The certified part of a grid whose counts go 0, 1, 2, ..., for every input.

    Attributes:
        heights: [staircases, all axes but the last], how many counts of the last axis are certified.
        index: [inputs], the number of each input's staircase.
    """

    heights: IntArray
    index: IntArray

    @classmethod
    def of(cls, inputs: BoundedInputs, counts: GridCounts | None = None) -> Stairs:
        """The staircases over the given counts, by default over those of a page."""
        counts = page_counts(inputs) if counts is None else counts
        return cls(*inputs.staircases(Grid(counts, tuple(map(len, counts)))))

    def within(self, room: IntArray) -> Stairs:
        """The part of every staircase within the room [inputs, axes] of its input."""
        leading, cases, case = self._cases(room)
        heights = np.minimum(self.heights.reshape(len(self.heights), -1)[cases[:, 0]], cases[:, -1:] + 1)
        heights[(leading.T[None] > cases[:, None, 1:-1]).any(axis=2)] = 0
        stairs, index = np.unique(heights, axis=0, return_inverse=True)
        return Stairs(stairs.reshape(-1, *self.heights.shape[1:]), index.ravel()[case])

    def _cases(self, room: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Counts of the leading axes, distinct rows (staircase, room), and the number of each input's row."""
        shape = self.heights.shape[1:]  # empty if there is one axis
        leading = np.indices(shape).reshape(len(shape), math.prod(shape))
        farthest = np.array([*shape, self.heights.max(initial=1)])
        rows = np.column_stack([self.index, np.minimum(room, farthest)])
        cases, case = np.unique(rows, axis=0, return_inverse=True)
        return leading, cases, case.ravel()

    def largest_boxes(self, room: IntArray) -> IntArray:
        """[inputs, axes]: the certified combination with most combinations below it, within the room of each input.

        If several combinations are the largest, it is the one with most changes along the first axes, the additions.
        """
        leading, cases, case = self._cases(room)
        flat = self.heights.reshape(len(self.heights), -1)
        boxes = np.zeros((len(cases), room.shape[1]), dtype=np.int64)
        for number, (stair, *most) in enumerate(cases.tolist()):
            within = np.minimum(leading, np.array(most[:-1])[:, None])
            tops = np.minimum(flat[stair], most[-1] + 1)
            sizes = tops * np.prod(within + 1, axis=0)
            best = sizes.size - 1 - int(sizes[::-1].argmax())
            boxes[number] = *within[:, best], max(tops[best] - 1, 0)
        return boxes[case]

    def most_pairs(self) -> IntArray:
        """[inputs]: the largest n such that n additions and n deletions are certified together. Only for these axes."""
        adds = np.arange(self.heights.shape[1])
        return np.asarray(np.where(self.heights > adds, adds, 0).max(axis=1)[self.index])
