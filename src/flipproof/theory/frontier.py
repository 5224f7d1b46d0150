"""All maximal certified radii of one input: the corners of the staircase below which everything is certified."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from flipproof.base.values import FloatArray
from flipproof.errors import InvalidInputError, TooLargeError
from flipproof.theory.lattice import MAX_WORK, work_of
from flipproof.theory.law import Noise, checked_pairs
from flipproof.theory.radii import UNBOUNDED, AnyRadii, Point, origin_of, radii_at
from flipproof.theory.regions import refuse_many, regions_at
from flipproof.theory.search import SEARCH_LIMIT, radii_along, unbounded_axes


def frontier(
    noise: Noise, p_lower: float, p_upper: float | None = None, *, limit: int = SEARCH_LIMIT
) -> list[AnyRadii]:
    """All maximal certified radii: every certified point is below one of them (paper: maximal radii).

    Empty when not even radius 0 is certified. A kind of change that never matters is `UNBOUNDED`. Radii beyond
    `limit` are not searched.

    Example:
        >>> from flipproof import FlipNoise
        >>> [(r.add, r.delete) for r in frontier(FlipNoise(p_plus=0.01, p_minus=0.6), p_lower=0.99)]
        [(0, 7), (1, 6), (3, 0)]
    """
    lower, upper = (bound.ravel() for bound in checked_pairs(p_lower, p_upper))
    if lower.size != 1:
        raise InvalidInputError(f"expected one p_lower and one p_upper, got {lower.size}")
    origin = origin_of(noise)
    if not noise.flips:
        return [radii_at(noise, point) for point in _scanned_points(noise, lower, upper, limit)]
    if not regions_at(noise, origin).margin(lower, upper)[0] > 0.0:
        return []
    unbounded = unbounded_axes(noise, lower, upper)[:, 0]
    points = _maximal_points(noise, [i for i in range(len(unbounded)) if not unbounded[i]], lower, upper, limit)
    return [radii_at(noise, tuple(np.where(unbounded, UNBOUNDED, point).tolist())) for point in points]


def _maximal_points(noise: Noise, axes: list[int], p_lower: FloatArray, p_upper: FloatArray, limit: int) -> list[Point]:
    """Walks the staircase: for all counts on the leading axes, the largest certified count on the last one."""
    if not axes:
        return [origin_of(noise)]

    def placed(counts: Point) -> Point:
        given = dict(zip(axes, counts, strict=True))
        return tuple(given.get(axis, 0) for axis in range(len(origin_of(noise))))

    def certified(counts: Point) -> bool:
        return bool(regions_at(noise, placed(counts)).margin(p_lower, p_upper)[0] > 0.0)

    bounds = tuple(int(radii_along(noise, axis, p_lower, p_upper, limit)[0]) for axis in axes)
    visits = math.prod(bound + 1 for bound in bounds[:-1]) + bounds[-1]
    if visits * work_of(noise, placed(bounds)) > 2 * MAX_WORK:  # some tens of seconds
        raise TooLargeError(f"expected a smaller limit for this frontier, got radii up to {max(bounds)} to visit")
    heights: dict[Point, int] = {}
    for leading in itertools.product(*(range(bound + 1) for bound in bounds[:-1])):
        # A step up on any leading axis can only lower the height, so the lowest neighbour is where to start.
        height = min((heights.get(n, -1) for n in _neighbours(leading, -1)), default=bounds[-1])
        while height >= 0 and not certified((*leading, height)):
            height -= 1
        if height >= 0:
            heights[leading] = height
    return [
        placed((*leading, height))
        for leading, height in heights.items()
        if all(heights.get(n, -1) < height for n in _neighbours(leading, +1))
    ]


def _scanned_points(noise: Noise, p_lower: FloatArray, p_upper: FloatArray, limit: int) -> list[Point]:
    """All maximal certified points under a law of which only the regions are known, in lexicographic order."""
    certified: set[Point] = set()
    layer, looked_at = {(0,) * len(noise.axes)}, 0
    while layer:
        looked_at += len(layer)
        refuse_many(looked_at)
        held = {point for point in layer if regions_at(noise, point).margin(p_lower, p_upper)[0] > 0.0}
        certified |= held
        above = {up for point in held for up in _neighbours(point, +1) if max(up) <= limit}
        layer = {point for point in above if all(down in certified for down in _neighbours(point, -1))}
    return sorted(point for point in certified if not any(up in certified for up in _neighbours(point, +1)))


def _neighbours(point: Point, step: int) -> Iterator[Point]:
    for i, count in enumerate(point):
        if count + step >= 0:
            yield (*point[:i], count + step, *point[i + 1 :])
