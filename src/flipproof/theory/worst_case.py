"""The worst case of a label's probability: rho, its twin rho_upper, the margin mu, and the critical probability."""

from __future__ import annotations

import math
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from flipproof.base.values import FloatArray, checked_probabilities
from flipproof.theory.law import Noise, checked_pairs, in_shape_of
from flipproof.theory.radii import AnyRadii, point_of
from flipproof.theory.regions import Regions, worst_at, worst_margin


@overload
def rho(noise: Noise, radii: AnyRadii, p_lower: float) -> float: ...
@overload
def rho(noise: Noise, radii: AnyRadii, p_lower: ArrayLike) -> FloatArray: ...
def rho(noise: Noise, radii: AnyRadii, p_lower: Any) -> Any:
    r"""The smallest probability that a label can have after any change within the radii.

    .. math:: \rho(p) = \min_h \Pr(h(\phi(\tilde x)) = y) \;\text{s.t.}\; \Pr(h(\phi(x)) = y) = p

    Fills regions from the largest ratio (paper, section 2.2; docs/theory.md, statements 1 to 3). The result
    is rounded down: it never exceeds the exact value.

    Example:
        >>> from flipproof import FlipNoise, Radii
        >>> round(rho(FlipNoise(p_plus=0.01, p_minus=0.6), Radii(add=1, delete=2), p_lower=0.99), 6)
        0.5974
    """
    p = checked_probabilities(p_lower, "p_lower")
    point = point_of(noise, radii)
    return in_shape_of(p, lambda flat: worst_at(noise, point, lambda one: one.lower_mass(flat), np.minimum), p)


@overload
def rho_upper(noise: Noise, radii: AnyRadii, p_upper: float) -> float: ...
@overload
def rho_upper(noise: Noise, radii: AnyRadii, p_upper: ArrayLike) -> FloatArray: ...
def rho_upper(noise: Noise, radii: AnyRadii, p_upper: Any) -> Any:
    r"""The largest probability that a label can have after any change within the radii, rounded up.

    Fills regions from the smallest ratio (paper, appendix on multi-class certificates). It is
    :math:`1 - \rho(1 - p)`.

    Example:
        >>> from flipproof import FlipNoise, Radii
        >>> round(rho_upper(FlipNoise(p_plus=0.01, p_minus=0.6), Radii(delete=1), p_upper=0.1), 6)
        0.165
    """
    p = checked_probabilities(p_upper, "p_upper")
    point = point_of(noise, radii)
    return in_shape_of(p, lambda flat: worst_at(noise, point, lambda one: one.upper_mass(flat), np.maximum), p)


@overload
def mu(noise: Noise, radii: AnyRadii, p_lower: float, p_upper: float | None = None) -> float: ...
@overload
def mu(noise: Noise, radii: AnyRadii, p_lower: ArrayLike, p_upper: ArrayLike | None = None) -> FloatArray: ...
def mu(noise: Noise, radii: AnyRadii, p_lower: Any, p_upper: Any = None) -> Any:
    r"""The margin over the runner-up in the worst case; the prediction is certified if it is positive.

    .. math:: \mu = \rho(\underline{p}) - \rho_{upper}(\overline{p})

    `p_upper` bounds the probability of every other label; by default it is 1 - p_lower (two-class rule).
    The result is rounded down.

    Example:
        >>> from flipproof import FlipNoise, Radii
        >>> mu(FlipNoise(p_plus=0.01, p_minus=0.6), Radii(delete=2), p_lower=0.8, p_upper=0.1) > 0
        True
    """
    lower, upper = checked_pairs(p_lower, p_upper)
    point = point_of(noise, radii)
    return in_shape_of(lower, lambda lo, up: worst_margin(noise, point, lo, up), lower, upper)


def critical_probability(noise: Noise, radii: AnyRadii) -> float:
    r"""The probability above which a label is certified at these radii: :math:`\rho^{-1}(1/2)`, rounded up.

    A label with `p_lower` is certified by the two-class rule when ``p_lower > critical_probability``. 1.0 means
    that only certainty is enough, `math.inf` that no probability is known to be enough.

    Example:
        >>> from flipproof import FlipNoise, Radii
        >>> round(critical_probability(FlipNoise(p_plus=0.01, p_minus=0.6), Radii(delete=5)), 8)
        0.95911629
        >>> critical_probability(FlipNoise(p_plus=0, p_minus=0.5), Radii(add=1))
        inf
    """
    clean_mass = worst_at(noise, point_of(noise, radii), Regions.critical_clean_mass, min)
    if clean_mass <= 0.0:
        return math.inf
    from flipproof.theory import kernels

    return float(kernels.complement_up(clean_mass))
