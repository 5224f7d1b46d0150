"""Regions of constant likelihood ratio, always sorted, and the worst case over all classifiers on them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import product
from typing import TypeVar

import numpy as np

from flipproof.base.rounding import LOG_ERROR, ROUNDOFF, TINY
from flipproof.base.short_repr import amount, short_repr
from flipproof.base.values import FloatArray, checked_kind, checked_probabilities, read_only
from flipproof.errors import InvalidInputError, TooLargeError
from flipproof.theory.lattice import lattice_of, mass_slack, refuse_if_large
from flipproof.theory.law import FlipNoise, Noise
from flipproof.theory.radii import AnyRadii, Point, Radii, by_part, point_of, radii_at

MOST_POINTS = 2**14
"""The largest number of combinations of numbers of changes that is searched; a request that needs more is refused."""

MAX_REGIONS = 2**23
"""Above this, the regions of a joint noise are merged on a grid of log ratios (statement 10)."""

_SUM_TOLERANCE = 1e-6

_T = TypeVar("_T")


def _checked_masses(masses: FloatArray, name: str) -> FloatArray:
    try:
        array = np.asarray(masses)
    except (ValueError, TypeError):
        raise InvalidInputError(f"expected {name} to be a list of masses, got {masses!r}") from None
    if array.dtype.kind not in "fiu":
        raise InvalidInputError(f"expected {name} to be a list of masses, got {masses!r}")
    array = array.astype(np.float64)
    if array.ndim != 1 or not np.all(array >= 0.0) or abs(array.sum() - 1.0) > _SUM_TOLERANCE:
        raise InvalidInputError(f"expected {name} to be non-negative masses that sum to 1, got {array!r}")
    return array


def _merge_extremes(clean: FloatArray, adversarial: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Drops empty regions; one region for ratio infinity and one for ratio zero."""
    both = (clean > 0.0) & (adversarial > 0.0)
    only_clean, only_adversarial = math.fsum(clean[adversarial == 0.0]), math.fsum(adversarial[clean == 0.0])
    clean = np.concatenate([[only_clean], clean[both], [0.0]])
    adversarial = np.concatenate([[0.0], adversarial[both], [only_adversarial]])
    kept = (clean > 0.0) | (adversarial > 0.0)
    return clean[kept], adversarial[kept]


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """A partition of all noisy inputs into regions, sorted by clean / adversarial ratio, descending.

    The constructor sorts, drops empty regions and merges those with ratio infinity and those with ratio
    zero, so an unsorted list cannot exist.

    Attributes:
        clean: the probability that the noisy clean input falls into each region.
        adversarial: the probability that the noisy adversarial input falls into each region.
        slack: bounds the relative error of the masses: with the exact masses, `rho_upper` is at most
            (1 + slack) times its value for these masses.
        covered: true if the noisy clean input can take every value that the noisy adversarial input can take, exactly.
            A label of probability 0 then keeps this probability, however many masses underflowed (statement 9).
        log_ratio: log(clean / adversarial), derived.

    Example:
        >>> Regions(clean=[0.2, 0.8], adversarial=[0.7, 0.3]).clean
        array([0.8, 0.2])
    """

    clean: FloatArray
    adversarial: FloatArray
    slack: float = 0.0
    covered: bool = False
    log_ratio: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        clean, adversarial = (
            _checked_masses(self.clean, "clean"),
            _checked_masses(self.adversarial, "adversarial"),
        )
        if clean.shape != adversarial.shape:
            raise InvalidInputError(
                f"expected clean and adversarial of equal length, got {clean.size} and {adversarial.size}"
            )
        if not isinstance(self.slack, numbers.Real) or not 0.0 <= float(self.slack) < math.inf:
            raise InvalidInputError(f"expected a finite slack >= 0, got {self.slack!r}")
        clean, adversarial = _merge_extremes(clean, adversarial)
        with np.errstate(divide="ignore"):
            log_ratio = np.log(clean) - np.log(adversarial)
        order = np.argsort(-log_ratio, kind="stable")
        object.__setattr__(self, "clean", read_only(clean[order]))
        object.__setattr__(self, "adversarial", read_only(adversarial[order]))
        object.__setattr__(self, "log_ratio", read_only(log_ratio[order]))

    def __repr__(self) -> str:
        return short_repr(self, amount(len(self.clean), "region"), f"slack={self.slack:.2g}")

    @classmethod
    def exact(cls, masses: Iterable[tuple[Fraction, Fraction]]) -> Regions:
        """The regions of exact (clean, adversarial) masses, which sum to 1 each; they are rounded to the safe side.

        Less clean and more adversarial mass can only raise `rho_upper`. Clean masses near the smallest floats become
        zero, adversarial masses near them become larger.

        Example:
            >>> Regions.exact([(Fraction(1, 5), Fraction(7, 10)), (Fraction(4, 5), Fraction(3, 10))]).adversarial
            array([0.3, 0.7])
        """
        every = [(Fraction(clean), Fraction(adversarial)) for clean, adversarial in masses]
        for name, side in (("clean", 0), ("adversarial", 1)):
            if any(pair[side] < 0 for pair in every) or sum(pair[side] for pair in every) != 1:
                raise InvalidInputError(f"expected non-negative {name} masses that sum to 1 exactly, got other masses")
        clean = np.array([_rounded_down(pair[0]) for pair in every])
        adversarial = np.array([_rounded_up(pair[1]) for pair in every])
        covered = all(pair[0] or not pair[1] for pair in every)
        same = all(clean == adversarial for clean, adversarial in every)
        return _IDENTICAL if same else cls(clean, adversarial, mass_slack(1), covered)

    def __len__(self) -> int:
        return self.clean.size

    @property
    def identical(self) -> bool:
        """Whether noisy clean and adversarial inputs have the same law, so that no test can tell them apart."""
        return len(self) == 1

    def joint(self, other: Regions) -> Regions:
        """The regions of two independent parts together: all products, sorted again."""
        other = checked_kind(other, Regions, "other")
        if self.identical:
            return other
        if other.identical:
            return self
        if len(self) * len(other) > MAX_REGIONS:
            return _merged_product(*sorted((self, other), key=len))
        return Regions(
            np.outer(self.clean, other.clean).ravel(),
            np.outer(self.adversarial, other.adversarial).ravel(),
            combined_slack(self.slack, other.slack, 4 * ROUNDOFF),
            self.covered and other.covered,
        )

    def upper_mass(self, s: FloatArray) -> FloatArray:
        """`rho_upper` at every s, rounded up."""
        s = checked_probabilities(s, "s", dimensions=1)
        if self.identical:
            return s
        from flipproof.theory import kernels

        order = np.argsort(s)
        result = np.empty_like(s)
        result[order] = kernels.upper_masses(
            np.maximum(s[order], TINY), *self._tail_first(), self.slack, self.order_slack()
        )
        # Computed masses cannot tell zero from a mass that underflowed; the law of single entries can.
        return np.where((s == 0.0) & self.covered, 0.0, result)

    def lower_mass(self, p: FloatArray) -> FloatArray:
        """`rho` at every p, rounded down: the complement of `rho_upper` at 1 - p (statement 2)."""
        p = checked_probabilities(p, "p", dimensions=1)
        if self.identical:
            return p
        from flipproof.theory import kernels

        return np.asarray(kernels.complement_down(self.upper_mass(kernels.complement_up(p))))

    def margin(self, p_lower: FloatArray, p_upper: FloatArray) -> FloatArray:
        """`mu` for every pair of bounds, rounded down."""
        from flipproof.theory import kernels

        lower, upper = self.lower_mass(p_lower), self.upper_mass(p_upper)
        if lower.size != upper.size:
            raise InvalidInputError(f"expected as many p_upper as p_lower, {lower.size}, got {upper.size}")
        return np.asarray(kernels.subtract_down(lower, upper))

    def critical_clean_mass(self) -> float:
        """The clean mass below which `rho_upper` stays under one half, rounded down."""
        if self.identical:
            return 0.5
        from flipproof.theory import kernels

        clean, adversarial = (masses.reshape(1, -1) for masses in self._tail_first())
        tail = np.array([np.arange(len(self)), np.zeros(len(self), dtype=np.int64)])
        one, slack, result = np.ones((1, 1)), np.array([max(self.slack, ROUNDOFF)]), np.empty((1, 1))
        covered = np.array([self.covered])
        cells = kernels.Cells(
            clean, adversarial, slack, one, one, np.zeros(1), tail, self.order_slack(), covered, covered
        )
        kernels.critical_cells(cells, result)
        return float(result[0, 0])

    def order_slack(self) -> float:
        """Bounds the relative error that sorting by rounded log ratios causes (statement 8)."""
        logs = 1.0 + _largest_log(self.clean) + _largest_log(self.adversarial)
        return 2.1 * (LOG_ERROR + ROUNDOFF) * logs

    def _tail_first(self) -> tuple[FloatArray, FloatArray]:
        return self.clean[::-1].copy(), self.adversarial[::-1].copy()


