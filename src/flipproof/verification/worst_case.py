"""The worst case over all classifiers, in exact fractions: the margin that remains after a number of changes."""

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
"""The bytes that a cell takes in addition to its digits."""


@dataclass(frozen=True, slots=True)
class FlipLaw:
    """The flip probabilities of one entry, as exact fractions: `p_plus` for a zero, `p_minus` for any other value."""

    p_plus: Fraction
    p_minus: Fraction
    categories: int

    def values(self, flip: Fraction) -> tuple[Fraction, Fraction]:
        """The probability that a value is kept, and that it becomes one particular other value."""
        return 1 - flip, flip / (self.categories - 1)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The changes that an attacker can make."""
        return ("add", "delete", "change") if self.categories > 2 else ("add", "delete")


Change = tuple[FlipLaw, str, int]
"""A law, a kind of change under it, and the number of changes."""


class Cell(NamedTuple):
    """Noisy inputs with the same likelihood ratio: their probabilities given the clean and the changed input.

    Both are whole numbers over a denominator that is stored elsewhere.
    """

    clean: int
    changed: int


@lru_cache(maxsize=256)
def outcomes(law: FlipLaw, kind: str) -> tuple[tuple[Cell, ...], int]:
    """The outcomes of noise on one changed entry, and the denominator of their probabilities.

    The noisy entry has its clean value, its changed value, or one of the other values (Bojchevski et al. 2020).
    """
    flips = {"add": (law.p_plus, law.p_minus), "delete": (law.p_minus, law.p_plus), "change": (law.p_minus,) * 2}
    (keep, other), (keep_changed, other_changed) = (law.values(flip) for flip in flips[kind])
    rest = law.categories - 2
    pairs = ((keep, other_changed), (other, keep_changed), (rest * other, rest * other_changed))
    whole = lcm(*(side.denominator for pair in pairs for side in pair))
    cells = (Cell(int(clean * whole), int(changed * whole)) for clean, changed in pairs)
    return tuple(cell for cell in cells if any(cell)), whole


def moves_nothing(law: FlipLaw, kind: str) -> bool:
    """Whether a noisy entry has the same law before and after such a change."""
    return all(cell.clean == cell.changed for cell in outcomes(law, kind)[0])


def always_overlaps(law: FlipLaw, kind: str) -> bool:
    """Whether noise can turn the changed entry into exactly those values into which it can turn the clean one."""
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
        """Sorts the cells; each must be reachable from at least one of the two inputs."""
        return cls.in_order(sorted(cells, key=cmp_to_key(_by_falling_ratio)), whole)

    @classmethod
    def in_order(cls, ordered: Sequence[Cell], whole: int) -> WorstCase:
        """Makes the worst case from cells that are already sorted."""
        sums = ((0, *accumulate(cell[side] for cell in ordered)) for side in (0, 1))
        clean_before, changed_before = (tuple(each) for each in sums)
        return cls(tuple(ordered), clean_before, changed_before, whole)

    def least(self, p: Fraction) -> Fraction:
        """The least probability that a label with probability `p` before the changes can have after them."""
        wanted = p * self.whole
        place = bisect_right(self.clean_before, wanted) - 1
        return self._filled(self._first_reachable(place), wanted)

    def most(self, p: Fraction) -> Fraction:
        """The largest probability that a label with probability `p` before the changes can have after them."""
        return 1 - self.least(1 - p)

    def _first_reachable(self, place: int) -> int:
        """Steps back over cells that the clean input cannot reach: they are not part of the least probability."""
        while place and self.clean_before[place] == self.clean_before[place - 1]:
            place -= 1
        return place

    def _filled(self, place: int, wanted: Fraction) -> Fraction:
        """Adds all cells before a place, and enough of the cell there to reach the wanted probability."""
        missing = wanted - self.clean_before[place]
        part = self.cells[place].changed * missing / self.cells[place].clean if missing else Fraction(0)
        return (self.changed_before[place] + part) / self.whole


def _by_falling_ratio(one: Cell, two: Cell) -> int:
    """A comparison that is negative if the first cell has the larger ratio, which may be infinite."""
    check_time()
    return two.clean * one.changed - one.clean * two.changed


def worst_case(law: FlipLaw, kind: str, count: int) -> WorstCase | None:
    """The worst case of a number of changes of one kind, or None if there are too many cells."""
    return worst_case_of_all([(law, kind, count)])


def worst_case_of_all(changes: Sequence[Change]) -> WorstCase | None:
    """The worst case of changes of several kinds at once, since noise is independent per entry; None if too large."""
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
    """The approximate memory that all cells take: their digits, twice, and as many again in the sums."""
    cells, digits = 1, 1
    for law, kind, count in changes:
        single, whole = outcomes(law, kind)
        cells *= 2 * count + 1 if _mirrored(single) else comb(count + len(single) - 1, len(single) - 1)
        digits += count * whole.bit_length()
    return cells * (_BYTES_OF_CELL + digits // 2)


def _mirrored(single: tuple[Cell, ...]) -> bool:
    """Whether clean and changed value swap their probabilities while every other value keeps its own."""
    return len(single) == 3 and single[0] == single[1][::-1] and single[2].clean == single[2].changed


def _cells(law: FlipLaw, kind: str, count: int) -> Iterator[Cell]:
    """One cell for each way to divide the entries among the outcomes; it stands for all noisy inputs that match."""
    single, _ = outcomes(law, kind)
    every = _merged_cells(single, count) if _mirrored(single) else _separate_cells(single, count)
    return (cell for cell in every if any(cell))


def _merged_cells(single: tuple[Cell, ...], count: int) -> Iterator[Cell]:
    """One cell per difference between the counts of clean and changed values, which determines the ratio."""
    clean, changed, rest = single[0].clean, single[1].clean, single[2].clean
    masses = [1]
    for _ in range(count):
        check_time()
        padded = [0, 0, *masses, 0, 0]
        masses = [changed * padded[i + 2] + rest * padded[i + 1] + clean * padded[i] for i in range(len(masses) + 2)]
    # From the changed input, each difference has the opposite sign.
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
    """A lower bound on the prediction's lead over every other label after the changes.

    Example:
        >>> law = FlipLaw(Fraction(0), Fraction(1, 4), 2)
        >>> margin(worst_case(law, "delete", 1), Fraction(7, 8), Fraction(0))
        Fraction(1, 2)
    """
    return worst.least(p_lower) - worst.most(p_upper)
