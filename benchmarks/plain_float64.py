"""The same binary tables as flipproof makes, in plain float64 without its error bounds: what soundness costs."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit
def region_masses(p_plus, p_minus, add, delete):
    """Clean and adversarial masses by number of flips, one Bernoulli variable at a time."""
    masses = np.zeros((2, add + delete + 1))
    masses[:, 0] = 1.0
    for i in range(add + delete):
        flip = (p_plus, 1.0 - p_minus) if i < add else (p_minus, 1.0 - p_plus)
        for side in range(2):
            for q in range(i + 1, -1, -1):
                come = masses[side, q - 1] * flip[side] if q else 0.0
                masses[side, q] = masses[side, q] * (1.0 - flip[side]) + come
    return masses


@njit
def rho_table(p_plus, p_minus, adds, deletes, p):
    """[adds, deletes, p] for ascending p; p_plus + p_minus < 1."""
    out = np.empty((adds, deletes, p.size))
    for add in range(adds):
        for delete in range(deletes):
            masses = region_masses(p_plus, p_minus, add, delete)
            f_sum, g_sum, j = 0.0, 0.0, 0
            for q in range(masses.shape[1]):
                f, g = masses[0, q], masses[1, q]
                slope = g / f
                while j < p.size and p[j] < f_sum + f:
                    out[add, delete, j] = g_sum + (p[j] - f_sum) * slope
                    j += 1
                f_sum += f
                g_sum += g
            out[add, delete, j:] = g_sum
    return out


@njit
def critical_table(p_plus, p_minus, adds, deletes):
    """[adds, deletes] critical probabilities; p_plus + p_minus < 1."""
    out = np.empty((adds, deletes))
    for add in range(adds):
        for delete in range(deletes):
            masses = region_masses(p_plus, p_minus, add, delete)
            f_sum, g_sum = 0.0, 0.0
            for q in range(masses.shape[1]):
                f, g = masses[0, q], masses[1, q]
                if g_sum + g >= 0.5:
                    f_sum += f * ((0.5 - g_sum) / g)
                    break
                f_sum += f
                g_sum += g
            out[add, delete] = f_sum
    return out
