"""Exact worst cases for many probabilities: what `flipproof.theory.exact` says, from one list of its regions."""

from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import NamedTuple

from flipproof.theory import exact


class Ratio(NamedTuple):
    """A fraction that is not reduced: with integers of thousands of bits, that takes longer than all else."""

    numerator: int
    denominator: int

    def minus(self, other):
        numerator = self.numerator * other.denominator - other.numerator * self.denominator
        return Ratio(numerator, self.denominator * other.denominator)

    def is_at_most(self, number):
        """Whether a float is as large or larger."""
        numerator, denominator = number.as_integer_ratio()
        return self.numerator * denominator <= numerator * self.denominator

    def is_at_least(self, number):
        """Whether a float is as small or smaller."""
        return Ratio(-self.numerator, self.denominator).is_at_most(-number)


ONE = Ratio(1, 1)


def ratio(number):
    """The binary fraction that a float is."""
    return Ratio(*number.as_integer_ratio())


class Curve:
    """`rho_upper`, the largest adversarial mass of any set with a given clean mass, as a line through its knots."""

    def __init__(self, noise, radii):
        tail = exact.regions(noise, radii)[::-1]
        whole = 1
        for denominator in (mass.denominator for region in tail for mass in region):
            if whole % denominator:  # mostly powers of two: to divide is faster than to look for common factors
                whole = denominator if denominator % whole == 0 else lcm(whole, denominator)
        clean = [mass.numerator * (whole // mass.denominator) for mass, _ in tail]
        adversarial = [mass.numerator * (whole // mass.denominator) for _, mass in tail]
        self.whole = whole
        self.regions = [*zip(clean, adversarial, strict=True), (1, 0)]  # nothing comes after the last knot
        self.clean, self.adversarial = [0, *accumulate(clean)], [0, *accumulate(adversarial)]

    def knots(self):
        """The clean masses where a region is full, as floats."""
        return [float(Fraction(mass, self.whole)) for mass in self.clean]

    def rho_upper(self, s):
        """The mass at a ratio."""
        wanted, denominator = s.numerator * self.whole, s.denominator
        k = bisect_right(self.clean, wanted // denominator) - 1
        clean, adversarial = self.regions[k]
        beyond = wanted - self.clean[k] * denominator
        scale = denominator * clean
        return Ratio(self.adversarial[k] * scale + beyond * adversarial, self.whole * scale)

    def rho(self, p):
        """One minus `rho_upper` of what is left (docs/theory.md, statement 2)."""
        return ONE.minus(self.rho_upper(ONE.minus(p)))
