"""Checks confidence bounds by interval arithmetic: binomial tails as ratios of integers, rounded outwards."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt

from flipproof.errors import TooLargeError
from flipproof.verification.limits import check_time

_ONE = 1 << 96
"""The first term of a sum; all others are computed relative to it and rounded at its 96th binary digit."""

_NEGLIGIBLE = 70
"""Terms are added until one is smaller than the sum by this many binary digits."""

_FAR_LARGER = _ONE << 400
"""One over this number is smaller than any alpha."""

_MOST_TERMS = 2**22
"""A sum with more terms, as for a hundred billion samples, takes too long."""

_OFTEN = 2**10 - 1
"""The clock is read each time this many terms have been added."""

_DIGITS = 60
"""A search for a bound ends at this many binary digits of the odds."""


def tail_above(votes: int, samples: int, p: Fraction) -> Fraction:
    """A tight upper bound on P(Binomial(samples, p) >= votes).

    Example:
        >>> float(tail_above(2, 3, Fraction(1, 2)))
        0.5
    """
    above = _sum_of_terms(votes, samples, p, upwards=True, round_up=True)
    if above is None:
        return Fraction(1)
    below = _sum_of_terms(votes, samples, p, upwards=False, round_up=False)
    return Fraction(above, above + (below or 0))


def tail_below(votes: int, samples: int, p: Fraction) -> Fraction:
    """A tight lower bound on P(Binomial(samples, p) >= votes)."""
    below = _sum_of_terms(votes, samples, p, upwards=False, round_up=True)
    if below is None:
        return Fraction(0)
    above = _sum_of_terms(votes, samples, p, upwards=True, round_up=False) or _ONE
    return Fraction(above, above + below)


def _sum_of_terms(votes: int, samples: int, p: Fraction, *, upwards: bool, round_up: bool) -> int | None:
    """The summed probabilities of `votes`, votes + 1, ... in units of the first; downwards, of votes - 1, ...

    Each term is the previous one times a ratio, and the ratios fall, so a geometric series bounds the truncated rest.
    Once the sum is far larger than the first term, every question is settled and the summation stops early. Rounded
    down, the partial sum is still a bound; rounded up, there is none.
    """
    yes, no = p.numerator, p.denominator - p.numerator
    if upwards:
        total, steps = _ONE, samples - votes
        factor, divisor, less, more = steps * yes, (votes + 1) * no, yes, no
    else:
        total, steps = 0, votes
        factor, divisor, less, more = votes * no, (samples - votes + 1) * yes, no, yes
    term = _ONE
    for step in range(min(steps, _MOST_TERMS)):
        if not step & _OFTEN:
            check_time()
        term = -(-term * factor // divisor) if round_up else term * factor // divisor
        total += term
        factor, divisor = factor - less, divisor + more
        if factor < divisor and term < (_ONE + total) >> _NEGLIGIBLE:
            return total - (-term * factor // (divisor - factor)) if round_up else total
        if total > _FAR_LARGER:
            return None if round_up else total
    if steps > _MOST_TERMS:
        raise TooLargeError(f"{samples:,} samples are too many to be checked")
    return total


@lru_cache(maxsize=2**13)
def is_lower_bound(p: Fraction, votes: int, samples: int, alpha: Fraction) -> bool:
    """Whether P(Binomial(samples, p) >= votes) <= alpha is proved, which makes p a lower bound at alpha."""
    if p == 0:
        return True
    return 0 < p < 1 and votes > 0 and tail_above(votes, samples, p) <= alpha


@lru_cache(maxsize=2**13)
def is_above_every_lower_bound(p: Fraction, votes: int, samples: int, alpha: Fraction) -> bool:
    """Whether it is proved that every lower bound at alpha is smaller than p."""
    if p >= 1 or votes == 0:
        return p > 0
    return p > 0 and tail_below(votes, samples, p) > alpha


def is_upper_bound(p: Fraction, votes: int, samples: int, alpha: Fraction) -> bool:
    """Whether p is proved to be an upper bound at alpha: 1 - p is a lower bound for all other outcomes together."""
    return is_lower_bound(1 - p, samples - votes, samples, alpha)


def is_below_every_upper_bound(p: Fraction, votes: int, samples: int, alpha: Fraction) -> bool:
    """Whether it is proved that every upper bound at alpha is larger than p."""
    return is_above_every_lower_bound(1 - p, samples - votes, samples, alpha)


@lru_cache(maxsize=2**12)
def best_lower_bound(votes: int, samples: int, alpha: Fraction) -> Fraction:
    """The largest lower bound that can be proved, up to its last digit.

    Example:
        >>> round(float(best_lower_bound(99_000, 100_000, Fraction(1, 100))), 6)
        0.989243
    """
    if votes == 0:
        return Fraction(0)
    below, above = _bracket(votes, samples, alpha)
    while (above - below) * 2**_DIGITS > below * (1 - above):
        middle = (below + above) / 2
        below, above = (middle, above) if is_lower_bound(middle, votes, samples, alpha) else (below, middle)
    return below


def _bracket(votes: int, samples: int, alpha: Fraction) -> tuple[Fraction, Fraction]:
    """A lower bound and a number that is not one, found by moving away from the share of votes in growing steps."""
    share = Fraction(2 * votes - 1, 2 * samples)
    step = Fraction(1, isqrt(min(votes, samples - votes)) + 1)
    below, above, odds = Fraction(0), Fraction(1), share / (1 - share)
    holds = is_lower_bound(share, votes, samples, alpha)
    while True:
        below, above = (share, above) if holds else (below, share)
        odds = _rounded(odds * (1 + step) if holds else odds / (1 + step))
        share, step = odds / (1 + odds), 2 * step
        if is_lower_bound(share, votes, samples, alpha) is not holds:
            return (below, share) if holds else (share, above)


def _rounded(number: Fraction) -> Fraction:
    """Rounds a number to few digits, so that results computed from it do not have too many."""
    digits = number.denominator.bit_length() - number.numerator.bit_length() + 64
    scale = Fraction(2) ** digits
    return Fraction(round(number * scale)) / scale


def best_upper_bound(votes: int, samples: int, alpha: Fraction) -> Fraction:
    """The smallest upper bound that can be proved, up to its last digit."""
    return 1 - best_lower_bound(samples - votes, samples, alpha)
