"""Lattices: the steps by which one changed entry moves the likelihood ratio, and from which all regions are built.

On a changed entry the noisy value matches the clean input, the adversarial input, or neither. Each
outcome multiplies the likelihood ratio by a fixed factor, so the ratio of a whole region is
const * exp(weight . position) with an integer position (docs/theory.md, statements 4 and 5). Regions are
therefore merged by integers, never by comparing floats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from flipproof.base.rounding import LOG_ERROR, ROUNDOFF
from flipproof.base.values import FloatArray, IntArray
from flipproof.errors import TooLargeError
from flipproof.theory.law import FlipNoise, Noise
from flipproof.theory.radii import Point, by_part

ERROR_PER_STEP = 5 * ROUNDOFF
"""Relative error that one step adds to a mass: coefficient 2, product 1, two sums 2 (statement 7)."""

MAX_WORK = 2**33
"""Largest number of steps on single masses, some twenty seconds; a request that needs more is refused."""

_SORTING_WORK = 100
"""Steps that sorting takes for each mass."""

MAX_MASSES = 2**27
"""Largest number of masses or results held at once, 1 GiB; a request that needs more is refused."""


def refuse_if_large(masses: int, work: int = 0) -> None:
    """Refuses a computation with too many masses in memory or too many steps."""
    for wanted, most, what in ((masses, MAX_MASSES, "numbers in memory"), (work, MAX_WORK, "steps of computation")):
        if wanted > most:
            raise TooLargeError(
                f"expected radii that need at most {most:,} {what}, got {wanted:,}; ask for fewer or smaller radii"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """The outcomes of one changed entry, for each kind of change.

    Attributes:
        shift: [kinds, outcomes, dimensions], how far each outcome moves the integer position.
        clean: [kinds, outcomes], the probability of each outcome under the clean input.
        adversarial: [kinds, outcomes], the probability of each outcome under the adversarial input.
        weight: [dimensions], log likelihood ratio gained by one unit of position; may be infinite.
        weight_error: [dimensions], bound on the absolute error of `weight`.
        inert: [kinds], true where such a change does not move the law of the noisy input.
    """

    shift: IntArray
    clean: FloatArray
    adversarial: FloatArray
    weight: FloatArray
    weight_error: FloatArray
    inert: tuple[bool, ...]

    @property
    def covered(self) -> tuple[bool, ...]:
        """[kinds], true where the noisy clean input can take every value that the noisy adversarial input can take."""
        return tuple(np.all((self.clean > 0.0) | (self.adversarial == 0.0), axis=1).tolist())

    @property
    def covering(self) -> tuple[bool, ...]:
        """[kinds], true where the noisy adversarial input can take every value that the noisy clean input can take."""
        return tuple(np.all((self.adversarial > 0.0) | (self.clean == 0.0), axis=1).tolist())

    def informative(self, point: Point) -> Point:
        """The point with inert kinds of change set to zero: they do not change any region."""
        return tuple(0 if inert else count for inert, count in zip(self.inert, point, strict=True))

    def extent(self, point: Point) -> tuple[int, ...]:
        """The number of positions along each dimension after the changes counted by `point`."""
        farthest = self.shift.max(axis=1).tolist()
        dimensions = range(self.shift.shape[2])
        return tuple(1 + sum(n * far[d] for n, far in zip(point, farthest, strict=True)) for d in dimensions)

    def offsets(self, extent: tuple[int, ...]) -> IntArray:
        """[kinds, outcomes] shifts in an array of shape `extent` that was flattened."""
        strides = np.cumprod([1, *extent[:0:-1]])[::-1]
        return np.asarray(self.shift @ strides, dtype=np.int64)

    def masses(self, point: Point) -> tuple[FloatArray, FloatArray]:
        """The clean and the adversarial masses of all positions after the changes counted by `point`."""
        from flipproof.theory import kernels

        extent, counts = self.extent(point), np.asarray(point, dtype=np.int64)
        refuse_if_large(math.prod(extent), math.prod(extent) * sum(point))
        start, offsets, pad = self.start(extent)
        clean = kernels.step_masses(start, counts, offsets, self.clean, pad)
        return clean[pad:], kernels.step_masses(start, counts, offsets, self.adversarial, pad)[pad:]

    def start(self, extent: tuple[int, ...]) -> tuple[FloatArray, IntArray, int]:
        """The masses before any change, after some zeros; the `offsets` of steps; and the number of zeros."""
        offsets = self.offsets(extent)
        pad = int(offsets.max())
        masses = np.zeros(pad + math.prod(extent))
        masses[pad] = 1.0
        return masses, offsets, pad

    def keys(self, extent: tuple[int, ...]) -> Keys:
        """The keys by which the flattened positions are sorted."""
        infinite = np.isinf(self.weight)
        positions = np.indices(extent).reshape(len(extent), -1)
        signs = np.where(infinite, np.sign(self.weight), 0.0).astype(np.int64)
        weight = np.where(infinite, 0.0, self.weight)
        span = np.asarray(extent) - 1.0
        error = float(span @ self.weight_error) + 4 * ROUNDOFF * float(span @ np.abs(weight))
        return Keys(signs @ positions, weight @ positions, error)


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """Log ratios of positions up to a constant: infinite multiples first, then the finite rest.

    Positions with both masses positive agree in all dimensions of infinite weight. Positions with clean mass only
    are nowhere below and somewhere above them, positions with adversarial mass only nowhere above and somewhere
    below. So the sum of these coordinates sorts all positions, and costs no precision.
    """

    infinite: IntArray
    finite: FloatArray
    error: float

    def plus(self, other: Keys) -> Keys:
        """The keys of all pairs of positions of two parts."""
        finite = np.add.outer(self.finite, other.finite).ravel()
        error = self.error + other.error + 2 * ROUNDOFF * float(np.abs(finite).max(initial=0.0))
        return Keys(np.add.outer(self.infinite, other.infinite).ravel(), finite, error)

    def tail_first(self) -> IntArray:
        """The positions from the smallest ratio to the largest."""
        return np.lexsort((self.finite, self.infinite))


@lru_cache(maxsize=256)
def lattice_of(noise: FlipNoise) -> Lattice:
    """The lattice of a noise: one dimension for binary and symmetric noise, two otherwise."""
    if noise.categories == 2:
        return _binary(noise)
    if noise.p_plus == noise.p_minus:
        return _symmetric(noise)
    return _general(noise)


def work_of(noise: Noise, point: Point) -> int:
    """The approximate number of steps on single masses that the regions at a point take, including the sort."""
    steps = sum(sum(lattice_of(part).informative(counts)) for part, counts in by_part(noise, point))
    return positions_at(noise, point) * (steps + _SORTING_WORK)


def positions_at(noise: Noise, point: Point) -> int:
    """The number of positions in the lattices of all parts together that a point can reach; 1 without lattices."""
    if not noise.flips:
        return 1
    return math.prod(
        math.prod(lattice_of(part).extent(lattice_of(part).informative(counts)))
        for part, counts in by_part(noise, point)
    )


def mass_slack(steps: int) -> float:
    """The slack of `steps` rounded convolution steps, on both kinds of masses (statement 7)."""
    return 2.1 * steps * ERROR_PER_STEP


def _binary(noise: FlipNoise) -> Lattice:
    """Position = number of flips (paper, propositions 1 to 3)."""
    plus, minus = noise.p_plus, noise.p_minus
    keep_zero, keep_one = 1.0 - plus, 1.0 - minus
    weight, error = _log_ratio((plus, minus), (keep_zero, keep_one))
    inert = Fraction(plus) + Fraction(minus) == 1
    return Lattice(
        shift=np.array([[[1], [0], [0]]] * 2),
        clean=np.array([[plus, keep_zero, 0.0], [minus, keep_one, 0.0]]),
        adversarial=np.array([[keep_one, minus, 0.0], [keep_zero, plus, 0.0]]),
        weight=np.array([weight]),
        weight_error=np.array([error]),
        inert=(inert, inert),
    )


def _symmetric(noise: FlipNoise) -> Lattice:
    """Position = matches with the clean minus matches with the adversarial input, shifted to start at 0."""
    keep, flip, other = _outcomes(noise.p_plus, noise.categories)
    weight, error = _log_keep_over_flip(noise.p_plus, noise.categories)
    inert = Fraction(noise.p_plus) * noise.categories == noise.categories - 1
    return Lattice(
        shift=np.array([[[2], [0], [1]]] * 3),
        clean=np.array([[keep, flip, other]] * 3),
        adversarial=np.array([[flip, keep, other]] * 3),
        weight=np.array([weight]),
        weight_error=np.array([error]),
        inert=(inert,) * 3,
    )


def _general(noise: FlipNoise) -> Lattice:
    """Two exponents, of keep/flip for zeros and for non-zeros (statement 5)."""
    zero = _outcomes(noise.p_plus, noise.categories)
    other = _outcomes(noise.p_minus, noise.categories)
    weights = [_log_keep_over_flip(p, noise.categories) for p in (noise.p_plus, noise.p_minus)]
    uniform = [Fraction(p) * noise.categories == noise.categories - 1 for p in (noise.p_plus, noise.p_minus)]
    kept = [dimension for dimension in range(2) if not uniform[dimension]]
    # Outcomes: matches clean, matches adversarial, neither. Shifts start at 0 in both dimensions.
    shift = np.array([[[1, 1], [0, 0], [0, 1]], [[1, 1], [0, 0], [1, 0]], [[0, 2], [0, 0], [0, 1]]])
    swapped = [(x[1], x[0], x[2]) for x in (other, zero, other)]
    return Lattice(
        shift=shift[:, :, kept],
        clean=np.array([zero, other, other]),
        adversarial=np.array(swapped),
        weight=np.array([weights[d][0] for d in kept]),
        weight_error=np.array([weights[d][1] for d in kept]),
        inert=(False, False, uniform[1]),
    )


def _outcomes(flip: float, categories: int) -> tuple[float, float, float]:
    """Probabilities to keep the value, to take one particular other value, to take any of the remaining values.

    A positive probability stays positive: what can happen must not look impossible (statement 9).
    """
    smallest = math.ulp(0.0) if flip > 0.0 else 0.0
    one, rest = flip / (categories - 1), flip * (categories - 2) / (categories - 1)
    return 1.0 - flip, max(one, smallest), max(rest, smallest)


def _log_keep_over_flip(flip: float, categories: int) -> tuple[float, float]:
    """The log of keeping a value over taking one particular other value, without the quotient, which may underflow."""
    return _log_ratio((1.0 - flip, float(categories - 1)), (flip,))


def _log_ratio(above: tuple[float, ...], below: tuple[float, ...]) -> tuple[float, float]:
    """The log of a quotient of products and a bound on its error; a zero factor makes the log infinite."""
    if 0.0 in above or 0.0 in below:
        return (-math.inf if 0.0 in above else math.inf), 0.0
    logs = [math.log(x) for x in above] + [-math.log(x) for x in below]
    # A factor has at most one rounding, and the sum has one more.
    return math.fsum(logs), 1.01 * (LOG_ERROR + 2 * ROUNDOFF) * (math.fsum(map(abs, logs)) + len(logs))
