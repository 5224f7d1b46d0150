r"""Certificates from divergences (Dvijotham et al., ICLR 2020), which use only how far the noise law is moved.

An attacker who changes x to x~ moves the law P of the noisy input to another law Q. The prediction stays if D(Q || P)
is below the smallest divergence of any law under which the runner-up is as probable as the prediction. Only the two
bounds on probabilities are used ("information-limited"), so this can never prove more than `flipproof.certify`, which
uses everything known about P and Q. The proof is about the smoothed classifier and holds for any changes within the
radii. With a = p_lower, b = p_upper, the prediction is proved if

- KL: D < -log(1 - (sqrt a - sqrt b)^2),
- Renyi of order k: D < -log(1 - a - b + 2 ((a^(1-k) + b^(1-k)) / 2)^(1/(1-k))), for some k of a grid,
- hockey-stick of order k, the sum of max(Q - k P, 0) less max(1 - k, 0): D < (k (a - b) - |k - 1|) / 2, for some k.

KL and Renyi divergences of independent entries add up, so they are cheap; the hockey-stick divergence needs the
regions. All numbers are rounded to the safe side: divergences up, thresholds down.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache

import numpy as np

from flipproof.base.rounding import ROUNDOFF, TINY
from flipproof.base.values import BoolArray, FloatArray, IntArray, checked_count, chosen
from flipproof.baselines.proofs import Proofs
from flipproof.errors import InvalidInputError
from flipproof.smoothing.certify import certify as certify_tightly
from flipproof.smoothing.votes import Votes
from flipproof.statistics.bounds import Rule
from flipproof.theory.certificate import Promise, Subject
from flipproof.theory.law import FlipNoise, Noise, checked_pairs
from flipproof.theory.radii import AnyRadii, Point, axis_index, by_part, kinds_of, parts_of, point_of, unit_of
from flipproof.theory.regions import regions_at


class Divergence(StrEnum):
    """A measure of how far apart two laws are."""

    KL = "kl"
    RENYI = "renyi"
    HOCKEY_STICK = "hockey-stick"


ORDERS = (
    *(float(order) for order in np.arange(0.02, 1.0, 0.02)),
    1.0,
    *(float(order) for order in 1.0 + 2.0 ** np.arange(-6.0, 12.0, 0.25)),
)
"""The orders of the Renyi divergence to try; at order 1 it is the KL divergence."""
HOCKEY_STICKS = tuple(float(order) for order in 2.0 ** np.arange(-2.0, 20.0, 0.25))

_SAFETY = 1e-11
"""About a hundred times the relative error of some dozen operations on logarithms of at most 800."""

_ORDERS_OF = {Divergence.KL: (1.0,), Divergence.RENYI: ORDERS, Divergence.HOCKEY_STICK: HOCKEY_STICKS}


def certified(
    noise: Noise, radii: AnyRadii, p_lower: FloatArray, p_upper: FloatArray | None = None, divergence: str = "renyi"
) -> BoolArray:
    """Whether predictions with these bounds on their probabilities are proved at the radii.

    Example:
        >>> from flipproof import FlipNoise, Radii
        >>> certified(FlipNoise(0.01, 0.6), Radii(delete=3), np.array([0.7, 0.999]))
        array([False,  True])
    """
    return _certified(
        noise, point_of(noise, radii), *_pairs(p_lower, p_upper), chosen(Divergence, divergence, "divergence")
    )


def critical_probability(noise: Noise, radii: AnyRadii, divergence: str = "renyi") -> float:
    """The smallest p_lower that proves the radii when nothing else is known (p_upper = 1 - p_lower), to nine digits.

    Example:
        >>> from flipproof import FlipNoise, Radii
        >>> round(critical_probability(FlipNoise(0.8, 0.8, categories=256), Radii(change=1)), 4)
        0.943
    """
    point, kind = point_of(noise, radii), chosen(Divergence, divergence, "divergence")
    below, above = 0.5, 1.0
    if not _certified(noise, point, *_pairs(np.array([above]), None), kind)[0]:
        return math.inf
    while above - below > 1e-10:
        middle = (below + above) / 2
        proved = _certified(noise, point, *_pairs(np.array([middle]), None), kind)[0]
        below, above = (below, middle) if proved else (middle, above)
    return above


def certify(
    votes: Votes,
    along: str = "delete",
    alpha: float = 0.01,
    rule: str = Rule.MULTI_CLASS,
    divergence: str = "renyi",
    limit: int = 1_000,
) -> Proofs:
    """The largest number of changes of one kind that a divergence proves, from votes of `flipproof.vote`.

    Each input's certificate is correct with probability at least 1 - alpha over the samples.

    Example:
        >>> from flipproof import FlipNoise
        >>> votes = Votes.from_counts(selection=[[99, 1]], estimation=[[9990, 10]], noise=FlipNoise(0.01, 0.6))
        >>> certify(votes, "add").radius, certify_tightly(votes).max_radius("add")
        (array([2]), array([3]))
    """
    tight = certify_tightly(votes, alpha, rule)
    radius = largest_radius(tight.noise, tight.p_lower, tight.p_upper, along, divergence, limit)
    how = f"{chosen(Divergence, divergence, 'divergence')} divergence, {tight.rule}"
    promise = Promise("Dvijotham et al. 2020", Subject.SMOOTHED, f"r changes, all of kind {along}", how, alpha)
    return Proofs(promise, tight.label, radius, tight.abstained, ids=votes.ids, checked=votes.checked)


def largest_radius(
    noise: Noise,
    p_lower: FloatArray,
    p_upper: FloatArray | None = None,
    along: str = "delete",
    divergence: str = "renyi",
    limit: int = 1_000,
) -> IntArray:
    """The largest number of changes of one kind that is proved for these bounds on the probabilities.

    Example:
        >>> from flipproof import FlipNoise
        >>> largest_radius(FlipNoise(0.01, 0.6), np.array([0.6, 0.9, 0.999]), along="add")
        array([0, 0, 2])
    """
    kind, axis, most = (
        chosen(Divergence, divergence, "divergence"),
        axis_index(noise, along),
        checked_count(limit, "limit"),
    )
    lower, upper = _pairs(p_lower, p_upper)
    pairs, index = np.unique(np.stack([lower.ravel(), upper.ravel()]), axis=1, return_inverse=True)
    if kind is Divergence.HOCKEY_STICK:
        radius = _radii_one_by_one(noise, axis, pairs, most)
    else:
        radius = _radii_of_sums(noise, axis, pairs, kind, most)
    return radius[index.ravel()].reshape(lower.shape)


def _radii_of_sums(noise: Noise, axis: int, pairs: FloatArray, kind: Divergence, limit: int) -> IntArray:
    """The largest radii where divergences of single changes add up: quotients, corrected for rounding."""
    radius = np.zeros(pairs.shape[1], dtype=np.int64)
    for order in _ORDERS_OF[kind]:
        one, threshold = (
            bound_at(noise, unit_of(noise, axis, 1), kind, order),
            threshold_at(pairs[0], pairs[1], kind, order),
        )
        if one == math.inf:
            continue
        count = np.minimum(np.ceil(threshold / one), limit)
        count -= ~(count * one < threshold)
        radius = np.maximum(radius, count.astype(np.int64))
    return np.where(pairs[0] > pairs[1], radius.clip(0), 0)


def _radii_one_by_one(noise: Noise, axis: int, pairs: FloatArray, limit: int) -> IntArray:
    radius, alive = np.zeros(pairs.shape[1], dtype=np.int64), np.ones(pairs.shape[1], dtype=bool)
    for count in range(1, limit + 1):
        alive &= _certified(noise, unit_of(noise, axis, count), pairs[0], pairs[1], Divergence.HOCKEY_STICK)
        if not alive.any():
            break
        radius[alive] = count
    return radius


def divergence_bound(noise: Noise, radii: AnyRadii, divergence: str, order: float = 1.0) -> float:
    """An upper bound on D(noisy changed input || noisy input) for changes at the radii.

    Example:
        >>> from flipproof import FlipNoise, Radii
        >>> round(divergence_bound(FlipNoise(0.01, 0.6), Radii(delete=1), "kl"), 6)
        0.458879
    """
    kind = chosen(Divergence, divergence, "divergence")
    if isinstance(order, bool) or not isinstance(order, numbers.Real) or not 0.0 < order < math.inf:
        raise InvalidInputError(f"expected a positive, finite order, got {order!r}")
    if kind is Divergence.KL and order != 1.0:
        raise InvalidInputError(f"expected order 1 for the KL divergence, got {order}")
    return bound_at(noise, point_of(noise, radii), kind, float(order))


def _pairs(p_lower: FloatArray, p_upper: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    lower, upper = checked_pairs(p_lower, p_upper)
    return np.atleast_1d(lower), np.atleast_1d(upper)


def _certified(
    noise: Noise, point: Point, p_lower: FloatArray, p_upper: FloatArray, divergence: Divergence
) -> BoolArray:
    proved = np.zeros(p_lower.shape, dtype=bool)
    for order in _ORDERS_OF[divergence]:
        proved |= bound_at(noise, point, divergence, order) < threshold_at(p_lower, p_upper, divergence, order)
    return proved & (p_lower > p_upper)


def threshold_at(p_lower: FloatArray, p_upper: FloatArray, divergence: Divergence, order: float) -> FloatArray:
    """The smallest divergence at which the runner-up may catch up, rounded down."""
    if divergence is Divergence.HOCKEY_STICK:
        gap = np.nextafter(p_lower - p_upper, -1.0)
        return np.asarray((order * gap - abs(order - 1.0)) / 2 - 4e-16 * (1.0 + order))
    # The power mean of order 1 - k of the two probabilities; for k = 1 it is their geometric mean.
    with np.errstate(divide="ignore", over="ignore"):
        if order == 1.0:
            mean = np.sqrt(p_lower * p_upper)
        else:
            logs = np.log(p_lower), np.log(p_upper)
            power = 1.0 - order
            mean = np.exp((np.logaddexp(power * logs[0], power * logs[1]) - math.log(2.0)) / power)
    moved = p_lower + p_upper - 2.0 * mean * (1.0 + _SAFETY) - _SAFETY * 1e-3
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log1p(-np.clip(moved, 0.0, 1.0)) * (1.0 - _SAFETY))


@lru_cache(maxsize=4096)
def bound_at(noise: Noise, point: Point, divergence: Divergence, order: float) -> float:
    """An upper bound on D(noisy changed input || noisy input) for noise that flips entries."""
    parts_of(noise)  # refuses other laws, for which more changes are not known to be worse
    if divergence is Divergence.HOCKEY_STICK:
        # The largest Q(S) - k P(S) over all sets S; Q(S) is at most (1 + slack) times the sum of its masses.
        regions = regions_at(noise, point)
        apart = np.maximum(regions.adversarial * (1.0 + regions.slack) - order * regions.clean, 0.0)
        rounded = 8.0 * ROUNDOFF * (1.0 + order)
        return math.fsum(apart) - max(1.0 - order, 0.0) + rounded
    total = 0.0
    for part, counts in by_part(noise, point):
        for kind, count in zip(kinds_of(part), counts, strict=True):
            if count:
                total += count * _entry_divergence(part, kind, order)
    return total * (1.0 + _SAFETY) + _SAFETY * 1e-3


def _entry_divergence(part: FlipNoise, kind: str, order: float) -> float:
    """The Renyi divergence for one changed entry; at order 1 it is the KL divergence."""
    terms, largest = [], 1.0
    for p, q, times in _outcomes(part, kind):
        # Subnormal numbers have lost their digits; treating them as zero errs on the safe side or not at all.
        if q < TINY or times == 0:
            continue
        if p < TINY:
            if order >= 1.0:
                return math.inf  # the changed entry can show a value that the clean one could not
            continue
        log_ratio = math.log(q) - math.log(p)
        largest = max(largest, abs(math.log(q)) + abs(order - 1.0) * (abs(math.log(q)) + abs(math.log(p))))
        if order == 1.0:
            terms.append(times * q * log_ratio)
        else:
            terms.append(math.log(times) + math.log(q) + (order - 1.0) * log_ratio)
    if not terms:
        return math.inf
    rounded = 64.0 * ROUNDOFF * (largest + abs(math.log(part.categories)))
    if order == 1.0:
        return max(0.0, math.fsum(terms) + rounded + 64.0 * ROUNDOFF * math.fsum(map(abs, terms)))
    return max(0.0, float(np.logaddexp.reduce(terms)) / (order - 1.0) + rounded / abs(order - 1.0))


def _outcomes(part: FlipNoise, kind: str) -> Iterator[tuple[float, float, int]]:
    """The outcomes of noise on an entry: probability before and after the change, and how many values share them."""
    before = part.p_plus if kind == "add" else part.p_minus
    after = part.p_plus if kind == "delete" else part.p_minus
    others = part.categories - 1
    yield 1.0 - before, after / others, 1
    yield before / others, 1.0 - after, 1
    yield before / others, after / others, part.categories - 2
