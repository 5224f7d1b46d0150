"""The paper's way to compute a certificate, as the opponent of the benchmarks. Not part of the package.

Region probabilities by the alternating recursion of section 4.4 (Chen and Liu 1997) in 1000-bit arithmetic,
then Algorithm 1 for every probability.
"""

from __future__ import annotations

import gmpy2
from gmpy2 import mpfr

PRECISION = 1000


def region_masses(p_plus, p_minus, add, delete):
    """(clean, adversarial) masses by flips q = 0 .. add + delete; 0 < p_plus + p_minus < 1 is assumed."""
    odds_plus, odds_minus = p_plus / (1 - p_plus), p_minus / (1 - p_minus)
    r = add + delete
    power_plus, power_minus, t = mpfr(1), mpfr(1), [mpfr(0)]
    for _ in range(r):
        power_plus *= odds_plus
        power_minus *= odds_minus
        t.append(add * power_plus + delete * power_minus)
    recursion = [mpfr(1)]
    for q in range(1, r + 1):
        total = mpfr(0)
        for i in range(1, q + 1):
            term = t[i] * recursion[q - i]
            total = total + term if i % 2 else total - term
        recursion.append(total / q)
    scale = (1 - p_plus) ** add * (1 - p_minus) ** delete
    clean = [x * scale for x in recursion]
    ratio = [(p_plus / (1 - p_minus)) ** (q - delete) * (p_minus / (1 - p_plus)) ** (q - add) for q in range(r + 1)]
    return clean, [f / eta for f, eta in zip(clean, ratio, strict=True)]


def rho(clean, adversarial, p):
    """Algorithm 1: visit the regions by descending ratio until the clean mass is p."""
    used, worst = mpfr(0), mpfr(0)
    for f, g in zip(clean, adversarial, strict=True):
        if used + f > p:
            return worst + (p - used) * g / f
        used += f
        worst += g
    return worst


def rho_upper(clean, adversarial, p):
    """The twin for the multi-class certificate: by ascending ratio."""
    return rho(clean[::-1], adversarial[::-1], p)


def rho_grid(p_plus, p_minus, adds, deletes, probabilities):
    """`rho` for every cell and probability, as nested lists of floats."""
    return _grid(p_plus, p_minus, adds, deletes, lambda f, g: [float(rho(f, g, p)) for p in probabilities])


def margin_grid(p_plus, p_minus, adds, deletes, pairs):
    """The multi-class margin for every cell and pair of bounds."""
    return _grid(
        p_plus, p_minus, adds, deletes, lambda f, g: [float(rho(f, g, p) - rho_upper(f, g, q)) for p, q in pairs]
    )


def _grid(p_plus, p_minus, adds, deletes, answer):
    with gmpy2.context(precision=PRECISION):
        plus, minus = mpfr(p_plus), mpfr(p_minus)
        return [answer(*region_masses(plus, minus, add, delete)) for add in adds for delete in deletes]
