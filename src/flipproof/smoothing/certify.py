"""The verb `certify`, from votes to certificates, and what more samples would certify."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from flipproof.errors import InvalidInputError
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.votes import Votes
from flipproof.statistics.bounds import AlphaBudget, Counts, Rule, bounds_from_counts
from flipproof.theory.bounded_inputs import BoundedInputs


def certify(
    votes: Votes, alpha: float = 0.01, rule: str = Rule.MULTI_CLASS, simultaneous: bool = False
) -> Certificates:
    """Turns votes into certificates that are wrong with probability at most alpha.

    Args:
        votes: counts of labels on noisy copies of every input.
        alpha: failure probability, over the estimation samples.
        rule: "multi-class" bounds the strongest other label, "two-class" only the prediction itself.
        simultaneous: False makes the promise for each input by itself, True for all inputs at once (Bonferroni).

    Example:
        >>> from flipproof import FlipNoise, Radii
        >>> noise = FlipNoise(p_plus=0.01, p_minus=0.6)
        >>> votes = Votes.from_counts(selection=[[99, 1]], estimation=[[9990, 10]], noise=noise)
        >>> certificates = certify(votes, alpha=0.01)
        >>> certificates.max_radius("delete"), certificates.certified(Radii(add=1, delete=2))
        (array([11]), array([ True]))
    """
    if not isinstance(votes, Votes):
        raise InvalidInputError(f"expected Votes, got {type(votes).__name__}")
    if not isinstance(simultaneous, bool):
        raise InvalidInputError(f"expected simultaneous to be True or False, got {simultaneous!r}")
    named = Rule.named(rule)
    budget = AlphaBudget(alpha, claims=max(1, len(votes)) if simultaneous else 1, sampling_error=votes.sampling_error)
    bounds = bounds_from_counts(votes.selection_counts, votes.estimation_counts, budget, named)
    return Certificates(votes, budget, named, simultaneous, bounds)


def unanimous_radii(certificates: Certificates) -> tuple[int, ...]:
    """For every axis, the radius of an input whose samples all have the same label. More samples could raise it."""
    votes = certificates.votes
    unanimous = np.eye(1, votes.classes, dtype=np.int64)
    agreed = bounds_from_counts(
        Counts(unanimous * votes.n_select, votes.n_select),
        Counts(unanimous * votes.n_estimate, votes.n_estimate),
        certificates.budget,
        certificates.rule,
    )
    bounded = BoundedInputs(certificates.noise, agreed.p_lower, agreed.p_upper, None, np.zeros(1, dtype=bool))
    return tuple(int(bounded.uncapped_radius(name)[0]) for name in bounded.axis_names)


def with_more_samples(certificates: Certificates, factor: int) -> Certificates:
    """The certificates of `factor` times as many estimation samples with the same shares of labels."""
    votes = certificates.votes
    more = replace(
        votes, estimation=votes.estimation * factor, n_estimate=votes.n_estimate * factor, run=None, vote_counts=None
    )
    bounds = bounds_from_counts(more.selection_counts, more.estimation_counts, certificates.budget, certificates.rule)
    return replace(certificates, votes=more, bounds=bounds)
