"""What an attacker who may change any entries has to spend, and all ways to spend so many changes.

Only changes that matter are left: neither those that noise hides, nor those than which others are worse (statement 17).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from flipproof.base.arguments import checked_count
from flipproof.errors import InvalidInputError
from flipproof.theory.curve import Curve, curve_of
from flipproof.theory.law import JointNoise, Noise
from flipproof.theory.radii import (
    UNBOUNDED,
    Axis,
    Point,
    axes_of,
    checked_part_names,
    has_parts,
    origin_of,
    parts_of,
)

EntryCounts = int | Mapping[str, int] | None
"""How many entries there are: one number, one for each part of a joint noise, or unknown."""


class EntryBudget(NamedTuple):
    """Entries that can be changed, and the axes along which, one axis for each distinct curve."""

    axes: tuple[int, ...]
    entries: int


@dataclass(frozen=True, slots=True)
class Budgets:
    """All that an attacker has to spend.

    Attributes:
        noise: the law of the parts in which changes matter; of the whole input if there are none.
        each: the budgets, with axes of that law.
    """

    noise: Noise
    each: tuple[EntryBudget, ...]

    @property
    def entries(self) -> int:
        """How many changes there can be that matter."""
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
        """All ways to spend exactly `radius` changes; some may come twice."""
        return _splits(radius, self.each, origin_of(self.noise))


def budgets_of(noise: Noise, zeros: EntryCounts, nonzeros: EntryCounts) -> Budgets:
    """Additions draw on zeros, deletions and changes on non-zeros.

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
    axes = ((tuple(sorted(place[first[curve]] for curve in one & worst)), entries) for one, entries in supply.items())
    return Budgets(reduced, tuple(EntryBudget(own, entries) for own, entries in axes if own))


def _supply(
    noise: Noise, zeros: Mapping[str | None, int], nonzeros: Mapping[str | None, int]
) -> dict[frozenset[Curve], int]:
    """How many entries can suffer each set of changes; those that can suffer the same are counted together."""
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
    """The curves that are not below another one of which there is no end."""
    endless = {curve for curves, entries in supply.items() if entries == UNBOUNDED for curve in curves}
    worst: set[Curve] = set()
    # A curve has less area than one that dominates it, so it comes later, and worse ones suffice to compare with.
    for curve in sorted(set().union(*supply), key=Curve.area, reverse=True):
        if not any(one.dominates(curve) for one in worst & endless):
            worst.add(curve)
    return worst


def _curves(noise: Noise) -> list[tuple[Axis, Curve]]:
    laws = dict(parts_of(noise))
    return [(axis, curve_of(laws[axis.part], axis.kind)) for axis in axes_of(noise)]


def _only(noise: Noise, parts: Collection[str | None]) -> Noise:
    """The law of some parts. Of none, the law as it is."""
    if not has_parts(noise) or not parts:
        return noise
    return JointNoise(**{str(name): part for name, part in noise.flips if name in parts})


def _splits(radius: int, budgets: Sequence[EntryBudget], spent: Point) -> Iterator[Point]:
    """All ways to spend so many more changes. None is begun that the entries left could not end."""
    if not budgets:
        yield spent
        return
    (axes, entries), *later = budgets
    least = max(0, radius - sum(budget.entries for budget in later))
    for own in range(least, min(radius, entries) + 1):
        for point in _compositions(own, axes, spent):
            yield from _splits(radius - own, later, point)


def _compositions(total: int, axes: Sequence[int], spent: Point) -> Iterator[Point]:
    """All ways to spend so many more changes along some axes."""
    axis, *others = axes
    for own in range(total + 1) if others else (total,):
        point = (*spent[:axis], spent[axis] + own, *spent[axis + 1 :])
        if others:
            yield from _compositions(total - own, others, point)
        else:
            yield point
