r"""Gaussian smoothing against changes of bounded Euclidean length (Cohen et al., ICML 2019).

The noise adds independent normal numbers with standard deviation sigma. The prediction stays under any change whose
Euclidean norm is at most

.. math:: \frac{\sigma}{2} \left( \Phi^{-1}(p_{lower}) - \Phi^{-1}(p_{upper}) \right)

which is sigma Phi^-1(p_lower) where p_upper = 1 - p_lower. The proof is about the smoothed classifier. It is the
continuous counterpart of `flipproof.certify`: its regions of constant likelihood ratio are planes.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from flipproof.base.values import FloatArray
from flipproof.baselines.proofs import Proofs, checked_votes, proofs_of
from flipproof.noise.gaussian import GaussianNoise
from flipproof.smoothing.votes import Votes
from flipproof.statistics.bounds import Rule
from flipproof.theory.law import checked_law, checked_pairs

_SAFETY = 1e-12
"""A thousand times the error of quantiles of float64 probabilities, in deviations, for quantiles below forty."""


def certify(votes: Votes, alpha: float = 0.01, rule: str = Rule.MULTI_CLASS) -> Proofs:
    """The radius of the largest certified ball, from votes under a `GaussianNoise`.

    Each input's certificate is correct with probability at least 1 - alpha over the samples.

    Example:
        >>> votes = Votes.from_counts(selection=[[99, 1]], estimation=[[9990, 10]], noise=GaussianNoise(0.5))
        >>> certify(votes).radius.round(3)
        array([1.438])
    """
    expected = "votes under a GaussianNoise"
    noise = checked_law(checked_votes(votes).noise, GaussianNoise, expected, "votes under {}")
    system, threat = "Cohen et al. 2019", "changes of Euclidean norm r"
    return proofs_of(votes, system, threat, alpha, rule, lambda *bounds: largest_radius(noise, *bounds))


def largest_radius(noise: GaussianNoise, p_lower: FloatArray, p_upper: FloatArray | None = None) -> FloatArray:
    """The Euclidean radius proved for these bounds on the probabilities, rounded down; 0 if there is none.

    Example:
        >>> largest_radius(GaussianNoise(1.0), np.array([0.5, 0.8413447, 0.999])).round(4)
        array([0.    , 1.    , 3.0902])
    """
    checked_law(noise, GaussianNoise, "a GaussianNoise")
    lower, upper = (np.atleast_1d(bound) for bound in checked_pairs(p_lower, p_upper))
    ahead = lower > upper
    deviations = np.zeros(lower.shape)
    deviations[ahead] = (ndtri(lower[ahead]) - ndtri(upper[ahead])) / 2.0 - _SAFETY
    return np.asarray(noise.sigma * np.clip(deviations, 0.0, None) * (1.0 - _SAFETY))
