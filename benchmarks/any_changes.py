"""Any r changes of any kinds: how long the radius takes, and how much smaller than the exact one it is.

Run `python benchmarks/any_changes.py`. Prints a table and writes `results/any_changes.json`. Exact radii come from all
splits, of changes that no other one dominates (docs/theory.md, statement 17).
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

import flipproof as fp
from claims import Claim, best_of, report
from flipproof.theory.domination import worst_change
from flipproof.theory.l0_ball import _dominated_radii, budgets_of
from flipproof.theory.regions import regions_at
from flipproof.theory.search import SEARCH_LIMIT

ROWS = 1_000


def table(categories, p_plus, p_minus=None):
    """A table with a column for each number of categories."""
    p_minus = p_plus if p_minus is None else p_minus
    return fp.JointNoise(**{f"column {i}": fp.FlipNoise(p_plus, p_minus, k) for i, k in enumerate(categories)})


NOISES = {
    "20 columns of 3 to 22 categories, p = 0.6": table(range(3, 23), 0.6),
    "20 columns of 2 to 21 categories, p = 0.8": table(range(2, 22), 0.8),
    "20 columns of 3 to 22 categories, (0.3, 0.6)": table(range(3, 23), 0.3, 0.6),
    "8 columns of 2 to 100 categories, p = 0.7": table([2, 3, 4, 5, 9, 20, 100, 100], 0.7),
    "2 and 256 categories, p = 0.8": table([2, 256], 0.8),
    "attributes (0.01, 0.6)": fp.FlipNoise(0.01, 0.6),
    "bits (0.2, 0.4)": fp.FlipNoise(0.2, 0.4),
    "bits (0.3, 0.5)": fp.FlipNoise(0.3, 0.5),
    "graph (2e-5, 0.4) and (0.01, 0.6)": fp.JointNoise(edges=fp.FlipNoise(2e-5, 0.4), words=fp.FlipNoise(0.01, 0.6)),
}


FAR = ("bits (0.3, 0.5)",)
"""Radii of up to a hundred changes, most of them too large to look at all splits."""


def bounds():
    """Pairs from hardly ahead to what a million samples can prove."""
    rng = np.random.default_rng(0)
    p_lower = 1 - 10 ** rng.uniform(-5.3, -0.35, ROWS)
    return p_lower, (1 - p_lower) * rng.uniform(0.3, 1.0, ROWS)


def exact_radii(noise, p_lower, p_upper):
    """All splits of every radius, until nothing holds any more."""
    budgets, left = budgets_of(noise, None, None), np.flatnonzero(p_lower > p_upper)
    radii, radius = np.zeros(p_lower.size, dtype=np.int64), 0
    while left.size:
        radii[left], radius = radius, radius + 1
        for split in budgets.splits(radius):
            left = left[regions_at(budgets.noise, split).margin(p_lower[left], p_upper[left]) > 0.0]
    return radii


def losses(p_lower, p_upper):
    for name, noise in NOISES.items():
        exact, given = exact_radii(noise, p_lower, p_upper), fp.largest_l0_radius(noise, p_lower, p_upper)
        worst = worst_change(budgets_of(noise, None, None).curves())
        bound = np.where(p_lower > p_upper, _dominated_radii(worst, p_lower, p_upper, SEARCH_LIMIT), 0)
        yield Claim(f"{name}: exact mean radius", exact.mean(), "changes")
        yield Claim(
            "  mean radius given", given.mean(), "changes", at_least=(0.7 if name in FAR else 0.95) * exact.mean()
        )
        yield Claim("  inputs with a smaller one than the exact one", 100 * (given < exact).mean(), "%")
        yield Claim("  mean radius by the worst change alone", bound.mean(), "changes", at_least=0.6 * exact.mean())
        yield Claim("  inputs with a smaller one than the exact one", 100 * (bound < exact).mean(), "%")
        yield Claim("  inputs with a larger one", int((np.maximum(given, bound) > exact).sum()), "", at_most=0)


def times(p_lower, p_upper):
    fp.largest_l0_radius(fp.FlipNoise(0.1, 0.2), p_lower, p_upper)
    for name, noise in NOISES.items():
        start = time.perf_counter()
        fp.largest_l0_radius(noise, p_lower, p_upper)
        first = time.perf_counter() - start
        again = best_of(lambda noise=noise: fp.largest_l0_radius(noise, p_lower, p_upper))
        bar = 100 if "columns" in name else None
        yield Claim(f"{name}: {ROWS:,} radii, first call", 1e3 * first, "ms", at_most=bar)
        yield Claim(f"{name}: {ROWS:,} radii, later calls", 1e3 * again, "ms", at_most=bar)


def time_of_a_new_process():
    """From the first call of a process on: compiled loops are read from disk, nothing is known of the noise."""
    script = (
        "import sys, time; sys.path.insert(0, 'benchmarks')\n"
        "import numpy, flipproof, any_changes as one\n"
        "noise, pairs = one.NOISES['20 columns of 2 to 21 categories, p = 0.8'], one.bounds()\n"
        "start = time.perf_counter(); flipproof.largest_l0_radius(noise, *pairs); print(time.perf_counter() - start)"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout
    yield Claim("20 columns of 2 to 21 categories, p = 0.8: first call of a process", float(found), "s")


if __name__ == "__main__":
    pairs = bounds()
    report("any_changes", [*times(*pairs), *time_of_a_new_process(), *losses(*pairs)])