def _rounded_down(mass: Fraction) -> float:
    nearest = float(mass)
    below = nearest if Fraction(nearest) <= mass else math.nextafter(nearest, 0.0)
    return below if below > TINY else 0.0


def _rounded_up(mass: Fraction) -> float:
    nearest = float(mass)
    above = nearest if Fraction(nearest) >= mass else math.nextafter(nearest, math.inf)
    return max(above, TINY) if mass else 0.0


_IDENTICAL = Regions(np.ones(1), np.ones(1), covered=True)


def regions(noise: Noise, radii: AnyRadii) -> Regions:
    """The regions of constant likelihood ratio between an input and any other input at exactly these radii.

    They depend on the noise and the radii only, not on the input or its size (paper, propositions 1 to 3;
    appendix on discrete data; appendix on joint certificates).

    Example:
        >>> from flipproof import FlipNoise, Radii
        >>> regions(FlipNoise(p_plus=0.01, p_minus=0.6), Radii(delete=1)).clean
        array([0.4, 0.6])
    """
    return regions_at(noise, point_of(noise, radii))


@lru_cache(maxsize=4)
def regions_at(noise: Noise, point: Point) -> Regions:
    """`regions` for radii given as a point."""
    if not noise.flips:
        return _regions_of_law(noise, point)
    changes: dict[FlipNoise, Point] = {}
    for part, counts in by_part(noise, point):
        # Parts with one law are one part with more changes.
        changes[part] = tuple(map(sum, zip(counts, changes.get(part, (0,) * len(counts)), strict=True)))
    total = _IDENTICAL
    for part, counts in changes.items():
        total = total.joint(_part_regions(part, counts))
    return total


