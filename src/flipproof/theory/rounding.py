"""The float64 facts that every error bound in this package is made of."""

from __future__ import annotations

import numpy as np

from flipproof.theory.arrays import FloatArray

ROUNDOFF = 2.0**-53
"""Unit roundoff u: one operation returns exact * (1 + d) with |d| <= u."""

TINY = 1e-270
"""Far above where underflow starts, far below any probability that matters (statement 9)."""


def raised(s: FloatArray, covered: bool) -> FloatArray:
    """Clean masses raised to at least `TINY`, which errs on the safe side.

    A clean mass of exactly zero stays zero if `covered`: then there is nothing that only the adversarial input reaches.
    """
    return np.where(s > 0.0, np.maximum(s, TINY), 0.0 if covered else TINY)
