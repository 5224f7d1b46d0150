"""Any mixture of changes up to a total: the l0 ball as the union of all its splits, or bounded by its worst change."""

from __future__ import annotations

from itertools import islice
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from flipproof.base.arguments import checked_count
from flipproof.base.arrays import FloatArray, IntArray
from flipproof.theory.any_law import scanned_totals
from flipproof.theory.base_law import checked_noise
from flipproof.theory.budgets import Budgets, EntryCounts, budgets_of
from flipproof.theory.domination import WorstChange, worst_change
from flipproof.theory.lattice import MAX_WORK
from flipproof.theory.law import Noise
from flipproof.theory.probabilities import checked_pairs, in_shape_of
from flipproof.theory.radii import UNBOUNDED, origin_of, unit_of
from flipproof.theory.regions import regions_at, work_of
from flipproof.theory.search import SEARCH_LIMIT, radii_along, unbounded_axes

_MOST_WORK = 2**24
"""What the regions of all splits that are checked may cost together, in steps on single masses; some 60 ms."""

_WORK_PER_SPLIT = 2**16
"""What a split costs besides, in such steps."""


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

    An l0 ball is the union over all ways to split r into additions, deletions and changes of all parts (paper,
    section 3). Where there are few splits, all are checked, and the result is exact. Where there are many, one
    imaginary change that is worse than every possible one stands for all of them; that is quick and proves the radius
    too, but may miss a slightly larger one (docs/theory.md, statement 17). A kind of change that is nowhere worse than
    another does not count: columns of a table that differ only in how many values they have are mostly exact.

    Splits that an input cannot suffer are left out when its numbers of zeros and non-zeros are given (for a joint
    noise: a mapping from part to number); the imaginary change knows only which kinds are possible at all.

    Args:
        noise: the noise law.
        p_lower: lower bound(s) on the probability of the predicted label.
        p_upper: upper bound(s) on the probability of any other label, by default 1 - p_lower.
        zeros: how many entries can be added to, by default any number; a law that is not made of flips ignores it.
        nonzeros: how many entries can be deleted or changed, by default any number; ignored likewise.
        limit: where to stop looking; a result equal to it means "at least". The search may stop earlier where
            regions get too large to compute, with a radius that holds.

    Example:
        >>> from flipproof import FlipNoise, JointNoise
        >>> noise = FlipNoise(p_plus=0.01, p_minus=0.6)
        >>> largest_l0_radius(noise, p_lower=0.9999), largest_l0_radius(noise, p_lower=0.9999, zeros=1)
        (6, 16)
        >>> table = JointNoise(**{f"column {k}": FlipNoise(0.6, 0.6, categories=k) for k in range(3, 23)})
        >>> largest_l0_radius(table, p_lower=0.9999)
        6
    """
    lower, upper = checked_pairs(p_lower, p_upper)
    if not checked_noise(noise).flips:
        most = checked_count(limit, "limit")
        return in_shape_of(lower, lambda lo, up: scanned_totals(noise, lo, up, most), lower, upper)
    budgets = budgets_of(noise, zeros, nonzeros)
    return in_shape_of(lower, lambda lo, up: _l0_radii(budgets, lo, up, limit), lower, upper)


def _l0_radii(budgets: Budgets, p_lower: FloatArray, p_upper: FloatArray, limit: int) -> IntArray:
    most = min(checked_count(limit, "limit"), budgets.entries)
    certified = regions_at(budgets.noise, origin_of(budgets.noise)).margin(p_lower, p_upper) > 0.0
    endless = np.logical_and.reduce(unbounded_axes(budgets.noise, p_lower, p_upper)[budgets.axes])
    bounded = np.flatnonzero(certified & ~endless)
    result = np.zeros(p_lower.size, dtype=np.int64)
    if bounded.size:
        result[bounded] = _bounded_radii(budgets, p_lower[bounded], p_upper[bounded], most)
    # An input all of whose entries may change has nothing left to fear, if it is certified at all.
    return np.where(certified & (endless | (result >= budgets.entries)), UNBOUNDED, result)


def _bounded_radii(budgets: Budgets, p_lower: FloatArray, p_upper: FloatArray, most: int) -> IntArray:
    """For pairs that are certified at radius 0, and not at all."""
    if len(budgets.axes) == 1:
        reach = _affordable_reach(budgets.noise, budgets.axes[0], most)
        return radii_along(budgets.noise, budgets.axes[0], p_lower, p_upper, reach)
    proved = _dominated_radii(worst_change(budgets.curves()), p_lower, p_upper, most)
    return _risen(proved, budgets, p_lower, p_upper, most)


def _affordable_reach(noise: Noise, axis: int, most: int) -> int:
    """A limit to a search along one axis, such that none of its radii is refused."""
    while work_of(noise, unit_of(noise, axis, most)) > MAX_WORK:
        most //= 2
    return most


def _dominated_radii(worst: WorstChange, p_lower: FloatArray, p_upper: FloatArray, most: int) -> IntArray:
    """The largest r for which r times the worst change leaves a margin."""
    result, left = np.zeros(p_lower.size, dtype=np.int64), np.arange(p_lower.size)
    for radius, regions in zip(range(1, most + 1), worst.powers(), strict=False):
        left = left[regions.margin(p_lower[left], p_upper[left]) > 0.0]
        result[left] = radius
        if not left.size:
            break
    return result


def _risen(proved: IntArray, budgets: Budgets, p_lower: FloatArray, p_upper: FloatArray, most: int) -> IntArray:
    """Radii that are proved, raised one by one while all splits hold, as far as that is cheap.

    What is cheap depends on the splits alone: the radius of an input is the same among whatever others it is.
    """
    result, work = proved.copy(), 0
    for radius in range(1, most + 1):
        few = (_MOST_WORK - work) // _WORK_PER_SPLIT + 1
        splits = dict.fromkeys(islice(budgets.splits(radius), few))
        work += sum(_WORK_PER_SPLIT + work_of(budgets.noise, split) for split in splits)
        if work > _MOST_WORK or result.max() < radius - 1:
            break
        pairs = np.flatnonzero(result == radius - 1)
        for split in splits if pairs.size else ():
            pairs = pairs[regions_at(budgets.noise, split).margin(p_lower[pairs], p_upper[pairs]) > 0.0]
        result[pairs] = radius
    return result
