"""The tight l0 certificate of Lee et al. (NeurIPS 2019) for noise that gives all other values the same probability.

It equals flipproof's own certificate with p_plus = p_minus. An attacker may change any r entries to any values; the
proof is about the smoothed classifier, from votes under such noise.

The published algorithm counts, with integers of any size, the noisy inputs at every pair of distances from the input
and from the changed one, over all d entries. It is included for comparison: the r changed entries alone give the same
result (docs/theory.md, statement 5), in a time that does not depend on d.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import comb, factorial

from flipproof.base.values import checked_count
from flipproof.baselines.proofs import Proofs, checked_votes
from flipproof.errors import InvalidInputError
from flipproof.smoothing.certify import certify as certify_votes
from flipproof.smoothing.votes import Votes
from flipproof.statistics.bounds import Rule
from flipproof.theory.certificate import Promise, Subject
from flipproof.theory.law import FlipNoise, Law, as_flip_noise
from flipproof.theory.search import SEARCH_LIMIT


def certify(votes: Votes, alpha: float = 0.01, rule: str = Rule.MULTI_CLASS, limit: int = SEARCH_LIMIT) -> Proofs:
    """The largest number of entries that may change in any way, from votes under symmetric noise.

    Each input's certificate is correct with probability at least 1 - alpha over the samples.

    Example:
        >>> votes = Votes.from_counts(selection=[[99, 1]], estimation=[[9990, 10]], noise=FlipNoise(0.1, 0.1))
        >>> certify(votes).radius
        array([2])
    """
    _checked_even(checked_votes(votes).noise, "votes under noise")
    certificates = certify_votes(votes, alpha, rule)
    promise = Promise("Lee et al. 2019", Subject.SMOOTHED, "any change of r entries", str(certificates.rule), alpha)
    radius = certificates.max_l0_radius(limit=limit)
    return Proofs(promise, certificates.label, radius, certificates.abstained, ids=votes.ids, checked=votes.checked)


def _checked_even(noise: Law, what: str) -> None:
    law = as_flip_noise(noise)
    if law is None or not law.is_even:
        raise InvalidInputError(f"expected {what} with p_plus = p_minus, got {noise}")


def original_counts(entries: int, categories: int, radius: int) -> dict[tuple[int, int], int]:
    """The number of noisy inputs at each pair of distances (from the input, from one with `radius` changed entries).

    Each changed entry has its old value, its new value or any other value. Each unchanged entry may have another value,
    which counts for both distances.

    Example:
        >>> original_counts(2, 2, 1)
        {(1, 0): 1, (2, 1): 1, (0, 1): 1, (1, 2): 1}
    """
    # numpy integers would overflow.
    entries, categories, radius = (
        checked_count(number, name)
        for number, name in ((entries, "entries"), (categories, "categories"), (radius, "radius"))
    )
    if radius > entries:
        raise InvalidInputError(f"expected at most {entries} changed entries, got {radius}")
    if categories < 2:
        raise InvalidInputError(f"expected two categories or more, got {categories}")
    counts: dict[tuple[int, int], int] = defaultdict(int)
    elsewhere = [comb(entries - radius, c) * (categories - 1) ** c for c in range(entries - radius + 1)]
    for old in range(radius + 1):
        for new in range(radius - old + 1):
            rest = radius - old - new
            here = factorial(radius) // (factorial(old) * factorial(new) * factorial(rest)) * (categories - 2) ** rest
            if here:
                for both, times in enumerate(elsewhere):
                    counts[radius - old + both, radius - new + both] += here * times
    return dict(counts)


def original_critical_probability(noise: FlipNoise, entries: int, radius: int) -> Fraction:
    """The probability that p_lower must exceed, by the published algorithm: exact, in O(entries * radius) regions.

    Example:
        >>> float(original_critical_probability(FlipNoise(0.25, 0.25), entries=12, radius=2))
        0.9444444444444444
    """
    _checked_even(noise, "noise")
    flip, entries = Fraction(noise.p_plus), checked_count(entries, "entries")
    keep, other = 1 - flip, flip / (noise.categories - 1)
    masses = []
    for (near, far), count in original_counts(entries, noise.categories, radius).items():
        clean, changed = (count * keep ** (entries - n) * other**n for n in (near, far))
        masses.append((clean, changed, far - near))
    # The likelihood ratio is (keep / other) ** (far - near).
    masses.sort(key=lambda mass: mass[2], reverse=keep > other)
    filled, left = Fraction(0), Fraction(1, 2)
    for clean, changed, _ in masses:
        if changed >= left:
            return filled + clean * left / changed
        filled, left = filled + clean, left - changed
    return filled
