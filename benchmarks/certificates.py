"""Speed of the certificate engine: every claim is a ratio or a time measured in this run.

Run `make bench`, or `python benchmarks/certificates.py`. Prints a table and writes `results/certificates.json`.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np

import flipproof as fp
import paper_algorithm
import plain_float64
from claims import Claim, best_of, report
from flipproof.statistics.bounds import lower_bound

NOISE = fp.FlipNoise(p_plus=0.01, p_minus=0.6)
GRID = {"add": range(11), "delete": range(26)}


def bounds():
    """2,810 distinct p_lower, as many as Cora-ML has nodes, and matching p_upper."""
    votes = np.random.default_rng(0).choice(np.arange(40_000, 100_001), 2810, replace=False)
    p_lower = lower_bound(votes, 100_000, 0.009)
    return p_lower, np.minimum(1 - p_lower, 0.7 * (1 - p_lower) + 1e-4)


def against_the_paper(p_lower, p_upper):
    start = time.perf_counter()
    reference = np.array(paper_algorithm.rho_grid(0.01, 0.6, *GRID.values(), p_lower.tolist()))
    slow_rho = time.perf_counter() - start
    start = time.perf_counter()
    pairs = list(zip(p_lower.tolist(), p_upper.tolist(), strict=True))
    margins = np.array(paper_algorithm.margin_grid(0.01, 0.6, *GRID.values(), pairs))
    slow_mu = time.perf_counter() - start

    fast_rho = best_of(lambda: fp.rho_table(NOISE, p_lower, **GRID))
    fast_decide = best_of(lambda: p_lower > fp.critical_table(NOISE, **GRID)[..., None])
    fast_mu = best_of(lambda: fp.mu_table(NOISE, p_lower, p_upper, **GRID))
    rho = fp.rho_table(NOISE, p_lower, **GRID).reshape(reference.shape)
    decided = (p_lower > fp.critical_table(NOISE, **GRID)[..., None]).reshape(reference.shape)
    mu = fp.mu_table(NOISE, p_lower, p_upper, **GRID).reshape(margins.shape)
    yield Claim("paper's algorithm, rho, 11 x 26 radii, 2,810 probabilities", slow_rho, "s")
    yield Claim("rho for every cell", fast_rho * 1e3, "ms")
    yield Claim("critical table and all decisions", fast_decide * 1e3, "ms")
    yield Claim("multi-class margin for every cell", fast_mu * 1e3, "ms")
    yield Claim("rho for every cell, faster than the paper's algorithm", slow_rho / fast_rho, "x", at_least=500)
    yield Claim("table and decisions, faster", slow_rho / fast_decide, "x", at_least=1500)
    yield Claim("multi-class margin, faster", slow_mu / fast_mu, "x", at_least=200)
    yield Claim("decisions that differ", int((decided != (reference > 0.5)).sum()), "cells", at_most=0)
    yield Claim("margins that differ in sign", int(((mu > 0) != (margins > 0)).sum()), "cells", at_most=0)
    yield Claim("largest distance of rho", float(np.abs(rho - reference).max()), "", at_most=1e-9)


def cost_of_soundness(p_lower):
    ascending = np.sort(p_lower)
    sound, plain = best_of_pair(
        lambda: fp.rho_table(NOISE, ascending, **GRID),
        lambda: plain_float64.rho_table(0.01, 0.6, 11, 26, ascending),
    )
    yield Claim("sound rho table over plain float64", sound / plain, "x the time", at_most=2)
    sound, plain = best_of_pair(
        lambda: fp.critical_table(NOISE, add=range(201), delete=range(201)),
        lambda: plain_float64.critical_table(0.01, 0.6, 201, 201),
    )
    yield Claim("sound critical table 201 x 201 over plain float64", sound / plain, "x the time", at_most=2)


def best_of_pair(first, second):
    """Both interleaved, so that a busy moment hits both."""
    times = [(best_of(first, 3), best_of(second, 3)) for _ in range(5)]
    return tuple(map(min, zip(*times, strict=True)))


def large_tables():
    k_ary = fp.FlipNoise(p_plus=0.3, p_minus=0.8, categories=256)
    eleven = dict.fromkeys(("add", "delete", "change"), range(11))
    yield Claim(
        "K-ary table 11 x 11 x 11, K = 256", best_of(lambda: fp.critical_table(k_ary, **eleven)), "s", at_most=0.1
    )
    joint = fp.JointNoise(structure=fp.FlipNoise(2e-5, 0.4), attributes=fp.FlipNoise(2e-5, 0.6))
    box = {part: {"add": range(21), "delete": range(21)} for part in ("structure", "attributes")}
    yield Claim("joint table 21^4", best_of(lambda: fp.critical_table(joint, box), 3), "s", at_most=1)
    wide = {"add": range(201), "delete": range(201)}
    yield Claim("binary table 201 x 201", best_of(lambda: fp.critical_table(NOISE, **wide), 3), "s", at_most=1)
    script = (
        "import flipproof as fp, resource\n"
        "fp.critical_table(fp.FlipNoise(0.01, 0.6), add=range(201), delete=range(201))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peak = int(run_python(script)) / 1024
    yield Claim("binary table 201 x 201, peak memory of the process", peak, "MiB", at_most=500)


def many_inputs():
    rng = np.random.default_rng(0)
    share = rng.beta(8, 1, 1_000_000)
    rest = np.stack([share, 0.7 * (1 - share), 0.3 * (1 - share)], axis=1)
    rest[:, 0] = 1 - rest[:, 1:].sum(axis=1)
    selection, estimation = rng.multinomial(1_000, rest), rng.multinomial(100_000, rest)
    votes = fp.Votes.from_counts(selection=selection, estimation=estimation, noise=NOISE)
    start = time.perf_counter()
    certificates = fp.certify(votes)
    yield Claim("certify 1,000,000 inputs (100,000 samples, 3 classes)", time.perf_counter() - start, "s", at_most=10)
    start = time.perf_counter()
    certificates.certified_ratio(add=range(8), delete=range(20))
    yield Claim("their certified ratio over 8 x 20 radii", time.perf_counter() - start, "s", at_most=10)
    start = time.perf_counter()
    certificates.max_radius("delete")
    yield Claim("their largest radii", time.perf_counter() - start, "s", at_most=10)


def start_up():
    program = f"{sys.prefix}/bin/flipproof"
    yield Claim(
        "flipproof --help", best_of(lambda: subprocess.run([program, "--help"], capture_output=True, check=True)), "s",
        at_most=0.5,
    )  # fmt: skip
    script = "import time; start = time.perf_counter(); import flipproof; print(time.perf_counter() - start)"
    yield Claim("import flipproof", min(float(run_python(script)) for _ in range(5)), "s", at_most=0.6)
    heavy = run_python(
        "import sys, flipproof; print([m for m in ('torch', 'scipy.stats', 'matplotlib') if m in sys.modules])"
    )
    yield Claim(f"heavy modules imported with it: {heavy.strip()}", heavy.count("'") // 2, "", at_most=0)


def run_python(script):
    return subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout


if __name__ == "__main__":
    p_lower, p_upper = bounds()
    report(
        "certificates",
        [
            *against_the_paper(p_lower, p_upper),
            *cost_of_soundness(p_lower),
            *large_tables(),
            *many_inputs(),
            *start_up(),
            Claim("peak memory of this run", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MiB"),
        ],
    )
