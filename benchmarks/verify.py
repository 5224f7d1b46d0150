"""How long the independent checker takes: 2,810 inputs, from few to a million samples, sure and unsure ones.

Run `python benchmarks/verify.py`. The votes are simulated, so that the check is all there is to be timed.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

import flipproof as fp
from claims import Claim, report

NOISES = {
    "binary": fp.FlipNoise(0.01, 0.6),
    "joint": fp.JointNoise(structure=fp.FlipNoise(2e-5, 0.4), attributes=fp.FlipNoise(0.01, 0.6)),
    "256 levels": fp.FlipNoise(0.4, 0.4, 256),
}


def votes(noise, n_estimate, spread, seed):
    """2,810 inputs, 7 classes; the smaller the spread, the more of them are sure."""
    rng = np.random.default_rng(seed)  # others every time: what was checked once is remembered
    p = np.sort(rng.dirichlet([5.0, *[spread] * 6], 2810))[:, ::-1]
    return fp.Votes.from_counts(
        selection=rng.multinomial(1_000, p), estimation=rng.multinomial(n_estimate, p), noise=noise
    )


def seconds(votes):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificates.json"
        fp.certify(votes).save(path)
        start = time.perf_counter()
        check = fp.verify(path, arithmetic_only=True)
        taken = time.perf_counter() - start
    assert check.confirmed
    return taken


def main():
    claims = []
    for name, noise in NOISES.items():
        for n_estimate, spread in ((10_000, 0.05), (100_000, 0.05), (100_000, 0.5), (1_000_000, 0.5)):
            what = f"check 2,810 inputs, {name}, {n_estimate:,} samples, spread {spread}"
            claims.append(Claim(what, seconds(votes(noise, n_estimate, spread, len(claims))), "s", at_most=60))
    report("verify", claims)


if __name__ == "__main__":
    main()
