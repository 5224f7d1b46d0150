"""The compiled loop that proves a confidence bound: a binomial tail from sums and products only."""

from __future__ import annotations

import numpy as np

from flipproof.base.compiled import compiled
from flipproof.base.rounding import ROUNDOFF
from flipproof.base.values import FloatArray, IntArray

_NEGLIGIBLE = 1e-15
"""Terms are added until the rest is below this share of the sum: far below what the roundings cost."""

_FIRST_STEP = 2.0**-46
"""First move away from the guess, in units of odds: about the error of `tail_bound` at common values of alpha."""

LOWER, UPPER = -1, 1


@compiled
def tail_bound(votes: int, samples: int, odds: float) -> float:
    """Upper bound on P(Binomial(samples, p) >= votes) for p / (1 - p) <= odds (statement 13).

    Terms are computed relative to the term at `votes` and divided by their total, so no factorial, logarithm
    or exponential is needed: each term has three roundings. A geometric series bounds the terms that are cut off
    above; the terms that are cut off below would only make the tail smaller.
    """
    above, term, steps_above = 1.0, 1.0, 0
    for j in range(votes, samples):
        ratio = (samples - j) / (j + 1.0) * odds
        term *= ratio
        above += term
        steps_above += 1
        if ratio < 1.0 and term * ratio < _NEGLIGIBLE * above * (1.0 - ratio):
            above += 1.01 * term * ratio / (1.0 - ratio)  # the rest, and the rounding of 1 - ratio
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


@compiled
def proved_bounds(votes: IntArray, samples: int, alpha: float, guess: FloatArray, side: int) -> FloatArray:
    """For every guess, the nearest p found on its safe side with a proof; 0 or 1 where none is found.

    side = LOWER: P(Binomial(samples, p) >= votes) <= alpha. side = UPPER: P(Binomial(samples, p) <= votes) <= alpha,
    which is the condition of LOWER for the number and the probability of all samples that are no votes.
    """
    out = np.empty(votes.size)
    for i in range(votes.size):
        out[i] = 0.0 if side == LOWER else 1.0
        step = _FIRST_STEP
        while step < 1.0:
            p = guess[i] + side * step * guess[i] * (1.0 - guess[i])
            if 0.0 < p < 1.0:
                k, odds = (votes[i], p / (1.0 - p)) if side == LOWER else (samples - votes[i], (1.0 - p) / p)
                if tail_bound(k, samples, odds * (1.0 + 4 * ROUNDOFF)) <= alpha:
                    out[i] = p
                    break
            step *= 4.0
    return out
