"""Claim: certificates that need no regions cost milliseconds, and the published algorithm of Lee et al. grows with d.

Bounds of 2,810 inputs. The algorithm of Lee et al. counts with integers of any size over all d entries; the exponent of
its time is fitted. This package's time for the same critical probability does not depend on d.
"""

from __future__ import annotations

import numpy as np

import flipproof as fp
from claims import Claim, best_of, report
from flipproof.baselines import ablation, f_divergence, lee

SIZES = (32, 64, 128, 256)


def main():
    p_lower = np.linspace(0.5, 0.9999, 2810)
    flips, kept = fp.FlipNoise(0.01, 0.6), fp.AblationNoise(2879, 576)
    claims = [
        Claim("ablation: radii of 2,810 bounds", 1e3 * best_of(lambda: ablation.largest_radius(kept, p_lower)), "ms"),
        *(
            Claim(
                f"{name} divergence: radii of 2,810 bounds",
                1e3
                * best_of(lambda name=name: f_divergence.largest_radius(flips, p_lower, divergence=name), repeats=3),
                "ms",
            )
            for name in ("kl", "renyi", "hockey-stick")
        ),
    ]
    images = fp.FlipNoise(0.8, 0.8, categories=256)
    seconds = [best_of(lambda d=d: lee.original_critical_probability(images, d, 3), repeats=2) for d in SIZES]
    claims += [
        Claim(f"Lee et al., d = {d}, K = 256, r = 3", 1e3 * s, "ms") for d, s in zip(SIZES, seconds, strict=True)
    ]
    growth = float(np.polyfit(np.log(SIZES), np.log(seconds), 1)[0])
    ours = best_of(lambda: fp.critical_probability(images, fp.Radii(change=3)))
    claims += [
        Claim("Lee et al.: exponent of the time in d", growth, ""),
        Claim("this package, K = 256, r = 3, any d", 1e3 * ours, "ms"),
    ]
    report("baselines", claims)


if __name__ == "__main__":
    main()
