"""The largest radii that a pair of bounds certifies: along one axis, over an l0 ball, and all maximal ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from flipproof.errors import InvalidInputError
from flipproof.theory.arrays import BoolArray, FloatArray, IntArray
from flipproof.theory.lattice import lattice_of
from flipproof.theory.law import JointNoise, Noise
from flipproof.theory.probabilities import checked_pairs, in_shape_of
from flipproof.theory.radii import (
    UNBOUNDED,
    AnyRadii,
    Axis,
    Point,
    axes_of,
    axis_index,
    checked_count,
    checked_part_names,
    parts_of,
    radii_at,
)
from flipproof.theory.regions import regions_at

SEARCH_LIMIT = 10_000
"""Where a search stops by default. A result equal to the limit means "at least"."""

EntryCounts = int | Mapping[str, int] | None
"""How many entries there are: one number, one for each part of a joint noise, or unknown."""


@overload
def largest_radius(
    noise: Noise, p_lower: float, along: str | tuple[str, str], p_upper: float | None = None, *, limit: int = ...
) -> int: ...
@overload
def largest_radius(
    noise: Noise, p_lower: ArrayLike, along: str | tuple[str, str], p_upper: ArrayLike | None = None, *, limit: int = ...
) -> IntArray: ...
def largest_radius(
    noise: Noise, p_lower: Any, along: str | tuple[str, str], p_upper: Any = None, *, limit: int = SEARCH_LIMIT
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


@overload
def largest_l0_radius(
    noise: Noise,
    p_lower: float,
    p_upper: float | None = None,
    *,
    zeros: EntryCounts = None,
    nonzeros: EntryCounts = None,
    limit: int = ...,
) -> int: ...
@overload
def largest_l0_radius(
    noise: Noise,
    p_lower: ArrayLike,
    p_upper: ArrayLike | None = None,
    *,
    zeros: EntryCounts = None,
    nonzeros: EntryCounts = None,
    limit: int = ...,
) -> IntArray: ...
def largest_l0_radius(
    noise: Noise,
    p_lower: Any,
    p_upper: Any = None,
    *,
    zeros: EntryCounts = None,
    nonzeros: EntryCounts = None,
    limit: int = SEARCH_LIMIT,
) -> Any:
    """The largest r such that no r changes of any kinds, in any mixture, can turn the prediction.

    An l0 ball is the union over all ways to split r into additions, deletions and changes (paper,
    section 3). Splits that an input cannot suffer are left out when its numbers of zeros and non-zeros are
    given (for a joint noise: a mapping from part to number).

    Example:
        >>> from flipproof import FlipNoise
        >>> noise = FlipNoise(p_plus=0.01, p_minus=0.6)
        >>> largest_l0_radius(noise, p_lower=0.9999), largest_l0_radius(noise, p_lower=0.9999, zeros=1)
        (5, 13)
    """
    lower, upper = checked_pairs(p_lower, p_upper)
    budgets = _budgets(noise, zeros, nonzeros)
    return in_shape_of(lower, lambda lo, up: _l0_radii(noise, budgets, lo, up, limit), lower, upper)


def frontier(
    noise: Noise, p_lower: float, p_upper: float | None = None, *, limit: int = SEARCH_LIMIT
) -> list[AnyRadii]:
    """All maximal certified radii: every certified point is below one of them (paper: maximal radii).

    Empty when not even radius 0 is certified. A kind of change that never matters is `UNBOUNDED`.

    Example:
        >>> from flipproof import FlipNoise
        >>> [(r.add, r.delete) for r in frontier(FlipNoise(p_plus=0.01, p_minus=0.6), p_lower=0.99)]
        [(0, 7), (1, 5), (2, 0)]
    """
    lower, upper = (np.atleast_1d(bound) for bound in checked_pairs(p_lower, p_upper))
    if lower.size != 1:
        raise InvalidInputError(f"expected one p_lower and one p_upper, got {lower.size}")
    if not regions_at(noise, _origin(noise)).margin(lower, upper)[0] > 0.0:
        return []
    unbounded = _unbounded_axes(noise, lower, upper)[:, 0]
    points = _maximal_points(noise, [i for i in range(len(unbounded)) if not unbounded[i]], lower, upper, limit)
    return [radii_at(noise, tuple(np.where(unbounded, UNBOUNDED, point).tolist())) for point in points]


def radii_along(noise: Noise, axis: int, p_lower: FloatArray, p_upper: FloatArray, limit: int) -> IntArray:
    """`largest_radius` for flat arrays and an axis given by its position."""

    def margin(radius: int, lower: FloatArray, upper: FloatArray) -> FloatArray:
        return regions_at(noise, _unit(noise, axis, radius)).margin(lower, upper)

    unbounded = _unbounded_axes(noise, p_lower, p_upper)[axis]
    return _largest(margin, p_lower, p_upper, unbounded, checked_count(limit, "limit"))


def _l0_radii(
    noise: Noise, budgets: list[tuple[tuple[int, ...], int]], p_lower: FloatArray, p_upper: FloatArray, limit: int
) -> IntArray:
    entries = sum(most for _, most in budgets)

    def margin(radius: int, lower: FloatArray, upper: FloatArray) -> FloatArray:
        worst = np.full(lower.shape, np.inf)
        for point in _splits(radius, budgets, len(axes_of(noise))):
            worst = np.minimum(worst, regions_at(noise, point).margin(lower, upper))
        return worst

    limit = checked_count(limit, "limit")
    unbounded = _unbounded_axes(noise, p_lower, p_upper).all(axis=0)
    result = _largest(margin, p_lower, p_upper, unbounded, min(limit, entries))
    # An input whose every entry may change has nothing left to fear.
    return np.where(result >= entries, UNBOUNDED, result) if entries <= limit else result


def _largest(
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


def _maximal_points(
    noise: Noise, axes: list[int], p_lower: FloatArray, p_upper: FloatArray, limit: int
) -> list[Point]:
    """Walks the staircase: for all counts on the leading axes, the largest certified count on the last one."""
    origin = _origin(noise)
    if not axes:
        return [origin]

    def certified(counts: Point) -> bool:
        point = list(origin)
        for axis, count in zip(axes, counts, strict=True):
            point[axis] = count
        return bool(regions_at(noise, tuple(point)).margin(p_lower, p_upper)[0] > 0.0)

    bounds = [int(radii_along(noise, axis, p_lower, p_upper, limit)[0]) for axis in axes]
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


def _neighbours(point: Point, step: int) -> Iterator[Point]:
    for i, count in enumerate(point):
        if count + step >= 0:
            yield (*point[:i], count + step, *point[i + 1 :])


def _unbounded_axes(noise: Noise, p_lower: FloatArray, p_upper: FloatArray) -> BoolArray:
    """[axes, pairs]: where no number of changes along the axis can lower the margin to zero.

    Either such changes do not move the law of the noisy input at all, or the label has probability 1, the
    others 0, and whatever the noisy adversarial input can be the noisy clean input can be too.
    """
    inert = [flag for _, part in parts_of(noise) for flag in lattice_of(part).inert]
    certain = (p_lower == 1.0) & (p_upper == 0.0)
    covered = [bool(np.all(regions_at(noise, _unit(noise, axis, 1)).clean > 0.0)) for axis in range(len(inert))]
    return np.array(inert)[:, None] | (np.array(covered)[:, None] & certain)


def _origin(noise: Noise) -> Point:
    return (0,) * len(axes_of(noise))


def _unit(noise: Noise, axis: int, count: int) -> Point:
    return tuple(count if i == axis else 0 for i in range(len(axes_of(noise))))


def _budgets(noise: Noise, zeros: EntryCounts, nonzeros: EntryCounts) -> list[tuple[tuple[int, ...], int]]:
    """Axes that draw on the same entries, and how many there are: additions on zeros, the rest on non-zeros."""
    groups: dict[tuple[str | None, bool], list[int]] = {}
    for i, axis in enumerate(axes_of(noise)):
        groups.setdefault((axis.part, axis.kind == "add"), []).append(i)
    counts = {True: _entry_counts(noise, zeros, "zeros"), False: _entry_counts(noise, nonzeros, "nonzeros")}
    return [(tuple(axes), counts[on_zeros].get(part, UNBOUNDED)) for (part, on_zeros), axes in groups.items()]


def _entry_counts(noise: Noise, given: EntryCounts, name: str) -> dict[str | None, int]:
    if given is None:
        return {}
    if isinstance(noise, JointNoise):
        if not isinstance(given, Mapping):
            raise InvalidInputError(f"expected {name} as a mapping from part to number, got {given!r}")
        checked_part_names(noise, given)
        return {part: checked_count(count, f"{name} of {part}") for part, count in given.items()}
    return {None: checked_count(given, name)}


def _splits(radius: int, budgets: list[tuple[tuple[int, ...], int]], axes: int) -> Iterator[Point]:
    """All ways to spend exactly `radius` changes that the numbers of entries allow."""

    def spend(rest: int, remaining: list[tuple[tuple[int, ...], int]]) -> Iterator[dict[int, int]]:
        if not remaining:
            if rest == 0:
                yield {}
            return
        (own, most), *later = remaining
        for total in range(min(rest, most) + 1):
            for tail in spend(rest - total, later):
                for head in _compositions(total, own):
                    yield head | tail

    for split in spend(radius, budgets):
        yield tuple(split.get(axis, 0) for axis in range(axes))


def _compositions(total: int, axes: tuple[int, ...]) -> Iterator[dict[int, int]]:
    if len(axes) == 1:
        yield {axes[0]: total}
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, axes[1:]):
            yield {axes[0]: first} | rest


__all__ = ["SEARCH_LIMIT", "Axis", "frontier", "largest_l0_radius", "largest_radius", "radii_along"]
