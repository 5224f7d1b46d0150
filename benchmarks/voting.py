"""Claim: two workers are almost twice as fast as one and count the same votes; memory stays under the limit.

A GCN on a graph as large as Cora-ML, noise on its attributes. Needs two idle cores.
"""

from __future__ import annotations

import resource
import sys

import numpy as np
import scipy.sparse as sp
import torch

import flipproof as fp
from claims import Claim, report
from sampling import ATTRIBUTE_NOISE, NODES, WORDS, attributes, graph


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 60_000
    rng = np.random.default_rng(0)
    structure = graph(rng).clean().edge_index
    space = fp.Graph.from_edge_index(structure, attributes=sp.csr_array(attributes(rng)), noisy="attributes")
    torch.manual_seed(0)
    classifier = fp.NodeClassifier(fp.GCN(WORDS, 7), classes=7)  # untrained: the labels do not matter here
    fp.vote(classifier, space, ATTRIBUTE_NOISE, 64, 0)  # compiles
    runs = {n: fp.vote(classifier, space, ATTRIBUTE_NOISE, 64, samples, workers=n) for n in (1, 2)}
    one, two = runs[1].run, runs[2].run
    same = all((getattr(runs[1], role) == getattr(runs[2], role)).all() for role in ("selection", "estimation"))
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    report(
        "voting",
        [
            Claim(f"one worker, {NODES} nodes, {one.engine} engine", one.samples_per_second, "samples/s"),
            Claim("two workers, start included", two.samples_per_second, "samples/s"),
            Claim("two workers against one", one.seconds / two.seconds, "x", at_least=1.7),
            Claim("votes are the same", float(same), "", at_least=1),
            Claim("memory of the largest process, torch included", peak / 2**20, "GiB", at_most=2),
        ],
    )


if __name__ == "__main__":
    main()