@lru_cache(maxsize=1024)
def _regions_of_law(noise: Noise, point: Point) -> Regions:
    """The regions that a law gives itself, if it is not made of flips."""
    if not any(point):
        return _IDENTICAL
    radii = checked_kind(radii_at(noise, point), Radii, "radii")
    return checked_kind(noise.regions(radii), Regions, "the regions of a law")


@lru_cache(maxsize=512)
def _part_regions(part: FlipNoise, point: Point) -> Regions:
    lattice = lattice_of(part)
    point = lattice.informative(point)
    if not any(point):
        return _IDENTICAL
    covered = all(flag for flag, count in zip(lattice.covered, point, strict=True) if count)
    return Regions(*lattice.masses(point), mass_slack(sum(point)), covered)


def worst_at(noise: Noise, point: Point, answer: Callable[[Regions], _T], worse: Callable[[_T, _T], _T]) -> _T:
    """The worst answer of the regions after any changes up to a point.

    Under flips, the largest numbers of changes are the worst (statement 3). Of any other law only the regions are
    known, so those at all points below are asked, too.
    """
    if noise.flips:
        return answer(regions_at(noise, point))
    refuse_many(math.prod(count + 1 for count in point))
    below = product(*(range(count + 1) for count in point))
    return reduce(worse, (answer(regions_at(noise, each)) for each in below))


def worst_margin(noise: Noise, point: Point, p_lower: FloatArray, p_upper: FloatArray) -> FloatArray:
    """The smallest `mu` after any changes up to a point, for every pair of bounds."""
    return worst_at(noise, point, lambda regions: regions.margin(p_lower, p_upper), np.minimum)


def refuse_many(points: int) -> None:
    """Refuses a search through too many combinations of numbers of changes."""
    if points > MOST_POINTS:
        raise TooLargeError(
            f"expected at most {MOST_POINTS:,} combinations of radii under this law, got {points:,}; ask for fewer"
        )


def combined_slack(*slacks: float) -> float:
    """One slack for several factors 1 + slack: their product is at most exp of their sum."""
    return 1.0001 * math.expm1(math.fsum(slacks))


def _merged_product(small: Regions, large: Regions) -> Regions:
    """The regions of a product that is too large to keep, summed into cells of a grid of log ratios.

    Merging regions whose log ratios differ by at most w costs at most a factor exp(w) (statement 10),
    which is added to the slack.
    """
    finite = [part.log_ratio[np.isfinite(part.log_ratio)] for part in (small, large)]
    top, bottom = (sum(extreme(ratios, initial=0.0) for ratios in finite) for extreme in (np.max, np.min))
    width = max(top - bottom, 1e-12) / (MAX_REGIONS - 3)
    clean, adversarial = np.zeros(MAX_REGIONS), np.zeros(MAX_REGIONS)
    refuse_if_large(0, len(small) * len(large))
    batch = max(1, MAX_REGIONS // len(large))
    for start in range(0, len(small), batch):
        rows = slice(start, start + batch)
        with np.errstate(invalid="ignore"):  # inf - inf: both masses are zero there
            below_top = (top - np.add.outer(small.log_ratio[rows], large.log_ratio).ravel()) / width
        # The first and the last cell belong to the infinite ratios, whatever rounding says.
        inner = 1.0 + np.clip(np.floor(below_top), 0, MAX_REGIONS - 3)
        cell = np.where(below_top == -np.inf, 0.0, np.where(below_top == np.inf, MAX_REGIONS - 1.0, inner))
        cell = np.nan_to_num(cell, nan=0.0).astype(np.int64)
        clean += np.bincount(cell, np.outer(small.clean[rows], large.clean).ravel(), MAX_REGIONS)
        adversarial += np.bincount(cell, np.outer(small.adversarial[rows], large.adversarial).ravel(), MAX_REGIONS)
    rounding = small.order_slack() + large.order_slack() + 2 * (len(large) * batch + len(small) + 4) * ROUNDOFF
    slack = combined_slack(small.slack, large.slack, 1.01 * width, rounding)
    return Regions(clean, adversarial, slack, small.covered and large.covered)


def _largest_log(masses: FloatArray) -> float:
    return float(-np.log(masses[masses > 0.0].min(initial=1.0)))
