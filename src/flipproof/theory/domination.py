"""One imaginary change that is worse than every possible change, so that r of them bound any r changes."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, count, pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from flipproof.base.rounding import ROUNDOFF
from flipproof.base.values import FloatArray
from flipproof.theory.law import FlipNoise
from flipproof.theory.regions import Regions


class Step(NamedTuple):
    """A clean and an adversarial mass: for a point the masses up to it, for a piece the masses between its ends."""

    clean: Fraction
    adversarial: Fraction

    def minus(self, other: Step) -> Step:
        """The piece between two points."""
        return Step(self.clean - other.clean, self.adversarial - other.adversarial)


@dataclass(frozen=True, slots=True)
class Curve:
    """A concave, rising, piecewise linear function on [0, 1] that ends at 1, by its corners from left to right.

    Two kinds of change with equal curves are interchangeable: no test tells their laws apart.
    """

    corners: tuple[Step, ...]

    @classmethod
    def above(cls, points: Iterable[Step]) -> Curve:
        """The least concave function that is nowhere below the points.

        Example:
            >>> points = [Step(Fraction(s), Fraction(s) ** 2) for s in (0, Fraction(1, 2), 1)]
            >>> len(Curve.above(points).corners)
            2
        """
        highest: dict[Fraction, Fraction] = {}
        for clean, adversarial in points:
            highest[clean] = max(adversarial, highest.get(clean, adversarial))
        corners: list[Step] = []
        for point in map(Step._make, sorted(highest.items())):
            while len(corners) > 1 and not _turns_down(corners[-2], corners[-1], point):
                corners.pop()
            corners.append(point)
        return cls(tuple(corners))

    @property
    def is_straight(self) -> bool:
        """Whether the curve is U(s) = s: the change does not move the law of the noisy input."""
        return len(self.corners) == 2 and self.corners[0].adversarial == 0

    def pieces(self) -> Iterator[Step]:
        """The masses between neighbouring corners, from the steepest to the flattest."""
        return (right.minus(left) for left, right in pairwise(self.corners))

    def at(self, clean: Fraction) -> Fraction:
        """The value at a clean mass in [0, 1]."""
        right = min(bisect_right(self.corners, clean, key=itemgetter(0)), len(self.corners) - 1)
        start, piece = self.corners[right - 1], self.corners[right].minus(self.corners[right - 1])
        return start.adversarial + (clean - start.clean) * piece.adversarial / piece.clean

    def area(self) -> Fraction:
        """The integral over [0, 1]."""
        return sum(
            (
                piece.clean * (left.adversarial + piece.adversarial / 2)
                for left, piece in zip(self.corners, self.pieces(), strict=False)
            ),
            Fraction(0),
        )

    def dominates(self, other: Curve) -> bool:
        """Whether this curve is nowhere below another one. As it is concave, the corners of the other curve decide."""
        return all(self.at(clean) >= adversarial for clean, adversarial in other.corners)


def _turns_down(first: Step, middle: Step, last: Step) -> bool:
    """Whether the line from the first to the last point passes strictly below the middle point."""
    near, far = middle.minus(first), last.minus(first)
    return near.adversarial * far.clean > far.adversarial * near.clean


@lru_cache(maxsize=4096)
def curve_of(part: FlipNoise, kind: str) -> Curve:
    """The curve of one change of a kind: "add", "delete" or "change" (statement 5).

    Example:
        >>> [tuple(map(str, corner)) for corner in curve_of(FlipNoise(p_plus=0.25, p_minus=0.5), "add").corners]
        [('0', '0'), ('1/4', '1/2'), ('1', '1')]
    """
    zero, nonzero = (_value_law(Fraction(flip), part.categories) for flip in (part.p_plus, part.p_minus))
    clean, adversarial = {"add": (zero, nonzero), "delete": (nonzero, zero), "change": (nonzero, nonzero)}[kind]
    keep, other, rest = adversarial
    # The noisy value is the clean one, the adversarial one, or any other.
    return _curve_of_outcomes([Step(*pair) for pair in zip(clean, (other, keep, rest), strict=True)])


def _curve_of_outcomes(outcomes: Sequence[Step]) -> Curve:
    """The curve that fills the steepest outcomes first, beginning with those without clean mass."""
    rising = sorted(outcomes, key=lambda one: (one.clean > 0, -one.adversarial / (one.clean or 1)))
    clean, adversarial = (accumulate(column, initial=Fraction(0)) for column in zip(*rising, strict=True))
    return Curve.above(map(Step, clean, adversarial))


def _value_law(flip: Fraction, categories: int) -> tuple[Fraction, Fraction, Fraction]:
    """Probabilities to keep a value, to take one given other value, to take any of the rest."""
    other = flip / (categories - 1)
    return 1 - flip, other, flip - other


STEEPER = Fraction(17, 16)
"""The slopes of the worst change are powers of this number."""

_MOST_WORK = 2**27
"""Steps on single masses that the regions of all powers may take together, some 0.1 s."""

_WORK_PER_REGION = 50
"""The cost of sorting and filling one region, in steps on single masses."""


@dataclass(frozen=True, slots=True)
class WorstChange:
    """A change whose curve is nowhere below the curves of some other changes.

    Attributes:
        clean: by exponent k, the clean mass of the region whose adversarial mass is `STEEPER` ** k times as large.
        only_clean: the clean mass of the values that the noisy adversarial input cannot take.
        only_adversarial: the adversarial mass of the values that the noisy clean input cannot take.
    """

    clean: tuple[tuple[int, Fraction], ...]
    only_clean: Fraction
    only_adversarial: Fraction

    @classmethod
    def of(cls, curves: Iterable[Curve]) -> WorstChange:
        """The worst change for some curves.

        The least concave curve above all of them is cut into pieces, and each piece is shared by the two exponents
        next to its slope.

        Example:
            >>> from flipproof import FlipNoise
            >>> from flipproof.theory.domination import curve_of
            >>> worst = WorstChange.of([curve_of(FlipNoise(p_plus=0, p_minus=0.5), "delete")])
            >>> [(k, round(float(mass), 3)) for k, mass in worst.clean], str(worst.only_clean)
            ([(11, 0.287), (12, 0.213)], '1/2')
        """
        hull = Curve.above(corner for curve in curves for corner in curve.corners)
        between: dict[int, list[Step]] = defaultdict(list)
        for piece in hull.pieces():
            if piece.adversarial:
                between[_exponent_below(piece)].append(piece)
        clean: dict[int, Fraction] = defaultdict(Fraction)
        for exponent, pieces in between.items():
            for k, mass in _shared(exponent, pieces):
                clean[k] += mass
        kept = tuple(sorted((k, mass) for k, mass in clean.items() if mass))
        only_clean = 1 - sum((mass for _, mass in kept), Fraction(0))
        return cls(kept, only_clean, hull.corners[0].adversarial)

    def curve(self) -> Curve:
        """The exact curve of this change."""
        points = [Step(Fraction(0), self.only_adversarial)]
        for k, mass in reversed(self.clean):
            clean, adversarial = points[-1]
            points.append(Step(clean + mass, adversarial + mass * STEEPER**k))
        return Curve.above([*points, Step(Fraction(1), Fraction(1))])

    def powers(self) -> Iterator[Regions]:
        """The regions of one such change, of two such changes, and so on, until they get too large to compute."""
        shifts = [k - self.clean[0][0] for k, _ in self.clean]
        clean = _SideMasses.of([mass for _, mass in self.clean], self.only_clean)
        adversarial = _SideMasses.of([mass * STEEPER**k for k, mass in self.clean], self.only_adversarial)
        work = 0
        for radius in count(1):
            work += (clean.masses.size + max(shifts, default=0)) * (len(shifts) + _WORK_PER_REGION)
            if work > _MOST_WORK:
                return
            clean, adversarial = clean.one_more(shifts), adversarial.one_more(shifts)
            yield Regions(
                np.concatenate([clean.masses, [clean.only, 0.0]]),
                np.concatenate([adversarial.masses, [0.0, adversarial.only]]),
                slack=2.1 * radius * (len(shifts) + 3) * ROUNDOFF,
                covered=self.only_adversarial == 0,
            )


@dataclass(frozen=True, slots=True, eq=False)
class _SideMasses:
    """The masses of the noisy clean, or of the noisy adversarial, input after some changes.

    Attributes:
        single: the masses of one change, one for each exponent.
        shared: the mass of the values that both inputs can take after one change, the sum of `single`.
        single_only: the mass of the values that the other input cannot take after one change.
        masses: the masses of all changes so far, by the sum of exponents.
        only: the mass of the values that the other input cannot take after all changes so far.
    """

    single: tuple[float, ...]
    shared: float
    single_only: float
    masses: FloatArray
    only: float

    @classmethod
    def of(cls, single: Iterable[Fraction], only: Fraction) -> _SideMasses:
        """The masses before any change. Each exact number is rounded once."""
        return cls(tuple(map(float, single)), float(1 - only), float(only), np.ones(1), 0.0)

    def one_more(self, shifts: list[int]) -> _SideMasses:
        """The masses after one more change: sums of products of non-negative numbers, so relative errors stay small."""
        masses = np.zeros(self.masses.size + max(shifts, default=0))
        for shift, probability in zip(shifts, self.single, strict=True):
            masses[shift : shift + self.masses.size] += probability * self.masses
        return replace(self, masses=masses, only=self.single_only + self.shared * self.only)


worst_change = lru_cache(maxsize=64)(WorstChange.of)
"""`WorstChange.of` a frozen set of curves, with a cache, as tables need the same worst change many times."""


def _exponent_below(piece: Step) -> int:
    """The largest k for which `STEEPER` ** k is not above the slope of a piece, exactly."""
    slope = piece.adversarial / piece.clean
    # The logarithm may be off by one at most; exact comparisons settle it.
    k = math.floor((math.log(slope.numerator) - math.log(slope.denominator)) / math.log(STEEPER))
    while STEEPER**k > slope:
        k -= 1
    while STEEPER ** (k + 1) <= slope:
        k += 1
    return k


def _shared(k: int, pieces: list[Step]) -> Iterator[tuple[int, Fraction]]:
    """Pieces with slopes between two powers, as masses with exactly these slopes and the same sums."""
    clean, adversarial = (sum(column, Fraction(0)) for column in zip(*pieces, strict=True))
    upper = (adversarial / STEEPER**k - clean) / (STEEPER - 1)
    yield k, clean - upper
    yield k + 1, upper
