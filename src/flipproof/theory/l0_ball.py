"""The l0 ball, any mixture of changes up to a total: as the union of all its splits, or bounded by its worst change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from flipproof.base.values import FloatArray, IntArray, checked_count
from flipproof.errors import InvalidInputError
from flipproof.theory.domination import Curve, WorstChange, curve_of, worst_change
from flipproof.theory.lattice import MAX_WORK, work_of
from flipproof.theory.law import JointNoise, Noise, checked_noise, checked_pairs, in_shape_of
from flipproof.theory.radii import (
    UNBOUNDED,
    Axis,
    Point,
    axes_of,
    checked_part_names,
    has_parts,
    origin_of,
    parts_of,
    unit_of,
)
from flipproof.theory.regions import regions_at
from flipproof.theory.search import SEARCH_LIMIT, checked_limit, radii_along, scanned, unbounded_axes

EntryCounts = int | Mapping[str, int] | None
"""How many entries there are: one number, one for each part of a joint noise, or unknown."""


class EntryBudget(NamedTuple):
    """A number of entries that can be changed, and the axes of their changes, one axis for each distinct curve."""

    axes: tuple[int, ...]
    entries: int


@dataclass(frozen=True, slots=True)
class Budgets:
    """All entries that an attacker can spend changes on.

    Attributes:
        noise: the law of the parts in which changes matter, or of the whole input if they matter nowhere.
        each: the budgets, with axes of that law.
    """

    noise: Noise
    each: tuple[EntryBudget, ...]

    @property
    def entries(self) -> int:
        """The largest number of changes that matter."""
        return sum(budget.entries for budget in self.each)

    @property
    def axes(self) -> list[int]:
        """The axes of changes that matter, one for each distinct curve."""
        return sorted({axis for budget in self.each for axis in budget.axes})

    def curves(self) -> frozenset[Curve]:
        """The curves of changes that matter."""
        curves = _curves(self.noise)
        return frozenset(curves[axis][1] for axis in self.axes)

    def splits(self, radius: int) -> Iterator[Point]:
        """All ways to spend exactly `radius` changes; a way may come twice."""
        return _splits(radius, self.each, origin_of(self.noise))


def budgets_of(noise: Noise, zeros: EntryCounts, nonzeros: EntryCounts) -> Budgets:
    """The budgets of an attacker: additions draw on zeros, deletions and changes on non-zeros.

    Example:
        >>> from flipproof import FlipNoise
        >>> table = JointNoise(few=FlipNoise(0.5, 0.5, categories=3), many=FlipNoise(0.5, 0.5, categories=9))
        >>> list(budgets_of(table, None, None).noise.parts), list(budgets_of(table, None, None).splits(2))
        (['many'], [(2, 0, 0)])
    """
    counts = (_counts_by_part(noise, given, name) for given, name in ((zeros, "zeros"), (nonzeros, "nonzeros")))
    return _budgets_of(noise, *(tuple(each.items()) for each in counts))


def _counts_by_part(noise: Noise, given: EntryCounts, name: str) -> dict[str | None, int]:
    if given is None:
        return {}
    if has_parts(noise):
        if not isinstance(given, Mapping):
            raise InvalidInputError(f"expected {name} as a mapping from part to number, got {given!r}")
        checked_part_names(noise, given)
        return {part: checked_count(count, f"{name} of {part}") for part, count in given.items()}
    return {None: checked_count(given, name)}


_Counts = tuple[tuple[str | None, int], ...]


@lru_cache(maxsize=64)
def _budgets_of(noise: Noise, zeros: _Counts, nonzeros: _Counts) -> Budgets:
    supply = _supply(noise, dict(zeros), dict(nonzeros))
    worst = _undominated(supply)
    first = {curve: axis for axis, curve in reversed(_curves(noise)) if curve in worst}
    reduced = _only(noise, {axis.part for axis in first.values()})
    place = {axis: index for index, axis in enumerate(axes_of(reduced))}
    each = ((tuple(sorted(place[first[curve]] for curve in one & worst)), entries) for one, entries in supply.items())
    return Budgets(reduced, tuple(EntryBudget(axes, entries) for axes, entries in each if axes))


def _supply(
    noise: Noise, zeros: Mapping[str | None, int], nonzeros: Mapping[str | None, int]
) -> dict[frozenset[Curve], int]:
    """The number of entries that can suffer each set of changes; entries with the same set are counted together."""
    suffered: dict[tuple[str | None, bool], set[Curve]] = {}
    for axis, curve in _curves(noise):
        suffered.setdefault((axis.part, axis.kind == "add"), set()).add(curve)
    supply: dict[frozenset[Curve], int] = {}
    for (part, on_zeros), curves in suffered.items():
        entries = (zeros if on_zeros else nonzeros).get(part, UNBOUNDED)
        moving = frozenset(curve for curve in curves if not curve.is_straight)
        supply[moving] = min(UNBOUNDED, supply.get(moving, 0) + entries)
    return {curves: entries for curves, entries in supply.items() if entries}


def _undominated(supply: Mapping[frozenset[Curve], int]) -> set[Curve]:
    """The curves that no other curve with an endless supply of entries dominates."""
    endless = {curve for curves, entries in supply.items() if entries == UNBOUNDED for curve in curves}
    worst: set[Curve] = set()
    # A curve has less area than one that dominates it, so it comes later; comparing it with the worst so far suffices.
    for curve in sorted(set().union(*supply), key=Curve.area, reverse=True):
        if not any(one.dominates(curve) for one in worst & endless):
            worst.add(curve)
    return worst


def _curves(noise: Noise) -> list[tuple[Axis, Curve]]:
    laws = dict(parts_of(noise))
    return [(axis, curve_of(laws[axis.part], axis.kind)) for axis in axes_of(noise)]


def _only(noise: Noise, parts: Collection[str | None]) -> Noise:
    """The law of some parts; the whole law if no parts are given."""
    if not has_parts(noise) or not parts:
        return noise
    return JointNoise(**{str(name): part for name, part in noise.flips if name in parts})


def _splits(radius: int, budgets: Sequence[EntryBudget], spent: Point) -> Iterator[Point]:
    """All ways to spend `radius` more changes, without dead ends where the entries left are too few."""
    if not budgets:
        yield spent
        return
    (axes, entries), *later = budgets
    least = max(0, radius - sum(budget.entries for budget in later))
    for count in range(least, min(radius, entries) + 1):
        for point in _compositions(count, axes, spent):
            yield from _splits(radius - count, later, point)


def _compositions(total: int, axes: Sequence[int], spent: Point) -> Iterator[Point]:
    """All ways to spend `total` more changes along some axes."""
    axis, *others = axes
    for count in range(total + 1) if others else (total,):
        point = (*spent[:axis], spent[axis] + count, *spent[axis + 1 :])
        if others:
            yield from _compositions(total - count, others, point)
        else:
            yield point


_MOST_WORK = 2**24
"""The largest total cost of the regions of all splits that are checked, in steps on single masses; some 60 ms."""

_WORK_PER_SPLIT = 2**16
"""The further cost of every split, in steps on single masses."""


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
    """The largest r such that no r changes of any kinds, in any mixture, can change the prediction.

    An l0 ball is the union over all ways to split r into additions, deletions and changes of all parts (paper,
    section 3). Where there are few splits, all are checked, and the result is exact. Where there are many, one
    imaginary change that is worse than every possible change stands for all of them. That is quick and proves the
    radius, too, but may miss a slightly larger radius (docs/theory.md, statement 17). A kind of change that is nowhere
    worse than another does not count: for columns of a table that differ only in their number of values, the result
    is mostly exact.

    If the numbers of zeros and non-zeros of an input are given (for a joint noise: a mapping from part to number),
    splits that the input has no room for are left out. The imaginary change takes into account only which kinds of
    change are possible at all.

    Args:
        noise: the noise law.
        p_lower: lower bound(s) on the probability of the predicted label.
        p_upper: upper bound(s) on the probability of any other label, by default 1 - p_lower.
        zeros: how many entries can be added to, by default any number; a law that is not made of flips ignores it.
        nonzeros: how many entries can be deleted or changed, by default any number; such a law ignores it, too.
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
        every = Budgets(noise, (EntryBudget(tuple(range(len(noise.axes))), UNBOUNDED),))
        return in_shape_of(lower, lambda lo, up: scanned(noise, every.splits, lo, up, limit), lower, upper)
    budgets = budgets_of(noise, zeros, nonzeros)
    return in_shape_of(lower, lambda lo, up: _l0_radii(budgets, lo, up, limit), lower, upper)


