"""What a number of samples allows at most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from flipproof.smoothing.certificates import Certificates
from flipproof.statistics.bounds import Counts, bounds_from_counts
from flipproof.theory.radii import axes_of
from flipproof.theory.search import largest_radius


def caps(certificates: Certificates) -> tuple[int, ...]:
    """For every axis, the radius of an input on which all samples agree. More samples would raise it."""
    votes = certificates.votes
    unanimous = np.eye(1, votes.classes, dtype=np.int64)
    agreed = bounds_from_counts(
        Counts(unanimous * votes.n_select, votes.n_select),
        Counts(unanimous * votes.n_estimate, votes.n_estimate),
        certificates.budget,
        certificates.rule,
    )
    return tuple(
        largest_radius(certificates.noise, float(agreed.p_lower[0]), str(axis), float(agreed.p_upper[0]))
        for axis in axes_of(certificates.noise)
    )


def with_more_samples(certificates: Certificates, factor: int) -> Certificates:
    """What would be certified with so many times the samples, if they fell as those that are there."""
    votes = certificates.votes
    more = replace(
        votes, estimation=votes.estimation * factor, n_estimate=votes.n_estimate * factor, run=None, tally=None
    )
    bounds = bounds_from_counts(more.selection_counts, more.estimation_counts, certificates.budget, certificates.rule)
    return replace(certificates, votes=more, bounds=bounds)
