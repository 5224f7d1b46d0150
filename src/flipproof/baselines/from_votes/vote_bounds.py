"""Turns votes into radii, for certificates with their own rule for the radius."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import BoolArray, FloatArray
from flipproof.baselines.proofs import Proofs
from flipproof.errors import InvalidInputError
from flipproof.smoothing.votes import Votes
from flipproof.statistics.bounds import AlphaBudget, Bounds, Rule, bounds_from_counts
from flipproof.theory.certificate import Promise, Subject

RadiusRule = Callable[[FloatArray, FloatArray], NDArray[Any]]
"""Maps the bounds p_lower and p_upper to the largest radii."""


def checked_votes(votes: Any) -> Votes:
    """Returns the argument if it is a `Votes`, and raises an error otherwise."""
    if not isinstance(votes, Votes):
        raise InvalidInputError(f"expected Votes, got {type(votes).__name__}")
    return votes


def proofs_of(votes: Votes, system: str, threat: str, alpha: float, rule: str, radius_at: RadiusRule) -> Proofs:
    """The proofs about the smoothed classifier that votes give under a system's rule for the radius."""
    named = Rule.named(rule)
    bounds, abstained = bounds_of(votes, alpha, named)
    promise = Promise(system, Subject.SMOOTHED, threat, str(named), alpha)
    radius = radius_at(bounds.p_lower, bounds.p_upper)
    return Proofs(promise, bounds.label, radius, abstained, ids=votes.ids, checked=votes.checked)


def bounds_of(votes: Votes, alpha: float, rule: Rule) -> tuple[Bounds, BoolArray]:
    """Labels with bounds on their probabilities, and where no label is proved to lead all others."""
    budget = AlphaBudget(alpha, sampling_error=votes.sampling_error)
    bounds = bounds_from_counts(votes.selection_counts, votes.estimation_counts, budget, rule)
    unseen = (votes.selection.sum(axis=1) == 0) | (votes.estimation.sum(axis=1) == 0)
    return bounds, np.asarray(unseen | (bounds.p_lower <= bounds.p_upper))
