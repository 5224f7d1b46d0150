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

import numpy as np

from flipproof.base.values import BoolArray, FloatArray, IntArray, checked_count
from flipproof.baselines.from_votes.divergences import Divergence as Divergence
from flipproof.baselines.from_votes.divergences import bound_at, threshold_at
from flipproof.baselines.proofs import Proofs
from flipproof.errors import InvalidInputError
from flipproof.smoothing.certify import certify as certify_tightly
from flipproof.smoothing.votes import Votes
from flipproof.statistics.bounds import Rule
from flipproof.theory.certificate import Promise, Subject
from flipproof.theory.law import Noise, checked_pairs
from flipproof.theory.radii import AnyRadii, Point, axis_index, point_of, unit_of

ORDERS = (
    *(float(order) for order in np.arange(0.02, 1.0, 0.02)),
    1.0,
    *(float(order) for order in 1.0 + 2.0 ** np.arange(-6.0, 12.0, 0.25)),
)
"""The orders of the Renyi divergence to try; at order 1 it is the KL divergence."""
HOCKEY_STICKS = tuple(float(order) for order in 2.0 ** np.arange(-2.0, 20.0, 0.25))

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
    return _certified(noise, point_of(noise, radii), *_pairs(p_lower, p_upper), Divergence.named(divergence))


def critical_probability(noise: Noise, radii: AnyRadii, divergence: str = "renyi") -> float:
    """The smallest p_lower that proves the radii when nothing else is known (p_upper = 1 - p_lower), to nine digits.

    Example:
        >>> from flipproof import FlipNoise, Radii
        >>> round(critical_probability(FlipNoise(0.8, 0.8, categories=256), Radii(change=1)), 4)
        0.943
    """
    point, kind = point_of(noise, radii), Divergence.named(divergence)
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
    how = f"{Divergence.named(divergence)} divergence, {tight.rule}"
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
    kind, axis, most = Divergence.named(divergence), axis_index(noise, along), checked_count(limit, "limit")
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
    kind = Divergence.named(divergence)
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
