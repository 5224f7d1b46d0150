"""The worst case over all classifiers, in exact fractions: what is left of a margin after a number of changes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key, lru_cache
from itertools import accumulate
from math import comb, lcm
from operator import mul
from typing import NamedTuple

from flipproof.verification.limits import ROOM, SHELF, check_time

_BYTES_OF_CELL = 150
"""What a cell takes besides its digits."""


@dataclass(frozen=True, slots=True)
class FlipLaw:
    """How one entry of a part flips, as exact fractions: a zero with `p_plus`, anything else with `p_minus`."""

    p_plus: Fraction
    p_minus: Fraction
    categories: int

    def values(self, flip: Fraction) -> tuple[Fraction, Fraction]:
        """The probability that a value is kept, and that it becomes one given other value."""
        return 1 - flip, flip / (self.categories - 1)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The changes that an attacker can make."""
        return ("add", "delete", "change") if self.categories > 2 else ("add", "delete")


Change = tuple[FlipLaw, str, int]
"""So many changes of one kind under a law."""


class Cell(NamedTuple):
    """Noisy inputs with one likelihood ratio: their probabilities from the clean and from the changed input.

    Both are whole numbers over a denominator that the context knows.
    """

    clean: int
    changed: int


@lru_cache(maxsize=256)
def outcomes(law: FlipLaw, kind: str) -> tuple[tuple[Cell, ...], int]:
    """What noise can make of one changed entry, and the denominator of the probabilities.

    It is seen with its clean value, with its changed one, or with one of the others (Bojchevski et al. 2020).
    """
    flips = {"add": (law.p_plus, law.p_minus), "delete": (law.p_minus, law.p_plus), "change": (law.p_minus,) * 2}
    (keep, other), (keep_changed, other_changed) = (law.values(flip) for flip in flips[kind])
    rest = law.categories - 2
    pairs = ((keep, other_changed), (other, keep_changed), (rest * other, rest * other_changed))
    whole = lcm(*(side.denominator for pair in pairs for side in pair))
    cells = (Cell(int(clean * whole), int(changed * whole)) for clean, changed in pairs)
    return tuple(cell for cell in cells if any(cell)), whole


def moves_nothing(law: FlipLaw, kind: str) -> bool:
    """Whether noise makes the same of an entry before and after such a change."""
    return all(cell.clean == cell.changed for cell in outcomes(law, kind)[0])


def always_overlaps(law: FlipLaw, kind: str) -> bool:
    """Whether noise can make of the changed entry all that it can make of the clean one, and nothing else."""
    return all(all(cell) for cell in outcomes(law, kind)[0])


@dataclass(frozen=True, slots=True)
class WorstCase:
    """All cells for some number of changes, from the largest ratio of clean to changed probability to the smallest."""

    cells: tuple[Cell, ...]
    clean_before: tuple[int, ...]
    changed_before: tuple[int, ...]
    whole: int

    @classmethod
    def of(cls, cells: Iterator[Cell], whole: int) -> WorstCase:
        """Sorts the cells; none that both inputs cannot reach."""
        return cls.in_order(sorted(cells, key=cmp_to_key(_by_falling_ratio)), whole)

    @classmethod
    def in_order(cls, ordered: Sequence[Cell], whole: int) -> WorstCase:
        """Of cells that are sorted already."""
        sums = ((0, *accumulate(cell[side] for cell in ordered)) for side in (0, 1))
        clean_before, changed_before = (tuple(each) for each in sums)
        return cls(tuple(ordered), clean_before, changed_before, whole)

    def least(self, p: Fraction) -> Fraction:
        """The least probability after the changes of a label that has `p` before them."""
        wanted = p * self.whole
        place = bisect_right(self.clean_before, wanted) - 1
        return self._filled(self._first_reachable(place), wanted)

    def most(self, p: Fraction) -> Fraction:
        """The largest probability after the changes of a label that has `p` before them."""
        return 1 - self.least(1 - p)

    def _first_reachable(self, place: int) -> int:
        """Cells at the end that the clean input cannot reach are not part of the least."""
        while place and self.clean_before[place] == self.clean_before[place - 1]:
            place -= 1
        return place

    def _filled(self, place: int, wanted: Fraction) -> Fraction:
        """All cells before a place, and as much of the one there as makes up the wanted probability."""
        missing = wanted - self.clean_before[place]
        part = self.cells[place].changed * missing / self.cells[place].clean if missing else Fraction(0)
        return (self.changed_before[place] + part) / self.whole


