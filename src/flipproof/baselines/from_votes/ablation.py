r"""Randomized ablation (Levine and Feizi, AAAI 2020): classify from a few randomly chosen entries.

Noise keeps k of the d entries of an input and hides the others (`AblationNoise`). Two inputs that differ in r entries
look the same whenever none of these is kept, which happens with probability C(d - r, k) / C(d, k). So the probability
of a label differs by at most

.. math:: \Delta(r) = 1 - \binom{d - r}{k} / \binom{d}{k}

and the prediction stays if p_lower - p_upper > 2 Delta. With p_upper = 1 - p_lower this is p_lower - Delta > 1/2. An
attacker may change any r entries to any values, even values that the data do not have. The proof is about the smoothed
classifier.
"""

from __future__ import annotations

import numpy as np

from flipproof.base.rounding import ROUNDOFF
from flipproof.base.values import FloatArray, IntArray
from flipproof.baselines.proofs import Proofs, checked_votes, proofs_of
from flipproof.noise.ablation import AblationNoise
from flipproof.smoothing.votes import Votes
from flipproof.statistics.bounds import Rule
from flipproof.theory.law import checked_law, checked_pairs

_MOST_CHANGES = 2**20


def certify(votes: Votes, alpha: float = 0.01, rule: str = Rule.MULTI_CLASS) -> Proofs:
    """The largest number of entries that may change in any way, from votes under an `AblationNoise`.

    Each input's certificate is correct with probability at least 1 - alpha over the samples.

    Example:
        >>> noise = AblationNoise(entries=784, kept=45)
        >>> votes = Votes.from_counts(selection=[[99, 1]], estimation=[[9990, 10]], noise=noise)
        >>> certify(votes).radius
        array([11])
    """
    expected = "votes under an AblationNoise"
    noise = checked_law(checked_votes(votes).noise, AblationNoise, expected, "votes under {}")
    system, threat = "Levine and Feizi 2020", "any change of r entries"
    return proofs_of(votes, system, threat, alpha, rule, lambda *bounds: largest_radius(noise, *bounds))


def largest_radius(noise: AblationNoise, p_lower: FloatArray, p_upper: FloatArray | None = None) -> IntArray:
    """The largest r with p_lower - p_upper > 2 Delta(r), 0 if there is none.

    Example:
        >>> largest_radius(AblationNoise(entries=100, kept=20), np.array([0.6, 0.9, 0.999]))
        array([0, 2, 3])
    """
    lower, upper = (np.atleast_1d(bound) for bound in checked_pairs(p_lower, p_upper))
    gap = np.nextafter(lower - upper, -np.inf)
    return np.asarray(np.searchsorted(2.0 * seen_changes(noise), gap, side="left") - 1).clip(0)


def seen_changes(noise: AblationNoise) -> FloatArray:
    """Delta(0), Delta(1), ..., rounded up, while below one half; larger values never certify anything.

    At most a few million values are returned; larger numbers of changes are not examined.

    Example:
        >>> seen_changes(AblationNoise(entries=10, kept=1)).round(3)
        array([0. , 0.1, 0.2, 0.3, 0.4])
    """
    checked_law(noise, AblationNoise, "an AblationNoise")
    shares, some, first = [np.ones(1)], 1024, 0
    while shares[-1][-1] > 0.4 and first < _MOST_CHANGES:
        r = np.arange(first, min(first + some, noise.entries), dtype=np.float64)
        if not r.size:
            break
        shares.append(shares[-1][-1] * np.cumprod((noise.entries - noise.kept - r) / (noise.entries - r)))
        first, some = first + r.size, 2 * some
    unseen = np.concatenate(shares)
    # Covers a quotient and a product per step, and the operations that combine them.
    unseen *= 1.0 - 4.0 * ROUNDOFF * (np.arange(unseen.size) + 4.0)
    seen = np.nextafter(1.0 - unseen, np.inf)
    seen[0] = 0.0
    return seen[seen < 0.5]
