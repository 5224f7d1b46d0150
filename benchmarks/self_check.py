"""Claim: the check that the classifier is a function takes less than 2 % of the time of a run with 10,000 samples.

A GCN on a graph as large as Cora-ML, noise on its attributes or its edges, by both engines. Chunks and the tasks of the
check are timed one by one in the same run, so that a busy machine slows down both.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import scipy.sparse as sp
import torch

import flipproof as fp
from claims import Claim, report
from flipproof.base.threads import single_threaded
from flipproof.smoothing.voting.chunks import Chunk
from flipproof.smoothing.voting.self_check import CheckedEvaluation, SelfCheck
from flipproof.smoothing.voting.vote_task import MissingSamples, VoteTask
from sampling import ATTRIBUTE_NOISE, WORDS, attributes, graph

MEMORY = 2 * 10**9
STRUCTURE_NOISE = fp.FlipNoise(0.0, 0.4)


def share_of_check(space, noise, engine, samples, targets=None):
    """Seconds of the check over those of all chunks."""
    torch.manual_seed(0)
    classifier = fp.NodeClassifier(fp.GCN(WORDS, 7), classes=7)  # untrained: the labels do not matter here
    fp.vote(classifier, space, noise, 64, 64, engine=engine, targets=targets, progress=False)  # compiles
    job = VoteTask.of(classifier, space, noise, 0, targets)
    evaluation = job.evaluation(MEMORY, None, engine)
    missing = MissingSamples(evaluation.plan, {"select": [range(0)], "estimate": [range(samples)]})
    seconds = {True: 0.0, False: 0.0}
    start = time.perf_counter()
    check = SelfCheck(CheckedEvaluation.of(evaluation, MEMORY), 0, missing.gaps())
    seconds[False] += time.perf_counter() - start
    with single_threaded():
        for task in check.among(missing.chunks()):
            start = time.perf_counter()
            check.work(task)
            seconds[isinstance(task, Chunk)] += time.perf_counter() - start
    return seconds[False] / seconds[True]


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    rng = np.random.default_rng(0)
    edges, words = graph(rng).clean().edge_index, sp.csr_array(attributes(rng))
    claims = []
    for noisy, noise in (("attributes", ATTRIBUTE_NOISE), ("structure", STRUCTURE_NOISE)):
        space = fp.Graph.from_edge_index(edges, attributes=words, noisy=noisy)
        for engine in ("fused", "torch"):
            share = share_of_check(space, noise, engine, samples)
            claims.append(
                Claim(f"check, noise on {noisy}, {engine} engine, {samples:,} samples", 100 * share, "%", at_most=2)
            )
    report("self_check", claims)


if __name__ == "__main__":
    main()
