"""The compiled loop that proves a confidence bound: a binomial tail from sums and products only."""

from __future__ import annotations

import numpy as np
from numba import njit

from flipproof.theory.arrays import FloatArray, IntArray
from flipproof.theory.rounding import ROUNDOFF

_NEGLIGIBLE = 1e-15
_FIRST_STEP = 2.0**-46
_TRIES = 60


@njit(cache=True, nogil=True)
def tail_bound(votes: int, samples: int, odds: float) -> float:
    """Upper bound on P(Binomial(samples, p) >= votes) for p / (1 - p) <= odds (statement 13).

    Terms are computed relative to the one at `votes` and divided by their total, so no factorial, logarithm
    or exponential is needed: three roundings a term. What is cut off above is bounded by a geometric
    series; what is cut off below would only make the tail smaller.
    """
    above, term, steps_above = 1.0, 1.0, 0
    for j in range(votes, samples):
        ratio = (samples - j) / (j + 1.0) * odds
        term *= ratio
        above += term
        steps_above += 1
        if ratio < 1.0 and term * ratio < _NEGLIGIBLE * above * (1.0 - ratio):
            above += 1.01 * term * ratio / (1.0 - ratio)
            break
    below, term, steps_below = 0.0, 1.0, 0
    for j in range(votes, 0, -1):
        ratio = j / ((samples - j + 1.0) * odds)
        term *= ratio
        below += term
        steps_below += 1
        if ratio < 1.0 and term * ratio < _NEGLIGIBLE * below * (1.0 - ratio):
            break
    if not np.isfinite(above + below):
        return 1.0  # too far from the middle for float64; proves nothing
    error = 4.0 * (steps_above + steps_below + 4.0) * ROUNDOFF
    return above / (above + below) * (1.0 + 2.0 * error)


@njit(cache=True, nogil=True)
def proved_lower(votes: IntArray, samples: int, alpha: float, guess: FloatArray) -> FloatArray:
    """Largest found p near each guess with P(Binomial(samples, p) >= votes) <= alpha; 0 where none is."""
    out = np.zeros(votes.size)
    for i in range(votes.size):
        step = _FIRST_STEP
        for _ in range(_TRIES):
            p = guess[i] - step * guess[i] * (1.0 - guess[i])
            if 0.0 < p < 1.0 and tail_bound(votes[i], samples, p / (1.0 - p) * (1.0 + 4 * ROUNDOFF)) <= alpha:
                out[i] = p
                break
            step *= 4.0
            if step > 1.0:
                break
    return out


@njit(cache=True, nogil=True)
def proved_upper(votes: IntArray, samples: int, alpha: float, guess: FloatArray) -> FloatArray:
    """Smallest found p near each guess with P(Binomial(samples, p) <= votes) <= alpha; 1 where none is."""
    out = np.ones(votes.size)
    for i in range(votes.size):
        step = _FIRST_STEP
        for _ in range(_TRIES):
            p = guess[i] + step * guess[i] * (1.0 - guess[i])
            # The other label has samples - votes of the votes, and probability 1 - p.
            if 0.0 < p < 1.0 and (
                tail_bound(samples - votes[i], samples, (1.0 - p) / p * (1.0 + 4 * ROUNDOFF)) <= alpha
            ):
                out[i] = p
                break
            step *= 4.0
            if step > 1.0:
                break
    return out
