"""One imaginary change that is worse than every possible one, so that r of them bound any r changes.

Its likelihood ratios are powers of one number. That keeps the regions of r such changes few, and equal ratios are found
by adding integers (docs/theory.md, statement 17).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import count

import numpy as np

from flipproof.base.arrays import FloatArray
from flipproof.base.rounding import ROUNDOFF
from flipproof.theory.curve import Curve, Step
from flipproof.theory.regions import Regions

STEEPER = Fraction(17, 16)
"""The slopes of the worst change are powers of it."""

_MOST_WORK = 2**27
"""Steps on single masses that the regions of all powers may take together, some 0.1 s."""

_WORK_PER_REGION = 50
"""What sorting and filling one region costs, in such steps."""


@dataclass(frozen=True, slots=True)
class WorstChange:
    """A change whose curve is nowhere below those of some others.

    Attributes:
        clean: by exponent k, the clean mass of the region whose adversarial mass is `STEEPER` ** k times as large.
        only_clean: the mass of what the noisy adversarial input cannot be.
        only_adversarial: the mass of what the noisy clean input cannot be.
    """

    clean: tuple[tuple[int, Fraction], ...]
    only_clean: Fraction
    only_adversarial: Fraction

    @classmethod
    def of(cls, curves: Iterable[Curve]) -> WorstChange:
        """Of the least concave curve above all, each piece is shared by the two exponents next to its slope.

        Example:
            >>> from flipproof import FlipNoise
            >>> from flipproof.theory.curve import curve_of
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
        """Its own curve, exactly."""
        points = [Step(Fraction(0), self.only_adversarial)]
        for k, mass in reversed(self.clean):
            clean, adversarial = points[-1]
            points.append(Step(clean + mass, adversarial + mass * STEEPER**k))
        return Curve.above([*points, Step(Fraction(1), Fraction(1))])

    def powers(self) -> Iterator[Regions]:
        """The regions of one such change, of two, and so on, until they get too large to compute."""
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
    """What the noisy clean, or the noisy adversarial, input falls into after some changes.

    Attributes:
        single: the masses of one change, one for each exponent.
        shared: what both inputs can be after one change, the sum of `single`.
        masses: those of all changes so far, by the sum of exponents.
        only: what the other input cannot be; the same for one change is `single_only`.
    """

    single: tuple[float, ...]
    shared: float
    single_only: float
    masses: FloatArray
    only: float

    @classmethod
    def of(cls, single: Iterable[Fraction], only: Fraction) -> _SideMasses:
        """Before any change. Each exact number is rounded once."""
        return cls(tuple(map(float, single)), float(1 - only), float(only), np.ones(1), 0.0)

    def one_more(self, shifts: list[int]) -> _SideMasses:
        """After one more change: sums of products of non-negative numbers, so no relative error grows fast."""
        masses = np.zeros(self.masses.size + max(shifts, default=0))
        for shift, probability in zip(shifts, self.single, strict=True):
            masses[shift : shift + self.masses.size] += probability * self.masses
        return replace(self, masses=masses, only=self.single_only + self.shared * self.only)


@lru_cache(maxsize=64)
def worst_change(curves: frozenset[Curve]) -> WorstChange:
    """`WorstChange.of`, kept: a table asks for it again and again."""
    return WorstChange.of(curves)


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
