"""The largest radius that a pair of bounds certifies along one axis, and the search behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from flipproof.base.values import BoolArray, FloatArray, IntArray, checked_count
from flipproof.theory.lattice import lattice_of
from flipproof.theory.law import Noise, checked_pairs, in_shape_of
from flipproof.theory.radii import UNBOUNDED, Point, axis_index, parts_of, unit_of
from flipproof.theory.regions import MOST_POINTS, regions_at

SEARCH_LIMIT = 1_000
"""Where a search stops by default. A result equal to the limit means "at least"."""


_FARTHEST = 2**60
"""No search comes as far: regions are refused as too large long before."""


def checked_limit(limit: object) -> int:
    """Returns the limit of a search, or raises."""
    return checked_count(limit, "limit")


@overload
def largest_radius(
    noise: Noise,
    p_lower: float,
    along: str | tuple[str, str],
    p_upper: float | None = None,
    *,
    limit: int = ...,
) -> int: ...
@overload
def largest_radius(
    noise: Noise,
    p_lower: ArrayLike,
    along: str | tuple[str, str],
    p_upper: ArrayLike | None = None,
    *,
    limit: int = ...,
) -> IntArray: ...
def largest_radius(
    noise: Noise,
    p_lower: Any,
    along: str | tuple[str, str],
    p_upper: Any = None,
    *,
    limit: int = SEARCH_LIMIT,
) -> Any:
    """The largest number of changes of one kind that is certified, all other kinds at zero.

    0 when nothing is certified. `UNBOUNDED` when no number of changes matters, as with p_plus + p_minus = 1, or with
    p_lower = 1 where noise can make everything of the input itself that it can make of the changed input (statement 9).

    Args:
        noise: the noise law.
        p_lower: lower bound(s) on the probability of the predicted label.
        along: "add", "delete" or "change"; for a joint noise "part.add" or ("part", "add").
        p_upper: upper bound(s) on the probability of any other label, by default 1 - p_lower.
        limit: where to stop looking; a result equal to it means "at least".

    Example:
        >>> from flipproof import FlipNoise
        >>> largest_radius(FlipNoise(p_plus=0.01, p_minus=0.6), p_lower=0.99, along="delete")
        7
    """
    lower, upper = checked_pairs(p_lower, p_upper)
    axis = axis_index(noise, along)
    return in_shape_of(lower, lambda lo, up: radii_along(noise, axis, lo, up, limit), lower, upper)


def radii_along(noise: Noise, axis: int, p_lower: FloatArray, p_upper: FloatArray, limit: int) -> IntArray:
    """`largest_radius` for flat arrays and an axis given by its position."""
    if not noise.flips:
        return scanned(noise, lambda radius: [unit_of(noise, axis, radius)], p_lower, p_upper, limit)

    def passes(radius: int, pairs: IntArray) -> BoolArray:
        return regions_at(noise, unit_of(noise, axis, radius)).margin(p_lower[pairs], p_upper[pairs]) > 0.0

    unbounded = unbounded_axes(noise, p_lower, p_upper)[axis]
    return largest_passing(passes, unbounded, min(checked_limit(limit), _FARTHEST))


def scanned(
    noise: Noise, points: Callable[[int], Iterable[Point]], p_lower: FloatArray, p_upper: FloatArray, limit: int
) -> IntArray:
    """The largest radius such that all points of it and of smaller radii leave a margin; 0 where none does.

    Of laws that are not made of flips only the regions are known, so all smaller numbers of changes are looked at. A
    long scan stops early, with what is proved then.
    """
    result, left, looked_at = np.zeros(p_lower.size, dtype=np.int64), np.arange(p_lower.size), 0
    for radius in range(checked_limit(limit) + 1):
        wanted = list(points(radius))
        looked_at += len(wanted)
        if not left.size or looked_at > MOST_POINTS:
            break
        for point in wanted:
            left = left[regions_at(noise, point).margin(p_lower[left], p_upper[left]) > 0.0]
        result[left] = radius
    return result


def largest_passing(passes: Callable[[int, IntArray], BoolArray], unbounded: BoolArray, limit: int) -> IntArray:
    """The largest radius that passes, for every pair, by doubling, then bisection; 0 where none passes.

    `passes` says whether a radius is certified for some pairs of bounds, given by their indices; then all smaller radii
    are, too. Every pair keeps the largest radius known to pass and the smallest not known to.
    """
    certified = passes(0, np.arange(unbounded.size))
    low = np.zeros(unbounded.size, dtype=np.int64)
    high = np.where(certified & ~unbounded, limit + 1, 1)
    while (undecided := np.flatnonzero(high - low > 1)).size:
        doubled = np.maximum(2 * low, 1)
        radii = np.where((high > limit) & (doubled <= limit), doubled, (low + high) // 2)[undecided]
        for radius in np.unique(radii).tolist():
            pairs = undecided[radii == radius]
            passed = passes(radius, pairs)
            low[pairs[passed]], high[pairs[~passed]] = radius, radius
    return np.where(certified & unbounded, UNBOUNDED, low)


def unbounded_axes(noise: Noise, p_lower: FloatArray, p_upper: FloatArray) -> BoolArray:
    """[axes, pairs]: where no number of changes along the axis can lower the margin to zero.

    There are three such cases. The changes do not move the law of the noisy input at all; or the label has
    probability 1, all other labels have 0, and the noisy clean input can take every value that the noisy adversarial
    input can take; or all other labels have probability 0, and noisy clean and adversarial inputs can always take the
    same values.
    """
    lattices = [lattice_of(part) for _, part in parts_of(noise)]
    inert = np.array([flag for one in lattices for flag in one.inert])[:, None]
    covered = np.array([flag for one in lattices for flag in one.covered])[:, None]
    alike = all(all(one.covered) and all(one.covering) for one in lattices)
    alone = (p_upper == 0.0) & (p_lower > 0.0) & alike
    unbounded: BoolArray = inert | (covered & (p_lower == 1.0) & (p_upper == 0.0)) | alone
    return unbounded
