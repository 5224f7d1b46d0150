"""Claim: whether deleted edges change a GCN's label of a node of Cora-ML is decided in a second, for nearly every node.

A plain GCN, 50 random test nodes, up to 1, 2, 3 and 5 deleted edges, at most 50 linear programs for a node and a
budget, one thread. Decided is what is proved for all deletions, or refuted by some. Usage: python
benchmarks/gcn_structure.py [NODES]. Needs cora_ml (FLIPPROOF_DATA).
"""

from __future__ import annotations

import sys
import time

import numpy as np
import torch

import flipproof as fp
from claims import Claim, report
from flipproof.baselines.gcn.structure import bounds

BUDGETS = (1, 2, 3, 5)


def trained(data, split):
    """A GCN that never sees noise."""
    torch.manual_seed(0)
    classifier = fp.NodeClassifier(fp.GCN(data.features, data.classes), classes=data.classes)
    plain = fp.TrainingSettings(noisy_samples=0)
    fp.train(classifier, data.graph("structure"), data.labels, split, settings=plain, progress=False)
    return classifier


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    data = fp.datasets.load("cora_ml", download=False).standardised()
    split = fp.Split.per_class(data.labels, seed=0)
    classifier = trained(data, split)
    nodes = np.random.default_rng(0).choice(split.test, count, replace=False)
    bounds(classifier, data, nodes[:1], budgets=[1])  # compiles what listing edges needs
    seconds, found = [], []
    for node in nodes:
        start = time.perf_counter()
        found.append(bounds(classifier, data, [node], budgets=BUDGETS, node_limit=50))
        seconds.append(time.perf_counter() - start)
    lower, upper = (np.concatenate([getattr(each, name) for each in found]) for name in ("lower", "upper"))
    without = np.array([each.programs[0] == 0 for each in found])
    claims = [
        Claim(
            f"{budget} deleted: proved (refuted {np.mean(upper[:, i] <= 0):.2f})", np.mean(lower[:, i] > 0), "of nodes"
        )
        for i, budget in enumerate(BUDGETS)
    ]
    claims += [
        Claim("decided at every budget", np.mean(((lower > 0) | (upper <= 0)).all(axis=1)), "of nodes", at_least=0.9),
        Claim("no linear program needed", without.mean(), "of nodes"),
        Claim(f"mean time (median {np.median(seconds):.2f})", np.mean(seconds), "s/node", at_most=1.0),
        Claim("longest time", max(seconds), "s"),
    ]
    report("gcn_structure", claims)


if __name__ == "__main__":
    main()
