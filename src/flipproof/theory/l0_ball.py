"""Any mixture of changes up to a total: the l0 ball as the union of all its splits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from flipproof.errors import InvalidInputError, TooLargeError
from flipproof.theory.arrays import BoolArray, FloatArray, IntArray
from flipproof.theory.lattice import MAX_WORK
from flipproof.theory.law import JointNoise, Noise
from flipproof.theory.probabilities import checked_pairs, in_shape_of
from flipproof.theory.radii import (
    UNBOUNDED,
    Point,
    axes_of,
    checked_count,
    checked_part_names,
    kinds_of,
    origin_of,
    parts_of,
)
from flipproof.theory.regions import regions_at, work_of
from flipproof.theory.search import SEARCH_LIMIT, Passes, largest_passing, largest_passing_below, unbounded_axes

EntryCounts = int | Mapping[str, int] | None
"""How many entries there are: one number, one for each part of a joint noise, or unknown."""


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
        (6, 16)
    """
    lower, upper = checked_pairs(p_lower, p_upper)
    budgets = _budgets(noise, zeros, nonzeros)
    return in_shape_of(lower, lambda lo, up: _l0_radii(noise, budgets, lo, up, limit), lower, upper)


_Budgets = list[tuple[tuple[int, ...], int]]


def _l0_radii(noise: Noise, budgets: _Budgets, p_lower: FloatArray, p_upper: FloatArray, limit: int) -> IntArray:
    """A few splits of every radius tell where to look, then all splits are checked."""
    entries = sum(most for _, most in budgets)

    def all_pass(points: Sequence[Point], pairs: IntArray) -> BoolArray:
        passed = np.ones(pairs.shape, dtype=bool)
        for point in points:
            passed &= regions_at(noise, point).margin(p_lower[pairs], p_upper[pairs]) > 0.0
            if not passed.any():
                break
        return passed

    def every_split(radius: int, pairs: IntArray) -> BoolArray:
        return all_pass(_distinct_splits(noise, radius, budgets), pairs)

    def some_splits(radius: int, pairs: IntArray) -> BoolArray:
        splits = _distinct_splits(noise, radius, budgets)
        return all_pass([*splits[:: max(1, len(splits) // 16)], splits[-1]], pairs)

    def among(pairs: IntArray) -> Passes:
        return lambda radius, chosen: every_split(radius, pairs[chosen])

    most = min(checked_count(limit, "limit"), entries)
    unbounded = np.logical_and.reduce(unbounded_axes(noise, p_lower, p_upper))
    result = largest_passing(some_splits, unbounded, most)
    for radius in np.unique(result[(result > 0) & ~unbounded]).tolist():
        group = np.flatnonzero(result == radius)
        failed = group[~every_split(radius, group)]
        result[failed] = largest_passing_below(among(failed), result[failed])
    # An input all of whose entries may change has nothing left to fear, if it is certified at all.
    fearless = (result >= entries) & all_pass([origin_of(noise)], np.arange(result.size))
    return np.where(fearless, UNBOUNDED, result)


def _budgets(noise: Noise, zeros: EntryCounts, nonzeros: EntryCounts) -> _Budgets:
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


def _distinct_splits(noise: Noise, radius: int, budgets: _Budgets) -> list[Point]:
    """The splits of a radius, one of each law: where p_plus = p_minus, all kinds of change are alike."""
    alike: list[int] = []
    for number, (_, part) in enumerate(parts_of(noise)):
        symmetric = part.p_plus == part.p_minus
        alike += [number if symmetric else -len(alike) - i - 1 for i in range(len(kinds_of(part)))]
    distinct: dict[tuple[int, ...], Point] = {}
    groups = sorted(set(alike))
    corner = tuple(-(-radius // len(alike)) for _ in alike)
    if math.comb(radius + len(groups) - 1, radius) * work_of(noise, corner) > MAX_WORK:
        raise TooLargeError(f"expected a limit below {radius} for this search, which would take too long beyond it")
    for point in _splits(radius, budgets, len(alike)):
        totals = tuple(sum(n for n, group in zip(point, alike, strict=True) if group == g) for g in groups)
        distinct.setdefault(totals, point)
    return list(distinct.values())


def _splits(radius: int, budgets: _Budgets, axes: int) -> Iterator[Point]:
    """All ways to spend exactly `radius` changes that the numbers of entries allow."""

    def spend(rest: int, remaining: _Budgets) -> Iterator[dict[int, int]]:
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
