"""All maximal certified radii of one input: the staircase below which everything is certified."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from flipproof.errors import InvalidInputError
from flipproof.theory.arrays import FloatArray
from flipproof.theory.lattice import MAX_WORK, lattice_of
from flipproof.theory.law import Noise
from flipproof.theory.probabilities import checked_pairs
from flipproof.theory.radii import UNBOUNDED, AnyRadii, Point, kinds_of, origin_of, parts_of, radii_at
from flipproof.theory.regions import regions_at
from flipproof.theory.search import SEARCH_LIMIT, radii_along, unbounded_axes


def frontier(
    noise: Noise, p_lower: float, p_upper: float | None = None, *, limit: int = SEARCH_LIMIT
) -> list[AnyRadii]:
    """All maximal certified radii: every certified point is below one of them (paper: maximal radii).

    Empty when not even radius 0 is certified. A kind of change that never matters is `UNBOUNDED`.

    Example:
        >>> from flipproof import FlipNoise
        >>> [(r.add, r.delete) for r in frontier(FlipNoise(p_plus=0.01, p_minus=0.6), p_lower=0.99)]
        [(0, 7), (1, 6), (3, 0)]
    """
    lower, upper = (np.atleast_1d(bound) for bound in checked_pairs(p_lower, p_upper))
    if lower.size != 1:
        raise InvalidInputError(f"expected one p_lower and one p_upper, got {lower.size}")
    if not regions_at(noise, origin_of(noise)).margin(lower, upper)[0] > 0.0:
        return []
    unbounded = unbounded_axes(noise, lower, upper)[:, 0]
    points = _maximal_points(noise, [i for i in range(len(unbounded)) if not unbounded[i]], lower, upper, limit)
    return [radii_at(noise, tuple(np.where(unbounded, UNBOUNDED, point).tolist())) for point in points]


def _maximal_points(noise: Noise, axes: list[int], p_lower: FloatArray, p_upper: FloatArray, limit: int) -> list[Point]:
    """Walks the staircase: for all counts on the leading axes, the largest certified count on the last one."""
    origin = origin_of(noise)
    if not axes:
        return [origin]

    def certified(counts: Point) -> bool:
        point = list(origin)
        for axis, count in zip(axes, counts, strict=True):
            point[axis] = count
        return bool(regions_at(noise, tuple(point)).margin(p_lower, p_upper)[0] > 0.0)

    bounds = [int(radii_along(noise, axis, p_lower, p_upper, limit)[0]) for axis in axes]
    _refuse_long_walk(noise, axes, bounds)
    heights: dict[Point, int] = {}
    for leading in itertools.product(*(range(bound + 1) for bound in bounds[:-1])):
        # A step up on any leading axis can only lower the height, so the lowest neighbour is where to start.
        height = min((heights.get(n, -1) for n in _neighbours(leading, -1)), default=bounds[-1])
        while height >= 0 and not certified((*leading, height)):
            height -= 1
        if height >= 0:
            heights[leading] = height
    points = []
    for leading, height in heights.items():
        if all(heights.get(n, -1) < height for n in _neighbours(leading, +1)):
            point = list(origin)
            for axis, count in zip(axes, (*leading, height), strict=True):
                point[axis] = count
            points.append(tuple(point))
    return points


def _refuse_long_walk(noise: Noise, axes: list[int], bounds: list[int]) -> None:
    """Raises when visiting the staircase would take more than some minutes."""
    corner = list(origin_of(noise))
    for axis, bound in zip(axes, bounds, strict=True):
        corner[axis] = bound
    positions, rest = 1, tuple(corner)
    for _, part in parts_of(noise):
        kinds = len(kinds_of(part))
        positions *= math.prod(lattice_of(part).extent(lattice_of(part).informative(rest[:kinds])))
        rest = rest[kinds:]
    visits = math.prod(bound + 1 for bound in bounds[:-1]) + bounds[-1]
    if visits * positions * sum(bounds) > 2 * MAX_WORK:
        raise InvalidInputError(f"expected a smaller limit for this frontier, got radii up to {max(bounds)} to visit")


def _neighbours(point: Point, step: int) -> Iterator[Point]:
    for i, count in enumerate(point):
        if count + step >= 0:
            yield (*point[:i], count + step, *point[i + 1 :])
