"""The two sides of `f_divergence`: how far changes move the noise law, and how far it must move to flip a prediction.

Both are rounded to the safe side: divergences up, thresholds down.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache

import numpy as np

from flipproof.base.rounding import ROUNDOFF, TINY
from flipproof.base.values import FloatArray, chosen
from flipproof.theory.law import FlipNoise, Noise
from flipproof.theory.radii import Point, by_part, kinds_of, parts_of
from flipproof.theory.regions import regions_at

_SAFETY = 1e-11
"""About a hundred times the relative error of some dozen operations on logarithms of at most 800."""


class Divergence(StrEnum):
    """A measure of how far apart two laws are."""

    KL = "kl"
    RENYI = "renyi"
    HOCKEY_STICK = "hockey-stick"

    @classmethod
    def named(cls, name: str) -> Divergence:
        """The divergence with this name."""
        return chosen(cls, name, "divergence")


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
