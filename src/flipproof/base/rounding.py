"""The float64 facts that every error bound in this package is made of."""

from __future__ import annotations

ROUNDOFF = 2.0**-53
"""Unit roundoff u: one operation returns exact * (1 + d) with |d| <= u."""

TINY = 1e-270
"""Far above where underflow starts, far below any probability that matters (statement 9).

Clean masses are raised to it, which errs on the safe side.
"""

LOG_ERROR = 16 * ROUNDOFF
"""Relative error of a logarithm, 8 units in the last place: numpy promises fewer than 4 (statement 8)."""
