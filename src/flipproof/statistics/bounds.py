"""From selection and estimation counts to a label and bounds on its probability and on all others'."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from flipproof.errors import InvalidInputError
from flipproof.statistics.budget import AlphaBudget
from flipproof.statistics.clopper_pearson import lower_bound, upper_bound
from flipproof.theory.arrays import BoolArray, FloatArray, IntArray


class Rule(StrEnum):
    """How the other labels are bounded."""

    MULTI_CLASS = "multi-class"
    """p_upper bounds the most probable other label; part of alpha pays for it where that is worth it."""

    TWO_CLASS = "two-class"
    """p_upper = 1 - p_lower, all of alpha goes to p_lower."""

    @classmethod
    def named(cls, name: str) -> Rule:
        """The rule with this name."""
        try:
            return cls(name)
        except ValueError:
            raise InvalidInputError(f"expected rule to be one of {', '.join(cls)}, got {name!r}") from None


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Votes of one role: [inputs, classes] and the number of samples behind each row."""

    votes: IntArray
    samples: int

    def of(self, label: IntArray) -> IntArray:
        """The votes of one label for each input."""
        return np.take_along_axis(self.votes, label[:, None], axis=1)[:, 0]

    def best_other(self, label: IntArray) -> tuple[IntArray, IntArray]:
        """The label with most votes apart from `label`, and its votes; (label, 0) if there is no other."""
        if self.votes.shape[1] == 1:
            return label, np.zeros_like(label)
        others = self.votes.copy()
        np.put_along_axis(others, label[:, None], -1, axis=1)
        best = others.argmax(axis=1)
        return best, np.take_along_axis(others, best[:, None], axis=1)[:, 0]


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """For every input: the selected label, the strongest other label, and bounds on their probabilities.

    With probability at least 1 - alpha over the estimation samples, the probability of `label` is at least
    `p_lower` and that of every other label at most `p_upper`.
    """

    label: IntArray
    runner_up: IntArray
    p_lower: FloatArray
    p_upper: FloatArray


def planned_split(selection: Counts, n_estimate: int, budget: AlphaBudget, rule: Rule) -> BoolArray:
    """For every input, whether part of alpha should pay for a bound on the other labels.

    Never under the two-class rule. Under the multi-class rule, where the selection votes suggest that it
    buys more than it costs: the estimation votes, not yet looked at, are replaced by what the selection
    votes make us expect, and the way with the larger p_lower - p_upper is taken. If splitting has the
    larger difference it has the larger margin at every radius (docs/theory.md, statement 15). Both ways are
    valid, so a wrong guess costs tightness, not soundness.
    """
    inputs, classes = selection.votes.shape
    if rule is Rule.TWO_CLASS:
        return np.zeros(inputs, dtype=bool)
    if selection.samples == 0 or classes == 1:
        return np.ones(inputs, dtype=bool)
    label = selection.votes.argmax(axis=1)
    scaled = np.rint(selection.votes * (n_estimate / selection.samples)).astype(np.int64)
    expected = Counts(scaled, n_estimate)
    difference = [np.subtract(*_bound_pair(expected, label, budget, np.full(inputs, split))) for split in (False, True)]
    return np.asarray(difference[1] > difference[0])


def bounds_from_counts(selection: Counts, estimation: Counts, budget: AlphaBudget, split: BoolArray) -> Bounds:
    """Selects labels on one set of votes and bounds their probabilities on the other.

    The most probable other label is one fixed label, so its upper bound needs no division of alpha by the
    number of labels, and the largest bound over all others is at least as large (docs/theory.md,
    statement 14). Ties go to the label with the smaller number.

    Example:
        >>> selection, estimation = Counts(np.array([[8, 2]]), 10), Counts(np.array([[90, 10]]), 100)
        >>> bounds_from_counts(selection, estimation, AlphaBudget(0.05), np.array([False])).p_lower.round(3)
        array([0.836])
    """
    label = selection.votes.argmax(axis=1)
    runner_up, _ = estimation.best_other(label)
    return Bounds(label, runner_up, *_bound_pair(estimation, label, budget, split))


def _bound_pair(
    counts: Counts, label: IntArray, budget: AlphaBudget, split: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """(p_lower, p_upper) with alpha divided between the two where `split`, else all of it on p_lower."""
    from flipproof.theory import kernels

    own, (_, other) = counts.of(label), counts.best_other(label)
    p_lower = np.empty(label.shape)
    p_lower[split] = lower_bound(own[split], counts.samples, budget.for_lower)
    p_lower[~split] = lower_bound(own[~split], counts.samples, budget.per_claim)
    p_upper = np.asarray(kernels.complements_up(p_lower))
    if counts.votes.shape[1] == 1:
        p_upper[split] = 0.0  # there is no other label
    else:
        p_upper[split] = np.minimum(p_upper[split], upper_bound(other[split], counts.samples, budget.for_upper))
    return p_lower, p_upper
