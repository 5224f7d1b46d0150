"""Claim: the time of fused voting is linear in the samples and in what noise leaves and adds, and memory is bounded.

Random graphs with a GCN, one thread. Each series changes one thing by a factor of sixteen; the exponent of the time is
fitted to it. Memory is that of fresh processes which vote on real graphs (FLIPPROOF_DATA), few samples and many.
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import scipy.sparse as sp
import torch

import flipproof as fp
from claims import Claim, report
from flipproof.noise.sampling import Role

NODES, WORDS, ONES_PER_NODE, EDGES_PER_NODE, HIDDEN = 2000, 2000, 40, 3, 64
FACTORS = (1, 2, 4, 8, 16)

PEAK = """
import sys
import torch
import flipproof as fp
name, samples = sys.argv[1], int(sys.argv[2])
data = fp.datasets.load(name, download=False).standardised()
torch.manual_seed(0)
classifier = fp.NodeClassifier(fp.GCN(data.features, data.classes), classes=data.classes)
fp.vote(classifier, data.graph("attributes"), fp.FlipNoise(0.01, 0.6), 0, samples, progress=False)
[peak] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(int(peak) / 2**20)
"""


def seconds_per_sample(noise, nodes=NODES, words=WORDS, hidden=HIDDEN, samples=16):
    """Of the fused engine, the fastest of several turns."""
    rng = np.random.default_rng(0)
    cells = rng.choice(nodes * words, ONES_PER_NODE * nodes, replace=False)
    bits = sp.csr_array((np.ones(cells.size), (cells // words, cells % words)), shape=(nodes, words))
    pairs = np.unique(np.sort(rng.integers(0, nodes, (2, EDGES_PER_NODE * nodes)), axis=0), axis=1)
    pairs = pairs[:, pairs[0] < pairs[1]]
    graph = fp.Graph.from_edge_index(np.concatenate([pairs, pairs[::-1]], axis=1), nodes, bits, noisy="attributes")
    torch.manual_seed(0)
    classifier = fp.NodeClassifier(fp.GCN(words, 7, hidden), classes=7)
    fused = classifier.fused(graph.sampler(noise, seed=0))
    fused(Role.ESTIMATE, range(2))
    turns = []
    for _ in range(5):
        start = time.process_time()
        fused(Role.ESTIMATE, range(samples))
        turns.append(time.process_time() - start)
    return min(turns) / samples


def exponent(sizes, seconds):
    """The slope of a line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def peak(name, samples):
    """Gigabytes of a fresh process."""
    command = [sys.executable, "-c", PEAK, name, str(samples)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main():
    torch.set_num_threads(1)
    usual = fp.FlipNoise(0.01, 0.6)
    rows = {}
    rows["samples"] = [(f * 8, f * 8 * seconds_per_sample(usual, samples=f * 8)) for f in FACTORS]
    rows["nodes"] = [(f * 1000, seconds_per_sample(usual, nodes=f * 1000)) for f in FACTORS]
    flips = [(fp.FlipNoise(0.005 * f, 0.6), ONES_PER_NODE * 0.4 + 0.005 * f * WORDS) for f in FACTORS]
    rows["ones that are left + added, by p_plus"] = [(size, seconds_per_sample(noise)) for noise, size in flips]
    words = [(f * 1000, ONES_PER_NODE * 0.4 + 0.01 * f * 1000) for f in FACTORS]
    rows["ones that are left + added, by attributes"] = [
        (size, seconds_per_sample(usual, words=d)) for d, size in words
    ]
    rows["hidden units"] = [(f * 16, seconds_per_sample(usual, hidden=f * 16)) for f in FACTORS]
    claims = []
    for name, series in rows.items():
        print(f"{name}: " + ", ".join(f"{size:g}: {1e3 * seconds:.3g} ms" for size, seconds in series))
        claims.append(Claim(f"exponent of the time in {name}", exponent(*zip(*series, strict=True)), "", at_most=1.15))
    for name, limit in (("cora_ml", 2), ("pubmed", 4)):
        few, many = (peak(name, samples) for samples in (64, 4096))
        claims += [
            Claim(f"peak memory, {name}, 64 samples", few, "GiB", at_most=limit),
            Claim(f"peak memory, {name}, 4096 samples", many, "GiB", at_most=limit),
        ]
    report("scaling", claims)


if __name__ == "__main__":
    main()
