"""Decides in exact arithmetic whether a prediction withstands a number of changes of any mixture of kinds.

There are two methods. The first tries every way to divide the changes among the kinds. The second replaces every change
by an imaginary one that is at least as bad as each kind, so that the same number of imaginary changes is at least as
bad as any mixture (docs/theory.md, statement 17).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import comb, lcm, log
from typing import NamedTuple

from flipproof.verification.certificate import UNBOUNDED
from flipproof.verification.limits import SHELF, check_time
from flipproof.verification.worst_case import (
    Cell,
    FlipLaw,
    WorstCase,
    bytes_of,
    margin,
    outcomes,
    worst_case,
    worst_case_of_all,
)

_STEP = Fraction(17, 16)
"""The slopes of the imaginary change are powers of this number."""

_MOST_SPLITS, _MOST_BYTES = 2_000, 2**25
"""The check gives up on more ways to divide the changes than this, and on cells that take more bytes."""

Point = tuple[Fraction, Fraction]
"""An event's probability before a change and the largest it can have after it; or the difference of two such pairs."""


@dataclass(frozen=True, slots=True)
class Move:
    """One kind of change and its effect: the concave line through the points that its outcomes define."""

    law: FlipLaw
    kind: str
    line: tuple[Point, ...]


def holds(laws: Iterable[FlipLaw], radius: int, p_lower: Fraction, p_upper: Fraction) -> bool | None:
    """Whether the prediction keeps its lead after `radius` changes, each of any kind in any part.

    Args:
        laws: the laws of the parts.
        radius: the number of changes; `UNBOUNDED` stands for every number.
        p_lower: a lower bound on the probability of the prediction before the changes.
        p_upper: an upper bound on the probability of every other label before the changes.

    Returns:
        True if this is proved, False if some changes refute it, None if deciding would take too long.

    Example:
        >>> laws = [FlipLaw(Fraction(1, 2), Fraction(1, 2), categories) for categories in (3, 5, 9)]
        >>> [holds(laws, radius, Fraction(99, 100), Fraction(1, 100)) for radius in (3, 4)]
        [True, False]
    """
    if p_lower <= p_upper:
        return False
    moves = _worst_moves(tuple(dict.fromkeys(laws)))
    if not moves or not radius or _is_endless(moves, p_lower, p_upper):
        return True
    if radius == UNBOUNDED:
        return False  # enough changes of one visible kind overturn any lead that is not endless
    every = _every_split(moves, radius)
    if every is not None:
        return all(worst is not None and margin(worst, p_lower, p_upper) > 0 for worst in every)
    bound = _bound(moves, radius)
    if bound is not None and margin(bound, p_lower, p_upper) > 0:
        return True
    alone = (worst_case(move.law, move.kind, radius) for move in moves)
    return False if any(worst and margin(worst, p_lower, p_upper) <= 0 for worst in alone) else None


def _is_endless(moves: Sequence[Move], p_lower: Fraction, p_upper: Fraction) -> bool:
    """Whether no number of changes can overturn the prediction.

    That requires a prediction that was certain or other labels that were impossible, and noise that turns a changed
    input into nothing new. If only one of the first two conditions holds, the noisy changed input must also still be
    able to take every value that the noisy clean one could.
    """
    nothing_new = all(move.line[0][1] == 0 for move in moves)
    nothing_lost = all(move.line[-2][1] < 1 for move in moves)
    certain = p_lower == 1, p_upper == 0
    return nothing_new and any(certain) and (all(certain) or nothing_lost)


@lru_cache(maxsize=64)
def _worst_moves(laws: tuple[FlipLaw, ...]) -> tuple[Move, ...]:
    """The kinds of change that no other kind outdoes, without those that noise hides."""
    distinct = {move.line: move for law in laws for kind in law.kinds if not _hidden(move := _move(law, kind))}
    others = tuple(distinct.values())
    return tuple(move for move in others if not any(_is_worse(one, move) for one in others))


def _move(law: FlipLaw, kind: str) -> Move:
    cells, whole = outcomes(law, kind)
    points, clean, changed = [(Fraction(0), Fraction(0))], 0, 0
    for cell in sorted(cells, key=lambda cell: (cell.clean > 0, Fraction(-cell.changed, cell.clean or 1))):
        clean, changed = clean + cell.clean, changed + cell.changed
        points.append((Fraction(clean, whole), Fraction(changed, whole)))
    return Move(law, kind, _highest_line(points))


def _hidden(move: Move) -> bool:
    return len(move.line) == 2 and move.line[0][1] == 0


def _is_worse(one: Move, other: Move) -> bool:
    """Whether one line is nowhere below another, and differs from it."""
    check_time()
    return one is not other and all(_height(one.line, p) >= height for p, height in other.line)


def _height(line: Sequence[Point], p: Fraction) -> Fraction:
    """The height of a line at p."""
    for (start, low), (end, high) in pairwise(line):
        if p <= end:
            return low + (p - start) * (high - low) / (end - start)
    return Fraction(1)


