"""From selection and estimation counts to a label and bounds on its probability and on all others'."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from flipproof.base.arguments import chosen
from flipproof.base.arrays import FloatArray, IntArray, read_only
from flipproof.statistics.budget import AlphaBudget
from flipproof.statistics.clopper_pearson import lower_bound, upper_bound


class Rule(StrEnum):
    """How the other labels are bounded."""

    MULTI_CLASS = "multi-class"
    """p_upper bounds the most probable other label, and a tenth of alpha pays for it (if there are several)."""

    TWO_CLASS = "two-class"
    """p_upper = 1 - p_lower, all of alpha goes to p_lower."""

    @classmethod
    def named(cls, name: str) -> Rule:
        """The rule with this name."""
        return chosen(cls, name, "rule")


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

    def __post_init__(self) -> None:
        for name in ("label", "runner_up", "p_lower", "p_upper"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


def splits_alpha(rule: Rule, classes: int) -> bool:
    """Whether two bounds share alpha. With two labels 1 - p_lower already bounds the other, so that would only cost.

    Example:
        >>> splits_alpha(Rule.MULTI_CLASS, 3), splits_alpha(Rule.MULTI_CLASS, 2)
        (True, False)
    """
    return rule is Rule.MULTI_CLASS and classes > 2


def bounds_from_counts(selection: Counts, estimation: Counts, budget: AlphaBudget, rule: Rule) -> Bounds:
    """Selects labels on one set of votes and bounds their probabilities on the other.

    The most probable other label is one fixed label, so its upper bound needs no division of alpha by the
    number of labels, and the largest bound over all others is at least as large (docs/theory.md,
    statement 14). Ties go to the label with the smaller number.

    Example:
        >>> selection, estimation = Counts(np.array([[8, 2]]), 10), Counts(np.array([[90, 10]]), 100)
        >>> bounds_from_counts(selection, estimation, AlphaBudget(0.05), Rule.TWO_CLASS).p_lower.round(3)
        array([0.836])
    """
    from flipproof.theory import kernels

    label = selection.votes.argmax(axis=1)
    own, (runner_up, other) = estimation.of(label), estimation.best_other(label)
    classes = estimation.votes.shape[1]
    split = splits_alpha(rule, classes)
    p_lower = lower_bound(own, estimation.samples, budget.for_lower if split else budget.per_claim)
    p_upper = np.asarray(kernels.complements_up(p_lower))
    if split:
        p_upper = np.minimum(p_upper, upper_bound(other, estimation.samples, budget.for_upper))
    elif rule is Rule.MULTI_CLASS and classes == 1:
        p_upper = np.zeros_like(p_upper)  # there is no other label
    return Bounds(label, runner_up, p_lower, p_upper)
