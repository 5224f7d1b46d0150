"""Bounds from votes, for certificates whose noise has a rule of its own."""

from __future__ import annotations

import numpy as np

from flipproof.smoothing.votes import Votes
from flipproof.statistics.bounds import Bounds, Rule, bounds_from_counts
from flipproof.statistics.budget import AlphaBudget
from flipproof.theory.arrays import BoolArray


def bounds_of(votes: Votes, alpha: float, rule: Rule) -> tuple[Bounds, BoolArray]:
    """Labels with bounds on their probabilities, and where none is ahead of all others."""
    budget = AlphaBudget(alpha, sampling_error=votes.sampling_error)
    bounds = bounds_from_counts(votes.selection_counts, votes.estimation_counts, budget, rule)
    unseen = (votes.selection.sum(axis=1) == 0) | (votes.estimation.sum(axis=1) == 0)
    return bounds, np.asarray(unseen | (bounds.p_lower <= bounds.p_upper))
