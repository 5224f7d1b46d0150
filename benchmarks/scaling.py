"""Claim: the time of fused voting is linear in the samples and in what noise leaves and adds, and memory is bounded.

Random graphs with a GCN, one thread. Each series changes one thing by a factor of sixteen; the exponent of the time is
fitted to it. Memory is that of fresh processes which vote on real graphs (FLIPPROOF_DATA), few samples and many.
"""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch

import flipproof as fp
from claims import Claim, report
from flipproof.noise.sampling.samplers import Role

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


@dataclass(frozen=True)
class Setting:
    """A random graph, and the width of the GCN."""

    nodes: int = 2000
    words: int = 2000
    ones_per_node: int = 40
    edges_per_node: int = 3
    hidden: int = 64
    noisy: str = "attributes"

    def graph(self):
        rng = np.random.default_rng(0)
        cells = rng.choice(self.nodes * self.words, self.ones_per_node * self.nodes, replace=False)
        shape = (self.nodes, self.words)
        bits = sp.csr_array((np.ones(cells.size), (cells // self.words, cells % self.words)), shape=shape)
        pairs = np.sort(rng.integers(0, self.nodes, (2, self.edges_per_node * self.nodes)), axis=0)
        pairs = np.unique(pairs[:, pairs[0] < pairs[1]], axis=1)
        both = np.concatenate([pairs, pairs[::-1]], axis=1)
        return fp.Graph.from_edge_index(both, self.nodes, bits, noisy=self.noisy)


def seconds_per_sample(noise, samples=16, **setting):
    """Of the fused engine, the fastest of several turns."""
    setting = Setting(**setting)
    torch.manual_seed(0)
    classifier = fp.NodeClassifier(fp.GCN(setting.words, 7, setting.hidden), classes=7)
    fused = classifier.fused(setting.graph().sampler(noise, seed=0))
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
    deleting = fp.FlipNoise(0.0, 0.4)
    rows = {
        "samples": [(f * 8, f * 8 * seconds_per_sample(usual, samples=f * 8)) for f in FACTORS],
        "nodes": [(f * 1000, seconds_per_sample(usual, nodes=f * 1000)) for f in FACTORS],
        "ones that are left + added, by p_plus": [
            (16 + 10 * f, seconds_per_sample(fp.FlipNoise(0.005 * f, 0.6))) for f in FACTORS
        ],
        "ones that are left + added, by attributes": [
            (16 + 10 * f, seconds_per_sample(usual, words=f * 1000)) for f in FACTORS
        ],
        "ones that are left + added, by ones": [
            (8 * f + 20, seconds_per_sample(usual, ones_per_node=20 * f)) for f in FACTORS
        ],
        "hidden units": [(f * 16, seconds_per_sample(usual, hidden=f * 16)) for f in FACTORS],
        "nodes, noise on edges": [
            (f * 1000, seconds_per_sample(deleting, nodes=f * 1000, noisy="structure")) for f in FACTORS
        ],
        "edges that are left, noise on edges": [
            (f, seconds_per_sample(deleting, edges_per_node=2 * f, noisy="structure")) for f in FACTORS
        ],
        "edges that are left + added, by p_plus": [
            (3.6 + 2 * f, seconds_per_sample(fp.FlipNoise(0.001 * f, 0.4), noisy="structure")) for f in FACTORS
        ],
    }
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
