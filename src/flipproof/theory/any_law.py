"""Certificates under a law that is not made of flips, computed from its regions at every number of changes.

Only the regions of such a law are known, so a radius is certified only if every smaller number of changes is certified,
too. Laws made of flips do not use this module: their certificates are computed faster elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from flipproof.base.values import FloatArray, IntArray
from flipproof.errors import TooLargeError
from flipproof.theory.base_law import Noise
from flipproof.theory.radii import Grid, Point, unit_of
from flipproof.theory.regions import Regions, regions_at

_MOST_POINTS = 2**14
"""The largest number of combinations of numbers of changes that is searched; a request that needs more is refused."""


@dataclass(frozen=True, slots=True)
class RegionsBelow:
    """The regions at a point and at all points below it. Every method answers like `Regions`, for the worst of them."""

    noise: Noise
    point: Point

    def lower_mass(self, p: FloatArray) -> FloatArray:
        """The smallest `rho` at every p."""
        return self._over_all(lambda regions: regions.lower_mass(p), np.minimum)

    def upper_mass(self, s: FloatArray) -> FloatArray:
        """The largest `rho_upper` at every s."""
        return self._over_all(lambda regions: regions.upper_mass(s), np.maximum)

    def margin(self, p_lower: FloatArray, p_upper: FloatArray) -> FloatArray:
        """The smallest `mu` for every pair of bounds."""
        return self._over_all(lambda regions: regions.margin(p_lower, p_upper), np.minimum)

    def critical_clean_mass(self) -> float:
        """The smallest clean mass below which `rho_upper` stays under one half."""
        return min(regions.critical_clean_mass() for regions in self._each())

    def _over_all(self, answer: Callable[[Regions], FloatArray], worse: np.ufunc) -> FloatArray:
        first, *others = map(answer, self._each())
        for other in others:
            first = worse(first, other)
        return first

    def _each(self) -> Iterator[Regions]:
        _refuse_many(math.prod(count + 1 for count in self.point))
        return (regions_at(self.noise, below) for below in product(*(range(count + 1) for count in self.point)))


def worst_at(noise: Noise, point: Point) -> Regions | RegionsBelow:
    """The worst case of all changes up to a point. Under flips, the largest numbers are the worst (statement 3)."""
    return regions_at(noise, point) if noise.flips else RegionsBelow(noise, point)


def table_below(noise: Noise, grid: Grid, answer: Callable[[Regions], FloatArray]) -> FloatArray:
    """[cells, ...]: the smallest answer of the regions at all points up to every cell of a grid."""
    extent = [counts[-1] + 1 for counts in grid.counts]
    _refuse_many(math.prod(extent))
    every = np.array([answer(regions_at(noise, point)) for point in product(*map(range, extent))])
    table = every.reshape(*extent, *every.shape[1:])
    for axis in range(len(extent)):
        table = np.minimum.accumulate(table, axis=axis)
    return np.asarray(table[np.ix_(*grid.counts)].reshape(grid.cells, *every.shape[1:]))


def scanned_radii(noise: Noise, axis: int, p_lower: FloatArray, p_upper: FloatArray, limit: int) -> IntArray:
    """The largest radius along an axis such that it and all smaller radii leave a margin; 0 where none does."""
    return _scanned(noise, lambda radius: [unit_of(noise, axis, radius)], p_lower, p_upper, limit)


def scanned_totals(noise: Noise, p_lower: FloatArray, p_upper: FloatArray, limit: int) -> IntArray:
    """The largest total of changes along all axes such that all splits of it and of smaller totals are certified."""
    return _scanned(noise, lambda total: _splits(total, len(noise.axes)), p_lower, p_upper, limit)


def _scanned(
    noise: Noise, points: Callable[[int], list[Point]], p_lower: FloatArray, p_upper: FloatArray, limit: int
) -> IntArray:
    """Scans radii from 0 up, for every pair to its first failure. A long scan stops early, with what is proved then."""
    result, left, looked_at = np.zeros(p_lower.size, dtype=np.int64), np.arange(p_lower.size), 0
    for radius in range(limit + 1):
        wanted = points(radius)
        looked_at += len(wanted)
        if not left.size or looked_at > _MOST_POINTS:
            break
        for point in wanted:
            left = left[regions_at(noise, point).margin(p_lower[left], p_upper[left]) > 0.0]
        result[left] = radius
    return result


def maximal_points(noise: Noise, p_lower: FloatArray, p_upper: FloatArray, limit: int) -> list[Point]:
    """All maximal certified points of one pair of bounds, in lexicographic order."""
    certified: set[Point] = set()
    layer, looked_at = {(0,) * len(noise.axes)}, 0
    while layer:
        looked_at += len(layer)
        _refuse_many(looked_at)
        held = {point for point in layer if regions_at(noise, point).margin(p_lower, p_upper)[0] > 0.0}
        certified |= held
        above = {up for point in held for up in _stepped(point, +1) if max(up) <= limit}
        layer = {point for point in above if all(down in certified for down in _stepped(point, -1))}
    return sorted(point for point in certified if not any(up in certified for up in _stepped(point, +1)))


def _stepped(point: Point, step: int) -> Iterator[Point]:
    for axis, count in enumerate(point):
        if count + step >= 0:
            yield (*point[:axis], count + step, *point[axis + 1 :])


def _splits(total: int, axes: int) -> list[Point]:
    """All ways to share a total of changes among the axes."""
    if axes == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in _splits(total - first, axes - 1)]


def _refuse_many(points: int) -> None:
    if points > _MOST_POINTS:
        raise TooLargeError(
            f"expected at most {_MOST_POINTS:,} combinations of radii under this law, got {points:,}; ask for fewer"
        )