def _by_falling_ratio(one: Cell, two: Cell) -> int:
    """Negative if the first one has the larger ratio, which may be infinite."""
    check_time()
    return two.clean * one.changed - one.clean * two.changed


def worst_case(law: FlipLaw, kind: str, count: int) -> WorstCase | None:
    """The cells of a number of changes of one kind. None if there are too many."""
    return worst_case_of_all([(law, kind, count)])


def worst_case_of_all(changes: Sequence[Change]) -> WorstCase | None:
    """Changes of several kinds at once: noise treats every entry by itself. None if there are too many cells."""
    size = bytes_of(changes)
    return None if size > ROOM else SHELF.get(tuple(changes), size, lambda: _made(changes))


def _made(changes: Sequence[Change]) -> WorstCase:
    cells, whole = [Cell(1, 1)], 1
    for law, kind, count in changes:
        each = list(_cells(law, kind, count))
        cells = [Cell(one.clean * two.clean, one.changed * two.changed) for one in cells for two in each]
        whole *= outcomes(law, kind)[1] ** count
    return WorstCase.of((cell for cell in cells if any(cell)), whole)


def bytes_of(changes: Sequence[Change]) -> int:
    """About how much memory all cells take: their digits, twice, and as many in the sums."""
    cells, digits = 1, 1
    for law, kind, count in changes:
        single, whole = outcomes(law, kind)
        cells *= 2 * count + 1 if _mirrored(single) else comb(count + len(single) - 1, len(single) - 1)
        digits += count * whole.bit_length()
    return cells * (_BYTES_OF_CELL + digits // 2)


def _mirrored(single: tuple[Cell, ...]) -> bool:
    """Whether clean and changed value are seen with swapped probabilities, and any other with the same one."""
    return len(single) == 3 and single[0] == single[1][::-1] and single[2].clean == single[2].changed


def _cells(law: FlipLaw, kind: str, count: int) -> Iterator[Cell]:
    """Every way in which the outcomes can share a number of entries; each stands for as many noisy inputs as fit it."""
    single, _ = outcomes(law, kind)
    every = _merged_cells(single, count) if _mirrored(single) else _separate_cells(single, count)
    return (cell for cell in every if any(cell))


def _merged_cells(single: tuple[Cell, ...], count: int) -> Iterator[Cell]:
    """One cell for each difference of how often the clean and the changed value are seen, which decides the ratio."""
    clean, changed, rest = single[0].clean, single[1].clean, single[2].clean
    masses = [1]
    for _ in range(count):
        check_time()
        padded = [0, 0, *masses, 0, 0]
        masses = [changed * padded[i + 2] + rest * padded[i + 1] + clean * padded[i] for i in range(len(masses) + 2)]
    # Seen from the changed input, the differences are the opposite ones.
    return (Cell(one, other) for one, other in zip(masses, reversed(masses), strict=True))


def _separate_cells(single: tuple[Cell, ...], count: int) -> Iterator[Cell]:
    first, *others = single
    if not others:
        yield Cell(first.clean**count, first.changed**count)
        return
    clean, changed = (list(accumulate([1, *[side] * count], mul)) for side in first)
    if len(others) == 1:
        rest = [list(accumulate([1, *[side] * count], mul)) for side in others[0]]
    for times in range(count + 1):
        check_time()
        ways = comb(count, times)
        left = count - times
        if len(others) == 1:
            yield Cell(ways * clean[times] * rest[0][left], ways * changed[times] * rest[1][left])
            continue
        for cell in _separate_cells(tuple(others), left):
            yield Cell(ways * clean[times] * cell.clean, ways * changed[times] * cell.changed)


def margin(worst: WorstCase, p_lower: Fraction, p_upper: Fraction) -> Fraction:
    """What the prediction is ahead of every other label at least, after the changes.

    Example:
        >>> law = FlipLaw(Fraction(0), Fraction(1, 4), 2)
        >>> margin(worst_case(law, "delete", 1), Fraction(7, 8), Fraction(0))
        Fraction(1, 2)
    """
    return worst.least(p_lower) - worst.most(p_upper)