def _highest_line(points: Iterable[Point]) -> tuple[Point, ...]:
    """The corners of the least concave line above all points."""
    corners: list[Point] = []
    for point in sorted(points):
        if corners and corners[-1][0] == point[0]:
            corners.pop()
        while len(corners) > 1 and _slope(corners[-2], corners[-1]) <= _slope(corners[-1], point):
            corners.pop()
        corners.append(point)
    return tuple(corners)


def _slope(one: Point, two: Point) -> Fraction:
    return (two[1] - one[1]) / (two[0] - one[0])


def _every_split(moves: tuple[Move, ...], radius: int) -> Iterable[WorstCase | None] | None:
    """The worst cases of all ways to divide the changes among the moves, or None if there are too many."""
    if comb(radius + len(moves) - 1, radius) > _MOST_SPLITS:
        return None
    shares = [
        [(move.law, move.kind, count) for move, count in zip(moves, counts, strict=True) if count]
        for counts in _counts(radius, len(moves))
    ]
    if sum(map(bytes_of, shares)) > _MOST_BYTES:
        return None
    return map(worst_case_of_all, shares)


def _counts(total: int, places: int) -> Iterator[tuple[int, ...]]:
    check_time()
    if places == 1:
        yield (total,)
        return
    for first in range(total + 1):
        yield from ((first, *rest) for rest in _counts(total - first, places - 1))


class _Share(NamedTuple):
    """The mass that the imaginary change has at slope `_STEP` ** exponent: a whole number over a denominator."""

    exponent: int
    clean: int


@lru_cache(maxsize=64)
def _imaginary_change(moves: tuple[Move, ...]) -> tuple[tuple[_Share, ...], int]:
    """The shares of an imaginary change that is at least as bad as every move, and their denominator.

    Each piece of the highest line is replaced by two, whose slopes are the next smaller and the next larger power.
    """
    masses: dict[int, Fraction] = {}
    for (start, low), (end, high) in pairwise(_highest_line(point for move in moves for point in move.line)):
        if low < high:
            k, clean, changed = _power_below((high - low) / (end - start)), end - start, high - low
            steep = (changed - _STEP**k * clean) / (_STEP ** (k + 1) - _STEP**k)
            masses[k + 1] = masses.get(k + 1, Fraction(0)) + steep
            masses[k] = masses.get(k, Fraction(0)) + clean - steep
    denominator = lcm(*(mass.denominator for mass in masses.values()))
    return tuple(_Share(k, int(mass * denominator)) for k, mass in sorted(masses.items()) if mass), denominator


def _power_below(slope: Fraction) -> int:
    """The exponent of the largest power of `_STEP` that is at most the slope."""
    k = int((log(slope.numerator) - log(slope.denominator)) / log(_STEP))
    while _STEP**k > slope:
        k -= 1
    while _STEP ** (k + 1) <= slope:
        k += 1
    return k


def _bound(moves: tuple[Move, ...], radius: int) -> WorstCase | None:
    """The worst case of `radius` imaginary changes, or None if it has too many digits."""
    shares, denominator = _imaginary_change(moves)
    if not shares:
        return WorstCase.in_order([Cell(1, 0), Cell(0, 1)], 1)
    below, above = max(0, -radius * shares[0].exponent), max(0, radius * shares[-1].exponent)
    digits = radius * denominator.bit_length() + 5 * below + 4 * above
    size = (radius * (shares[-1].exponent - shares[0].exponent) + 1) * digits // 2
    return None if size > _MOST_BYTES else SHELF.get((moves, radius), size, lambda: _imagined(moves, radius))


def _imagined(moves: tuple[Move, ...], radius: int) -> WorstCase:
    shares, denominator = _imaginary_change(moves)
    below, above = max(0, -radius * shares[0].exponent), max(0, radius * shares[-1].exponent)
    # Slopes (17 / 16) ** k become whole numbers over this denominator.
    unit = _STEP.numerator**below * _STEP.denominator**above
    cells = []
    for k, clean in sorted(_power(shares, radius).items()):
        changed = clean * _STEP.numerator ** (below + k) * _STEP.denominator ** (above - k)
        cells.append(Cell(clean * unit, changed))
    whole = denominator**radius * unit
    alone = (whole - sum(cell[side] for cell in cells) for side in (0, 1))
    only_clean, only_changed = Cell(next(alone), 0), Cell(0, next(alone))
    return WorstCase.in_order([cell for cell in (only_clean, *cells, only_changed) if any(cell)], whole)


def _power(shares: Sequence[_Share], radius: int) -> dict[int, int]:
    """The masses of `radius` changes, by the sum of exponents, which determines the ratio."""
    masses = {0: 1}
    for _ in range(radius):
        check_time()
        before, masses = masses, {}
        for k, mass in before.items():
            for share in shares:
                masses[k + share.exponent] = masses.get(k + share.exponent, 0) + mass * share.clean
    return masses
