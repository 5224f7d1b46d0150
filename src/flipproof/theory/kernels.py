"""The compiled loops of this room. Imported only when first used, because numba takes a while to load.

"Tail first" means from the smallest likelihood ratio to the largest, the order in which `rho_upper`
fills. All values are sums and products of non-negative floats; docs/theory.md proves how far they can
be from the exact ones (statements 6 to 9).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flipproof.base.compiled import compiled
from flipproof.base.rounding import ROUNDOFF
from flipproof.base.values import BoolArray, FloatArray, IntArray

EVALUATION_STEPS = 24.0
"""Roundings outside the sums: the product of two sides (7), slope, difference, factors, scaling, and room to spare."""

STEEPEST = 1e300
"""Slopes above this are cut: beyond a knot such a line reaches 1 at once, and at the knot 0 * inf would be NaN."""


class Cells(NamedTuple):
    """The masses of some radii of one part, of all wanted radii of the other parts, and their common order."""

    clean: FloatArray
    adversarial: FloatArray
    slack: FloatArray
    other_clean: FloatArray
    other_adversarial: FloatArray
    other_slack: FloatArray
    tail: IntArray
    order_slack: float
    covered: BoolArray
    other_covered: BoolArray


COMPENSATED = 3
"""Roundings that a compensated sum of any length amounts to: 2, and a little for the square of u."""


@compiled
def safety_factor(slack: float, order_slack: float, additions: int) -> float:
    """The factor by which the exact `rho_upper` can exceed the computed one (statement 8).

    `slack` bounds the error of the masses, `order_slack` that of sorting by rounded ratios; the rest is the
    rounding of two sums with `additions` roundings each and of interpolating between two of their values.
    """
    return (1.0 + slack) * (1.0 + order_slack + (2.0 * additions + EVALUATION_STEPS) * ROUNDOFF)


@compiled
def complement_up(p: Any) -> Any:
    """1 - p, rounded up; of a number or of every number in an array."""
    s = 1.0 - p
    return s + ROUNDOFF * (1.0 - s > p)


@compiled
def complement_down(p: Any) -> Any:
    """1 - p, rounded down; of a number or of every number in an array."""
    s = 1.0 - p
    return s - ROUNDOFF * (1.0 - s < p)


@compiled
def subtract_down(a: Any, b: Any) -> Any:
    """The difference a - b, rounded down: the rounding error of a float difference is a float (Knuth's two-sum)."""
    difference = a - b
    virtual = difference - a
    error = (a - (difference - virtual)) - (b + virtual)
    # 2u |x| is at least the distance to the next float. Where x is subnormal the difference was exact.
    return difference - 2 * ROUNDOFF * np.abs(difference) * (error < 0.0)


@compiled
def _step(old: FloatArray, offset: IntArray, probability: FloatArray, pad: int, end: int, new: FloatArray) -> None:
    o0, o1, o2 = offset[0], offset[1], offset[2]
    p0, p1, p2 = probability[0], probability[1], probability[2]
    for j in range(pad, end):
        new[j] = p0 * old[j - o0] + p1 * old[j - o1] + p2 * old[j - o2]


@compiled
def step_masses(
    start: FloatArray, counts: IntArray, offsets: IntArray, probabilities: FloatArray, pad: int
) -> FloatArray:
    """Masses after `counts[kind]` further changes of each kind. `start` has `pad` leading zeros."""
    masses, other = start.copy(), np.zeros_like(start)
    end = start.size
    while end > pad + 1 and start[end - 1] == 0.0:
        end -= 1
    for kind in range(counts.size):
        for _ in range(counts[kind]):
            end = min(end + offsets[kind].max(), start.size)
            _step(masses, offsets[kind], probabilities[kind], pad, end, other)
            masses, other = other, masses
    return masses


@compiled
def mass_table(
    start: FloatArray,
    sizes: IntArray,
    offsets: IntArray,
    probabilities: FloatArray,
    pad: int,
    wanted: IntArray,
) -> FloatArray:
    """[wanted, pad + positions] masses for counts below `sizes`, the last kind running fastest."""
    cells = 1
    for kind in range(sizes.size):
        cells *= sizes[kind]
    table = np.zeros((cells, start.size))
    table[0] = start
    block = 1
    for kind in range(sizes.size - 1, -1, -1):
        for cell in range(block, block * sizes[kind]):
            _step(table[cell - block], offsets[kind], probabilities[kind], pad, start.size, table[cell])
        block *= sizes[kind]
    for i in range(wanted.size):
        if wanted[i] != i or wanted.size != cells:
            return table[wanted]
    return table


@compiled
def _gather(clean: FloatArray, adversarial: FloatArray, tail: IntArray, out: FloatArray, index: IntArray) -> int:
    """Collects the non-empty positions of one cell, tail first, and returns their number."""
    n = 0
    for k in range(tail.shape[1]):
        f, g = clean[tail[0, k]], adversarial[tail[0, k]]
        if f > 0.0 or g > 0.0:
            out[0, n] = f
            out[1, n] = g
            index[n] = tail[1, k]
            n += 1
    return n


@compiled
def critical_cells(cells: Cells, result: FloatArray) -> None:
    """Writes [cells, other cells]: the clean mass below which `rho_upper` stays under one half, rounded down."""
    gathered, index = np.empty((2, cells.tail.shape[1])), np.empty(cells.tail.shape[1], np.int64)
    for a in range(cells.clean.shape[0]):
        n = _gather(cells.clean[a], cells.adversarial[a], cells.tail, gathered, index)
        for b in range(cells.other_clean.shape[0]):
            total_slack = cells.slack[a] + cells.other_slack[b]
            if total_slack == 0.0:  # nothing was changed here: both laws are the same
                result[a, b] = 0.5
                continue
            target = 0.5 / safety_factor(total_slack, cells.order_slack, n)
            f_sum = 0.0
            g_sum = 0.0
            for k in range(n):
                f = gathered[0, k] * cells.other_clean[b, index[k]]
                g = gathered[1, k] * cells.other_adversarial[b, index[k]]
                if g_sum + g >= target:
                    f_sum += f * ((target - g_sum) / g)
                    break
                f_sum += f
                g_sum += g
            result[a, b] = f_sum


@compiled
def _fill_knots(f: FloatArray, g: FloatArray, n: int, until: float, knots: FloatArray) -> int:
    """Writes the sums of clean and adversarial mass and the slopes between; returns the last knot."""
    f_sum, f_rest, g_sum, g_rest = 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        knots[0, k] = f_sum
        knots[1, k] = g_sum
        knots[2, k] = min(g[k] / f[k], STEEPEST) if f[k] > 0.0 else 0.0
        if f_sum > until:
            return k
        # Kahan's sum: the next addition gets what the last one lost, so the error does not grow with n.
        term, before = f[k] - f_rest, f_sum
        f_sum = before + term
        f_rest = (f_sum - before) - term
        term, before = g[k] - g_rest, g_sum
        g_sum = before + term
        g_rest = (g_sum - before) - term
    knots[0, n] = f_sum
    knots[1, n] = g_sum
    return n


@compiled
def _upper_masses(s: FloatArray, knots: FloatArray, last: int, factor: float, out: FloatArray) -> None:
    """Upper bounds on the adversarial mass of any set with clean mass s[j], for ascending s (statement 6)."""
    j = 0
    for k in range(last):
        # Up to the next knot the bound is a line; its end is found first so that the line is one tight loop.
        end = j + np.searchsorted(s[j:], knots[0, k + 1])
        f_sum, g_sum, slope = knots[0, k], knots[1, k], knots[2, k]
        for i in range(j, end):
            out[i] = min(1.0, (g_sum + (s[i] - f_sum) * slope) * factor)
        j = end
    for i in range(j, s.size):
        out[i] = min(1.0, knots[1, last] * factor)


@compiled
def upper_masses(s: FloatArray, f: FloatArray, g: FloatArray, slack: float, order_slack: float) -> FloatArray:
    """`rho_upper` at every ascending s for masses f and g given tail first."""
    knots = np.empty((3, f.size + 1))
    last = _fill_knots(f, g, f.size, np.inf, knots)
    out = np.empty_like(s)
    _upper_masses(s, knots, last, safety_factor(slack, order_slack, COMPENSATED), out)
    return out


@compiled
def _cell_knots(
    gathered: FloatArray,
    index: IntArray,
    n: int,
    other_clean: FloatArray,
    other_adversarial: FloatArray,
    until: float,
    scratch: FloatArray,
    knots: FloatArray,
) -> int:
    """Knots of a product cell. Positions outside the other side's cell have zero mass and do no harm."""
    for k in range(n):
        scratch[0, k] = gathered[0, k] * other_clean[index[k]]
        scratch[1, k] = gathered[1, k] * other_adversarial[index[k]]
    return _fill_knots(scratch[0], scratch[1], n, until, knots)


@compiled
def margin_cells(
    cells: Cells, p: FloatArray, s: FloatArray, zeros: IntArray, orders: IntArray, result: FloatArray
) -> None:
    """Writes [cells, other cells, pairs]: `rho` of p[0], minus `rho_upper` of p[1] if that row is there.

    s[0] is 1 - p[0] rounded up, s[1] is p[1], each sorted by its row of `orders` and raised; the first `zeros` were 0.
    """
    rows, pairs = s.shape
    gathered, index = np.empty((2, cells.tail.shape[1])), np.empty(cells.tail.shape[1], np.int64)
    scratch, knots = np.empty((2, cells.tail.shape[1])), np.empty((3, cells.tail.shape[1] + 1))
    masses = np.empty(pairs)
    until = s.max() if s.size else 0.0
    for a in range(cells.clean.shape[0]):
        n = _gather(cells.clean[a], cells.adversarial[a], cells.tail, gathered, index)
        for b in range(cells.other_clean.shape[0]):
            row = result[a, b]
            total_slack = cells.slack[a] + cells.other_slack[b]
            if total_slack == 0.0:  # nothing was changed here: both laws are the same
                for i in range(pairs):
                    row[i] = subtract_down(p[0, i], p[1, i]) if rows == 2 else p[0, i]
                continue
            factor = safety_factor(total_slack, cells.order_slack, COMPENSATED)
            last = _cell_knots(
                gathered, index, n, cells.other_clean[b], cells.other_adversarial[b], until, scratch, knots
            )
            certain = cells.covered[a] and cells.other_covered[b]
            _upper_masses(s[0], knots, last, factor, masses)
            if certain:
                masses[: zeros[0]] = 0.0
            for j in range(pairs):
                row[orders[0, j]] = complement_down(masses[j])
            if rows == 2:
                _upper_masses(s[1], knots, last, factor, masses)
                if certain:
                    masses[: zeros[1]] = 0.0
                for j in range(pairs):
                    row[orders[1, j]] = subtract_down(row[orders[1, j]], masses[j])
