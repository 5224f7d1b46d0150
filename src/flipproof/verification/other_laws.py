"""Laws that are not made of flips; the checker identifies them by the name in their record and needs exact masses.

To add a law, register a function here that shares no code with the part that makes certificates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from json import dumps, loads
from math import lcm
from typing import Any

from flipproof.errors import FileFormatError
from flipproof.verification.limits import SHELF, check_time
from flipproof.verification.worst_case import Cell, WorstCase

Masses = Callable[[Mapping[str, Any], Mapping[str, int]], Iterable[tuple[Fraction, Fraction]]]
"""Maps a law's fields and the numbers of changes by kind to exact (clean mass, changed mass), one pair per region."""

_BYTES_OF_CHANGE = 200
"""The approximate bytes that the regions take, divided by the square of the number of changes."""

_MOST_POINTS = 2**12
"""The check gives up on more combinations of numbers of changes than this."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The registration of one law."""

    kinds: tuple[str, ...]
    masses: Masses
    changes_entries: bool


_KNOWN: dict[str, _Known] = {}


def register_masses(name: str, kinds: Sequence[str], masses: Masses, changes_entries: bool = False) -> None:
    """Teaches the checker a law.

    Args:
        name: the only name in a record of the law, {name: fields}.
        kinds: the kinds of change that the law counts, in the order of its axes: some of "add", "delete", "change".
        masses: maps the fields and the numbers of changes by kind to the exact masses of all regions.
        changes_entries: whether one change gives one entry another value, so that the number of entries limits the
            number of changes.
    """
    _KNOWN[name] = _Known(tuple(kinds), masses, changes_entries)


@dataclass(frozen=True, slots=True)
class OtherLaw:
    """A registered law: its name, and its fields as JSON text."""

    name: str
    fields: str

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> OtherLaw:
        """The law of a record {name: fields}; refuses a law that is not registered."""
        names = list(record)
        if len(names) != 1 or names[0] not in _KNOWN:
            raise FileFormatError(
                f"a noise that this checker does not know, {', '.join(names)[:60]}; register its masses"
            )
        return cls(names[0], dumps(record[names[0]], sort_keys=True))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The changes that an attacker can make."""
        return _KNOWN[self.name].kinds

    @property
    def changes_entries(self) -> bool:
        """Whether one change gives one entry another value."""
        return _KNOWN[self.name].changes_entries

    def holds(self, points: Iterable[tuple[int, ...]], p_lower: Fraction, p_upper: Fraction) -> bool | None:
        """Whether a positive margin remains at all points (numbers of changes by kind); None if there are too many."""
        for number, point in enumerate(points):
            if number >= _MOST_POINTS:
                return None
            worst = self._worst_case(point)
            if not worst.least(p_lower) - worst.most(p_upper) > 0:
                return False
        return True

    def _worst_case(self, point: tuple[int, ...]) -> WorstCase:
        check_time()
        return SHELF.get((self, point), _BYTES_OF_CHANGE * (1 + sum(point)) ** 2, lambda: self._made(point))

    def _made(self, point: tuple[int, ...]) -> WorstCase:
        if not any(point):
            return WorstCase.in_order([Cell(1, 1)], 1)
        changes = dict(zip(self.kinds, point, strict=True))
        pairs = list(_KNOWN[self.name].masses(loads(self.fields), changes))
        whole = lcm(*(side.denominator for pair in pairs for side in pair))
        cells = [Cell(int(clean * whole), int(changed * whole)) for clean, changed in pairs]
        if any(min(cell) < 0 for cell in cells) or any(sum(cell[side] for cell in cells) != whole for side in (0, 1)):
            raise FileFormatError(f"a noise whose masses do not sum to 1: {self.name}")
        return WorstCase.of((cell for cell in cells if any(cell)), whole)


def box(point: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """A point and all points below it, since more changes are not known to be worse."""
    if not point:
        yield ()
        return
    for own in range(point[0] + 1):
        yield from ((own, *rest) for rest in box(point[1:]))


def ball(axes: int, radius: int) -> Iterator[tuple[int, ...]]:
    """All points with at most `radius` changes in total.

    Example:
        >>> sorted(ball(2, 1))
        [(0, 0), (0, 1), (1, 0)]
    """
    if not axes:
        yield ()
        return
    for own in range(radius + 1):
        yield from ((own, *rest) for rest in ball(axes - 1, radius - own))
