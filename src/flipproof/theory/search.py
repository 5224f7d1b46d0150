"""The largest radius that a pair of bounds certifies along one axis, and the search behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from flipproof.theory.arrays import BoolArray, FloatArray, IntArray
from flipproof.theory.lattice import lattice_of
from flipproof.theory.law import Noise
from flipproof.theory.probabilities import checked_pairs, in_shape_of
from flipproof.theory.radii import UNBOUNDED, axis_index, checked_count, parts_of, unit_of
from flipproof.theory.regions import regions_at

SEARCH_LIMIT = 10_000
"""Where a search stops by default. A result equal to the limit means "at least"."""


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

    0 when nothing is certified. `UNBOUNDED` when no number of changes matters, as with p_plus + p_minus = 1.

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

    def margin(radius: int, lower: FloatArray, upper: FloatArray) -> FloatArray:
        return regions_at(noise, unit_of(noise, axis, radius)).margin(lower, upper)

    unbounded = unbounded_axes(noise, p_lower, p_upper)[axis]
    return largest_passing(margin, p_lower, p_upper, unbounded, checked_count(limit, "limit"))


def largest_passing(
    margin: Callable[[int, FloatArray, FloatArray], FloatArray],
    p_lower: FloatArray,
    p_upper: FloatArray,
    unbounded: BoolArray,
    limit: int,
) -> IntArray:
    """The largest radius with margin > 0 for every pair: doubling, then bisection (rho falls in the radius)."""
    certified = margin(0, p_lower, p_upper) > 0.0
    low = np.zeros(p_lower.size, dtype=np.int64)
    high = np.full(p_lower.size, limit + 1)
    active, radius = np.flatnonzero(certified & ~unbounded), 1
    while active.size and radius <= limit:
        passed = margin(radius, p_lower[active], p_upper[active]) > 0.0
        low[active[passed]], high[active[~passed]] = radius, radius
        active, radius = active[passed], radius * 2
    open_ = np.flatnonzero(certified & ~unbounded & (high - low > 1))
    while open_.size:
        middle = (low[open_] + high[open_]) // 2
        for radius in np.unique(middle):
            group = open_[middle == radius]
            passed = margin(int(radius), p_lower[group], p_upper[group]) > 0.0
            low[group[passed]], high[group[~passed]] = radius, radius
        open_ = open_[high[open_] - low[open_] > 1]
    return np.where(certified & unbounded, UNBOUNDED, low)


def unbounded_axes(noise: Noise, p_lower: FloatArray, p_upper: FloatArray) -> BoolArray:
    """[axes, pairs]: where no number of changes along the axis can lower the margin to zero.

    Either such changes do not move the law of the noisy input at all, or the label has probability 1, the
    others 0, and whatever the noisy adversarial input can be the noisy clean input can be too.
    """
    inert = [flag for _, part in parts_of(noise) for flag in lattice_of(part).inert]
    certain = (p_lower == 1.0) & (p_upper == 0.0)
    covered = [bool(np.all(regions_at(noise, unit_of(noise, axis, 1)).clean > 0.0)) for axis in range(len(inert))]
    unbounded: BoolArray = np.array(inert)[:, None] | (np.array(covered)[:, None] & certain)
    return unbounded
