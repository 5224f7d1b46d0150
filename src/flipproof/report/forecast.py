"""What more samples would certify, if every label kept its share of the votes. A forecast, not a promise."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from flipproof.base.arrays import IntArray
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.sample_limits import caps
from flipproof.statistics.bounds import bounds_from_counts
from flipproof.statistics.clopper_pearson import MAX_SAMPLES
from flipproof.theory.radii import UNBOUNDED, axes_of
from flipproof.theory.search import SEARCH_LIMIT

FACTORS = (1, 2, 10, 100)


@dataclass(frozen=True, slots=True)
class AxisForecast:
    """Along one axis: how many inputs would have a larger radius than today, the mean radius, and the cap.

    What cannot be known, because a search for radii ends, is None.
    """

    name: str
    more: int | None
    mean: float | None
    cap: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a number of samples would certify."""

    samples: int
    abstained: int
    axes: tuple[AxisForecast, ...]


def forecasts(certificates: Certificates) -> tuple[Forecast, ...]:
    """For the present number of samples and for multiples of it."""
    today = _radii(certificates)
    factors = [k for k in FACTORS if k * certificates.votes.n_estimate <= MAX_SAMPLES]
    return tuple(_forecast(with_more_samples(certificates, k), today) for k in factors)


def at_cap(certificates: Certificates) -> dict[str, int]:
    """For every axis, the inputs whose radius is all that the number of samples allows."""
    found = {}
    for name, cap in zip(map(str, axes_of(certificates.noise)), caps(certificates), strict=True):
        held_back = (certificates.uncapped_radius(name) == cap) & (certificates.max_radius(name) == cap)
        found[name] = int((~certificates.abstained & held_back).sum()) if cap < SEARCH_LIMIT else 0
    return found


def with_more_samples(certificates: Certificates, factor: int) -> Certificates:
    """What would be certified with so many times the samples, if they fell as those that are there."""
    if factor == 1:
        return certificates
    votes = certificates.votes
    more = replace(
        votes, estimation=votes.estimation * factor, n_estimate=votes.n_estimate * factor, run=None, tally=None
    )
    bounds = bounds_from_counts(more.selection_counts, more.estimation_counts, certificates.budget, certificates.rule)
    return replace(certificates, votes=more, bounds=bounds)


def _forecast(certificates: Certificates, today: dict[str, IntArray]) -> Forecast:
    then = _radii(certificates)
    axes = tuple(
        AxisForecast(name, _gaining(today[name], radii), mean_radius(radii), cap)
        for (name, radii), cap in zip(then.items(), caps(certificates), strict=True)
    )
    return Forecast(certificates.votes.n_estimate, int(certificates.abstained.sum()), axes)


def _gaining(today: IntArray, then: IntArray) -> int | None:
    beyond_search = (today >= SEARCH_LIMIT) & (today < UNBOUNDED)
    return None if beyond_search.any() else int((then > today).sum())


def _radii(certificates: Certificates) -> dict[str, IntArray]:
    return {str(axis): certificates.max_radius(str(axis)) for axis in axes_of(certificates.noise)}


def mean_radius(radii: IntArray) -> float | None:
    """None where some radii are only known to be large."""
    return float(np.mean(radii)) if radii.size and radii.max() < SEARCH_LIMIT else None
