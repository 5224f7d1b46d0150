"""From vote counts to a label and bounds on probabilities, and the budget of failure probability that pays for them.

The confidence bounds are those of Clopper and Pearson, proved and not only computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from flipproof.base.short_repr import amount, shape_words, short_repr
from flipproof.base.values import (
    FloatArray,
    IntArray,
    checked_count,
    checked_probability,
    chosen,
    read_only,
)
from flipproof.errors import InvalidInputError

MAX_SAMPLES = 2**50
SMALLEST_ALPHA = 1e-100


def lower_bound(votes: ArrayLike, samples: int, alpha: float) -> Any:
    """A lower bound on the probability of an event that happened `votes` times.

    The largest p with P(Binomial(samples, p) >= votes) <= alpha, rounded down (Clopper and Pearson 1934;
    docs/theory.md, statement 13). With probability at least 1 - alpha over the samples, the true
    probability is not below this bound. 0 for 0 votes.

    Example:
        >>> round(lower_bound(99_000, 100_000, alpha=0.01), 6)
        0.989243
    """
    return _bound(votes, samples, alpha, "lower")


def upper_bound(votes: ArrayLike, samples: int, alpha: float) -> Any:
    """An upper bound on the probability of an event that happened `votes` times.

    The smallest p with P(Binomial(samples, p) <= votes) <= alpha, rounded up (docs/theory.md, statement 13). With
    probability at least 1 - alpha over the samples, the true probability is not above this bound. 1 if the event
    happened in every sample.

    Example:
        >>> round(upper_bound(1_000, 100_000, alpha=0.01), 6)
        0.010757
    """
    return _bound(votes, samples, alpha, "upper")


def checked_alpha(alpha: object) -> float:
    """Returns alpha as a float strictly between 0 and 1, and large enough for a proof in float64."""
    try:
        number = checked_probability(alpha, "alpha")
    except InvalidInputError:
        number = 0.0
    if not 0.0 < number < 1.0:
        raise InvalidInputError(f"expected alpha strictly between 0 and 1, got {alpha!r}") from None
    if number < SMALLEST_ALPHA:
        raise InvalidInputError(f"expected alpha (for each input) of at least {SMALLEST_ALPHA}, got {alpha!r}")
    return number


def checked_samples(value: object, name: str) -> int:
    """Returns a number of samples, and refuses one that float64 cannot count."""
    samples = checked_count(value, name)
    if samples > MAX_SAMPLES:
        raise InvalidInputError(f"expected {name} of at most {MAX_SAMPLES}, got {samples}")
    return samples


def _bound(votes: ArrayLike, samples: int, alpha: float, side: Literal["lower", "upper"]) -> Any:
    """The bounds of all counts, computed once for every distinct count: a guess is moved until it is proved."""
    samples, counts = checked_samples(samples, "samples"), np.asarray(votes)
    if counts.dtype.kind not in "iu":
        raise InvalidInputError(f"expected votes to be integers, got {counts.dtype}")
    wrong = (counts < 0) | (counts > samples)
    if wrong.any():
        raise InvalidInputError(f"expected votes between 0 and {samples}, got {int(counts[wrong].flat[0])}")
    counts, alpha = counts.astype(np.int64), checked_alpha(alpha)
    distinct, index = np.unique(counts, return_inverse=True)
    bounds = np.full(distinct.size, 0.0 if side == "lower" else 1.0)
    open_ = distinct > 0 if side == "lower" else distinct < samples
    if open_.any():
        from scipy.special import betainccinv, betaincinv

        from flipproof.statistics import kernels

        k = distinct[open_]
        if side == "lower":
            guess, direction = betaincinv(k, samples - k + 1.0, alpha), kernels.LOWER
        else:
            guess, direction = betainccinv(k + 1.0, samples - k, alpha), kernels.UPPER
        bounds[open_] = kernels.proved_bounds(k, samples, alpha, np.nan_to_num(guess, nan=0.5), direction)
    result = bounds[index.ravel()].reshape(counts.shape)
    return result.item() if counts.ndim == 0 else result


LOWER_SHARE = 0.9
"""The part of alpha that bounds the predicted label under the multi-class rule; the rest bounds all other labels."""


@dataclass(frozen=True, slots=True)
class AlphaBudget:
    """The failure probability `alpha` of certificates, shared by `claims` inputs.

    With one claim the promise holds for each input by itself; with as many claims as inputs it holds for
    all inputs at once (Bonferroni). All parts are rounded down, so together they never exceed alpha.
    `sampling_error` bounds the distance between the law of the samples and the exact law; it is subtracted from
    alpha once for all inputs.

    Example:
        >>> budget = AlphaBudget(alpha=0.01, claims=4)
        >>> budget.for_lower + budget.for_upper <= budget.per_claim <= 0.01 / 4
        True
    """

    alpha: float
    claims: int = 1
    lower_share: float = LOWER_SHARE
    sampling_error: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", checked_alpha(self.alpha))
        if not 0.0 <= self.sampling_error < self.alpha:
            raise InvalidInputError(
                f"expected alpha above {self.sampling_error:.2g}, which sampling may cost, got {self.alpha!r}"
            )
        if checked_count(self.claims, "claims") < 1:
            raise InvalidInputError(f"expected at least one claim, got {self.claims}")
        if self.claims > 1 or self.sampling_error:
            checked_alpha(self.per_claim)
        if not 0.0 < self.lower_share < 1.0:
            raise InvalidInputError(f"expected lower_share strictly between 0 and 1, got {self.lower_share!r}")

    @property
    def per_claim(self) -> float:
        """The part of alpha that one input may spend."""
        left = self.alpha
        if self.sampling_error:
            left = math.nextafter(self.alpha - self.sampling_error, 0.0)
        return left if self.claims == 1 else math.nextafter(left / self.claims, 0.0)

    @property
    def for_lower(self) -> float:
        """The part of alpha that the bound on the predicted label may spend under the multi-class rule."""
        return math.nextafter(self.lower_share * self.per_claim, 0.0)

    @property
    def for_upper(self) -> float:
        """The part of alpha that the bound on all other labels may spend under the multi-class rule."""
        return math.nextafter(self.per_claim - self.for_lower, 0.0)

    def shared_by(self, claims: int) -> AlphaBudget:
        """The budget with the same alpha for another number of inputs."""
        return AlphaBudget(self.alpha, claims, self.lower_share, self.sampling_error)


class Rule(StrEnum):
    """The rule that bounds the probabilities of the other labels."""

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

    def __repr__(self) -> str:
        return short_repr(self, shape_words(self.votes), amount(self.samples, "sample"))

    def of(self, label: IntArray) -> IntArray:
        """The votes of one label for each input."""
        return np.take_along_axis(self.votes, label[:, None], axis=1)[:, 0]

    def best_other(self, label: IntArray) -> tuple[IntArray, IntArray]:
        """The label with most votes apart from `label`, and its votes; (label, 0) if there is no other label."""
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

    def __repr__(self) -> str:
        return short_repr(self, amount(len(self.label), "input"))


def splits_alpha(rule: Rule, classes: int) -> bool:
    """Whether two bounds share alpha. With two labels 1 - p_lower already bounds the other one, at no further cost.

    Example:
        >>> splits_alpha(Rule.MULTI_CLASS, 3), splits_alpha(Rule.MULTI_CLASS, 2)
        (True, False)
    """
    return rule is Rule.MULTI_CLASS and classes > 2


def bounds_from_counts(selection: Counts, estimation: Counts, budget: AlphaBudget, rule: Rule) -> Bounds:
    """Selects labels on one set of votes and bounds their probabilities on the other.

    The most probable other label is one fixed label, so its upper bound needs no division of alpha by the
    number of labels, and the largest bound over all other labels is at least as large (docs/theory.md,
    statement 14). Ties go to the label with the smaller number.

    Example:
        >>> selection, estimation = Counts(np.array([[8, 2]]), 10), Counts(np.array([[90, 10]]), 100)
        >>> bounds_from_counts(selection, estimation, AlphaBudget(0.05), Rule.TWO_CLASS).p_lower.round(3)
        array([0.836])
    """
    from flipproof.theory import kernels

    label = selection.votes.argmax(axis=1)
    label_votes, (runner_up, other_votes) = estimation.of(label), estimation.best_other(label)
    classes = estimation.votes.shape[1]
    split = splits_alpha(rule, classes)
    p_lower = lower_bound(label_votes, estimation.samples, budget.for_lower if split else budget.per_claim)
    p_upper = np.asarray(kernels.complement_up(p_lower))
    if split:
        p_upper = np.minimum(p_upper, upper_bound(other_votes, estimation.samples, budget.for_upper))
    elif rule is Rule.MULTI_CLASS and classes == 1:
        p_upper = np.zeros_like(p_upper)  # there is no other label
    return Bounds(label, runner_up, p_lower, p_upper)