def _l0_radii(budgets: Budgets, p_lower: FloatArray, p_upper: FloatArray, limit: int) -> IntArray:
    most = min(checked_limit(limit), budgets.entries)
    certified = regions_at(budgets.noise, origin_of(budgets.noise)).margin(p_lower, p_upper) > 0.0
    endless = np.logical_and.reduce(unbounded_axes(budgets.noise, p_lower, p_upper)[budgets.axes])
    bounded = np.flatnonzero(certified & ~endless)
    result = np.zeros(p_lower.size, dtype=np.int64)
    if bounded.size:
        result[bounded] = _bounded_radii(budgets, p_lower[bounded], p_upper[bounded], most)
    # An input that is certified although all its entries may change has no changes left to fear.
    return np.where(certified & (endless | (result >= budgets.entries)), UNBOUNDED, result)


def _bounded_radii(budgets: Budgets, p_lower: FloatArray, p_upper: FloatArray, most: int) -> IntArray:
    """The l0 radii of pairs that are certified at radius 0, but not at every radius."""
    if len(budgets.axes) == 1:
        limit = _affordable_limit(budgets.noise, budgets.axes[0], most)
        return radii_along(budgets.noise, budgets.axes[0], p_lower, p_upper, limit)
    proved = _dominated_radii(worst_change(budgets.curves()), p_lower, p_upper, most)
    return _risen(proved, budgets, p_lower, p_upper, most)


def _affordable_limit(noise: Noise, axis: int, most: int) -> int:
    """A limit for a search along one axis, such that none of its radii is refused as too large."""
    while work_of(noise, unit_of(noise, axis, most)) > MAX_WORK:
        most //= 2
    return most


def _dominated_radii(worst: WorstChange, p_lower: FloatArray, p_upper: FloatArray, most: int) -> IntArray:
    """The largest r such that r of the worst changes leave a margin."""
    result, left = np.zeros(p_lower.size, dtype=np.int64), np.arange(p_lower.size)
    for radius, regions in zip(range(1, most + 1), worst.powers(), strict=False):
        left = left[regions.margin(p_lower[left], p_upper[left]) > 0.0]
        result[left] = radius
        if not left.size:
            break
    return result


def _risen(proved: IntArray, budgets: Budgets, p_lower: FloatArray, p_upper: FloatArray, most: int) -> IntArray:
    """Proved radii, raised one by one while all splits are certified and cheap to check.

    The cost depends on the splits alone, so the radius of an input does not depend on the other inputs.
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
