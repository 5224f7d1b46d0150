"""What the split of alpha is worth: mean certified ratio over a grid of radii under each way to spend it.

Run `python benchmarks/rules.py`. The votes are those of a classifier of digits (tests/golden), and
simulated ones like a node classifier's.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import flipproof as fp
from claims import Claim, report
from flipproof.smoothing.certificates import Certificates
from flipproof.statistics.bounds import AlphaBudget, Bounds, Rule, bounds_from_counts

ALPHA = 0.01


def digits_votes():
    return fp.Votes.load(Path(__file__).parents[1] / "tests" / "golden" / "digits_votes.npz")


def simulated_votes(n_estimate):
    """2,810 inputs, 7 classes, most of them sure: beta-distributed top probability, the rest spread unevenly."""
    rng = np.random.default_rng(0)
    top = rng.beta(5, 0.5, 2810)
    p = np.column_stack([top, (1 - top)[:, None] * rng.dirichlet(np.full(6, 0.4), 2810)])
    p[:, 0] = 1 - p[:, 1:].sum(axis=1)
    return fp.Votes.from_counts(
        selection=rng.multinomial(1_000, p), estimation=rng.multinomial(n_estimate, p), noise=fp.FlipNoise(0.01, 0.6)
    )


def bounds(votes, rule, share=0.9):
    budget = AlphaBudget(ALPHA, lower_share=share)
    return bounds_from_counts(votes.selection_counts, votes.estimation_counts, budget, rule)


def planned(votes):
    """90 / 10 where the votes expected from the selection votes have the larger p_lower - p_upper that way."""
    scale = votes.n_estimate / votes.n_select
    expected = fp.Votes.from_counts(
        selection=votes.selection, estimation=np.rint(votes.selection * scale).astype(int), noise=votes.noise
    )
    two, multi = (bounds(expected, rule) for rule in (Rule.TWO_CLASS, Rule.MULTI_CLASS))
    split = multi.p_lower - multi.p_upper > two.p_lower - two.p_upper
    two, multi = (bounds(votes, rule) for rule in (Rule.TWO_CLASS, Rule.MULTI_CLASS))
    return Bounds(
        multi.label, multi.runner_up,
        np.where(split, multi.p_lower, two.p_lower), np.where(split, multi.p_upper, two.p_upper),
    )  # fmt: skip


def mean_ratio(votes, found, grid):
    return Certificates(votes, AlphaBudget(ALPHA), Rule.MULTI_CLASS, False, found).certified_ratio(**grid).mean()


def compare(name, votes, grid):
    two_class = mean_ratio(votes, bounds(votes, Rule.TWO_CLASS), grid)
    yield Claim(f"{name}: two-class", two_class, "mean ratio")
    for share in (0.8, 0.9, 0.98):
        ratio = mean_ratio(votes, bounds(votes, Rule.MULTI_CLASS, share), grid)
        bar = two_class if share == 0.9 else None
        yield Claim(f"{name}: {share:.0%} for p_lower", ratio, "mean ratio", at_least=bar)
    yield Claim(f"{name}: planned from the selection votes", mean_ratio(votes, planned(votes), grid), "mean ratio")


if __name__ == "__main__":
    wide = {"add": range(8), "delete": range(20)}
    report(
        "rules",
        [
            *compare("digits, 10,000 samples", digits_votes(), {"add": range(3), "delete": range(5)}),
            *compare("simulated nodes, 10,000 samples", simulated_votes(10_000), wide),
            *compare("simulated nodes, 100,000 samples", simulated_votes(100_000), wide),
            *compare("simulated nodes, 1,000,000 samples", simulated_votes(1_000_000), wide),
        ],
    )
