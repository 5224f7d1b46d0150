"""What one changed entry can do, as an exact curve: the largest adversarial mass of a test, over its clean mass.

The curve is U of docs/theory.md, statement 2. It is what changes of different kinds are compared by (statement 17).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import NamedTuple

from flipproof.theory.law import FlipNoise


class Step(NamedTuple):
    """Clean and adversarial mass: of a point the mass up to it, of a piece the mass between its ends."""

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
        """Whether it is U(s) = s: the change leaves the law of the noisy input as it was."""
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
        """Whether it is nowhere below another one; as it is concave, the other one's corners tell."""
        return all(self.at(clean) >= adversarial for clean, adversarial in other.corners)


def _turns_down(first: Step, middle: Step, last: Step) -> bool:
    """Whether the way from the first to the last point passes strictly below the middle one."""
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
    """Fills the steepest outcomes first, those without clean mass before all."""
    rising = sorted(outcomes, key=lambda one: (one.clean > 0, -one.adversarial / (one.clean or 1)))
    clean, adversarial = (accumulate(column, initial=Fraction(0)) for column in zip(*rising, strict=True))
    return Curve.above(map(Step, clean, adversarial))


def _value_law(flip: Fraction, categories: int) -> tuple[Fraction, Fraction, Fraction]:
    """Probabilities to keep a value, to take one given other value, to take any of the rest."""
    other = flip / (categories - 1)
    return 1 - flip, other, flip - other
