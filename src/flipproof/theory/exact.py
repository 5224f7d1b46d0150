"""The certificate in exact fractions, never rounded: the oracle by which the fast engine is checked."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from fractions import Fraction
from functools import cmp_to_key, lru_cache
from itertools import groupby
from math import comb, lcm, prod
from typing import NamedTuple

from flipproof.base.values import checked_count
from flipproof.errors import InvalidInputError
from flipproof.theory.law import FlipNoise, Noise
from flipproof.theory.radii import AnyRadii, Point, axes_of, parts_of, point_of

Number = int | float | Fraction
"""A probability. A float is taken literally, as the binary fraction that it is."""


class Region(NamedTuple):
    """A set of noisy inputs with one likelihood ratio: its mass under the clean and the adversarial input."""

    clean: Fraction
    adversarial: Fraction


class _Mass(NamedTuple):
    """The two masses of a region as integers, over a common denominator that is kept elsewhere."""

    clean: int
    adversarial: int


class _ValueLaw(NamedTuple):
    """The probabilities that noise keeps a value, takes it to one given other value, or to any of the K - 2 others."""

    keep: Fraction
    other: Fraction
    rest: Fraction


class _Entry(NamedTuple):
    """A disputed entry: its outcomes that both inputs can reach, as masses over `denominator`."""

    outcomes: tuple[_Mass, ...]
    denominator: int


_Cells = dict[tuple[int, ...], _Mass]


def regions(noise: Noise, radii: AnyRadii) -> tuple[Region, ...]:
    """The regions of constant likelihood ratio, with distinct ratios, from the largest to the smallest.

    A region has the ratio P(phi(x) = z) / P(phi(x~) = z) for all its z. Only the entries on which x and
    x~ disagree matter; regions with the same ratio are merged, empty regions are left out ("Regions of Constant
    Likelihood Ratio", "Joint Certificates" and "Certificate for Discrete Data" in the paper).

    Example:
        >>> from flipproof.theory.radii import Radii
        >>> for clean, adversarial in regions(FlipNoise(p_plus=0, p_minus=0.25), Radii(delete=1)):
        ...     print(clean, adversarial)
        3/4 0
        1/4 1
    """
    return _regions(noise, point_of(noise, radii))


def rho(noise: Noise, radii: AnyRadii, p_lower: Number) -> Fraction:
    """The least probability that the label can have at x~ when it has `p_lower` at x.

    Fills the regions from the largest ratio until the clean mass is `p_lower` and returns the
    adversarial mass (section "Solving the Optimization Problem" in the paper).

    Example:
        >>> from flipproof.theory.radii import Radii
        >>> rho(FlipNoise(p_plus=0, p_minus=0.25), Radii(delete=1), Fraction(7, 8))
        Fraction(1, 2)
    """
    p = _checked_probability(p_lower, "p_lower")
    return _adversarial_mass(_possible(regions(noise, radii)), p)


def rho_upper(noise: Noise, radii: AnyRadii, p_upper: Number) -> Fraction:
    """The largest probability that a label can have at x~ when it has `p_upper` at x.

    Fills the regions from the smallest ratio; regions without clean mass are filled for free (section
    "Multi-Class Certificates" in the paper). It equals 1 - rho(1 - p_upper).

    Example:
        >>> from flipproof.theory.radii import Radii
        >>> rho_upper(FlipNoise(p_plus=0.25, p_minus=0), Radii(delete=1), 0)
        Fraction(3, 4)
    """
    p = _checked_probability(p_upper, "p_upper")
    return _adversarial_mass(reversed(regions(noise, radii)), p)


def mu(noise: Noise, radii: AnyRadii, p_lower: Number, p_upper: Number | None = None) -> Fraction:
    """The worst-case margin rho(p_lower) - rho_upper(p_upper), where `p_upper` is 1 - p_lower unless given.

    Section "Multi-Class Certificates" in the paper. Without `p_upper` the margin is 2 rho(p_lower) - 1.

    Example:
        >>> from flipproof.theory.radii import Radii
        >>> mu(FlipNoise(p_plus=0, p_minus=0.25), Radii(delete=1), Fraction(7, 8), p_upper=0)
        Fraction(1, 2)
    """
    lower = _checked_probability(p_lower, "p_lower")
    upper = 1 - lower if p_upper is None else p_upper
    return rho(noise, radii, lower) - rho_upper(noise, radii, upper)


def certified(noise: Noise, radii: AnyRadii, p_lower: Number, p_upper: Number | None = None) -> bool:
    """Whether the worst-case margin is positive, strictly.

    Example:
        >>> from flipproof.theory.radii import Radii
        >>> certified(FlipNoise(p_plus=0, p_minus=0.25), Radii(delete=1), Fraction(7, 8))
        False
        >>> certified(FlipNoise(p_plus=0, p_minus=0.25), Radii(delete=1), 0.876)
        True
    """
    return mu(noise, radii, p_lower, p_upper) > 0


def critical_probability(noise: Noise, radii: AnyRadii) -> Fraction | None:
    """The largest p with rho(p) <= 1/2: a `p_lower` certifies exactly when it is larger.

    None when rho(1) <= 1/2, since then nothing certifies.

    Example:
        >>> from flipproof.theory.radii import Radii
        >>> critical_probability(FlipNoise(p_plus=0, p_minus=0.25), Radii(delete=1))
        Fraction(7, 8)
        >>> critical_probability(FlipNoise(p_plus=0, p_minus=0.25), Radii(add=1)) is None
        True
    """
    filled, left = Fraction(0), Fraction(1, 2)
    for region in _possible(regions(noise, radii)):
        if region.adversarial > left:
            return filled + region.clean * left / region.adversarial
        filled += region.clean
        left -= region.adversarial
    return None


def clopper_pearson_tail(votes: int, samples: int, p: Number) -> Fraction:
    """P(Bin(samples, p) >= votes), the probability that Clopper-Pearson compares with alpha.

    Example:
        >>> clopper_pearson_tail(votes=2, samples=3, p=0.5)
        Fraction(1, 2)
    """
    votes, samples = checked_count(votes, "votes"), checked_count(samples, "samples")
    if votes > samples:
        raise InvalidInputError(f"expected votes in [0, {samples}], got {votes}")
    success = _checked_probability(p, "p")
    if 2 * votes > samples:
        return _binomial_tail(votes, samples, success)
    return 1 - _binomial_tail(samples - votes + 1, samples, 1 - success)


def _binomial_tail(votes: int, samples: int, p: Fraction) -> Fraction:
    """Sums comb(n, k) a^(k - votes) b^(n - k) over k >= votes by Horner's rule, with p = a / (a + b)."""
    a, b = p.numerator, p.denominator - p.numerator
    total, power = 0, 1
    for k in range(votes, samples + 1):
        total = total * b + comb(samples, k) * power
        power *= a
    return Fraction(total * a**votes, p.denominator**samples)


def _checked_probability(p: Number, name: str) -> Fraction:
    if isinstance(p, bool) or not 0 <= p <= 1:
        raise InvalidInputError(f"expected {name} in [0, 1], got {p}")
    return Fraction(p)


def _possible(descending: Iterable[Region]) -> Iterable[Region]:
    """The regions with clean mass: a minimum never takes adversarial mass without clean mass."""
    return (region for region in descending if region.clean > 0)


def _adversarial_mass(in_order: Iterable[Region], p: Fraction) -> Fraction:
    """Takes regions in the given order until their clean mass is p."""
    mass, left = Fraction(0), p
    for region in in_order:
        if region.clean > left:
            return mass + region.adversarial * left / region.clean
        mass += region.adversarial
        left -= region.clean
    return mass


@lru_cache(maxsize=32)
def _regions(noise: Noise, point: Point) -> tuple[Region, ...]:
    laws = dict(parts_of(noise))
    counted = [
        (_entry(laws[axis.part], axis.kind), count) for axis, count in zip(axes_of(noise), point, strict=True) if count
    ]
    cells = list(_convolve(counted).values())
    whole = prod(entry.denominator**count for entry, count in counted)
    # The cells leave out the z that only one of the two inputs can reach.
    only_clean = whole - sum(cell.clean for cell in cells)
    only_adversarial = whole - sum(cell.adversarial for cell in cells)
    masses = [_Mass(only_clean, 0), *cells, _Mass(0, only_adversarial)]
    return tuple(
        Region(Fraction(mass.clean, whole), Fraction(mass.adversarial, whole)) for mass in _sorted_merged(masses)
    )


def _entry(law: FlipNoise, kind: str) -> _Entry:
    """The outcomes of one disputed entry: z matches x, z matches x~, z matches neither."""
    zero, nonzero = _value_law(law.p_plus, law.categories), _value_law(law.p_minus, law.categories)
    x, x_adv = {"add": (zero, nonzero), "delete": (nonzero, zero), "change": (nonzero, nonzero)}[kind]
    pairs = ((x.keep, x_adv.other), (x.other, x_adv.keep), (x.rest, x_adv.rest))
    scale = lcm(*(side.denominator for pair in pairs for side in pair))
    masses = (_Mass(int(clean * scale), int(adversarial * scale)) for clean, adversarial in pairs)
    return _Entry(tuple(mass for mass in masses if all(mass)), scale)


def _value_law(flip: float, categories: int) -> _ValueLaw:
    exact = Fraction(flip)
    other = exact / (categories - 1)
    return _ValueLaw(1 - exact, other, exact - other)


def _convolve(counted: list[tuple[_Entry, int]]) -> _Cells:
    """Adds one entry after the other, collecting outcomes with the same product of ratios in one cell.

    A cell is named by the exponents of the distinct ratios > 1 that occur in the entries. Two names may
    still mean the same number: that is left to the merge of the sorted cells.
    """
    ratios = {Fraction(*outcome) for entry, _ in counted for outcome in entry.outcomes}
    bases = sorted({max(ratio, 1 / ratio) for ratio in ratios} - {Fraction(1)})
    cells: _Cells = {(0,) * len(bases): _Mass(1, 1)}
    for entry, count in counted:
        steps = [(outcome, _exponents(Fraction(*outcome), bases)) for outcome in entry.outcomes]
        for _ in range(count):
            cells = _with_entry(cells, steps)
    return cells


def _exponents(ratio: Fraction, bases: list[Fraction]) -> tuple[int, ...]:
    return tuple((ratio == base) - (1 / ratio == base) for base in bases)


def _with_entry(cells: _Cells, steps: list[tuple[_Mass, tuple[int, ...]]]) -> _Cells:
    result: _Cells = {}
    for key, cell in cells.items():
        for outcome, exponents in steps:
            new = tuple(map(operator.add, key, exponents))
            clean, adversarial = result.get(new, (0, 0))
            result[new] = _Mass(
                clean + cell.clean * outcome.clean, adversarial + cell.adversarial * outcome.adversarial
            )
    return result


def _sorted_merged(masses: list[_Mass]) -> list[_Mass]:
    """Sorts masses by ratio, descending; adds up those of equal ratio; drops those that are zero."""
    by_ratio = cmp_to_key(_compare_ratios)
    ordered = sorted((mass for mass in masses if any(mass)), key=by_ratio)
    groups = (list(group) for _, group in groupby(ordered, key=by_ratio))
    return [_Mass(sum(mass.clean for mass in group), sum(mass.adversarial for mass in group)) for group in groups]


def _compare_ratios(one: _Mass, two: _Mass) -> int:
    """Negative when `one` has the larger ratio, 0 when they are equal. A ratio may be infinite."""
    return two.clean * one.adversarial - one.clean * two.adversarial
