"""One-sided Clopper-Pearson bounds that are proved, not only computed."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from flipproof.base.values import IntArray, checked_count, checked_probability
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


def _checked(votes: ArrayLike, samples: int, alpha: float) -> tuple[IntArray, int, float]:
    samples = checked_samples(samples, "samples")
    counts = np.asarray(votes)
    if counts.dtype.kind not in "iu":
        raise InvalidInputError(f"expected votes to be integers, got {counts.dtype}")
    wrong = (counts < 0) | (counts > samples)
    if wrong.any():
        raise InvalidInputError(f"expected votes between 0 and {samples}, got {int(counts[wrong].flat[0])}")
    return counts.astype(np.int64), samples, checked_alpha(alpha)


def _bound(votes: ArrayLike, samples: int, alpha: float, side: Literal["lower", "upper"]) -> Any:
    """The bounds of all counts, computed once for every distinct count: a guess is moved until it is proved."""
    counts, samples, alpha = _checked(votes, samples, alpha)
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
