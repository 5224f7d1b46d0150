"""Claim: on Ray, votes come as fast as with workers of this machine, and one process can collect those of many.

Cora-ML attributes, GCN with 64 hidden units. The speed is that between the end of a short call and of a long one, so
what it takes to begin is told apart. Needs two idle cores and cora_ml (FLIPPROOF_DATA).
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from pathlib import Path

import numpy as np
import ray
import torch

import flipproof as fp
from claims import Claim, report
from flipproof.smoothing.voting.checkpoint import Checkpoint
from flipproof.smoothing.voting.vote_counts import VoteCounts

FEW, MANY = 6_000, 30_000
RESULTS = 300


def called(classifier, graph, samples, **options):
    """The votes of one call, and its seconds."""
    start = time.perf_counter()
    votes = fp.vote(classifier, graph, fp.FlipNoise(0.01, 0.6), 0, samples, progress=False, **options)
    return votes.estimation, time.perf_counter() - start


def speed(classifier, graph, cpus, way):
    """Votes of the long call, samples per second once all are at work, and seconds until then."""
    with contextlib.ExitStack() as stack:
        options = {"workers": cpus}
        if way == "ray":
            options = {"workers": "ray"}
            ray.init(num_cpus=cpus, include_dashboard=False, log_to_driver=False)
            stack.callback(ray.shutdown)
        _, short = called(classifier, graph, FEW, **options)
        votes, long = called(classifier, graph, MANY, **options)
    rate = (MANY - FEW) / (long - short)
    return votes, rate, max(0.0, short - FEW / rate)


def collecting(shape):
    """Processor milliseconds of this process to receive one array of counts and to add it up."""
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    counts = ray.remote(lambda: np.ones(shape, np.int64))
    ray.get([counts.remote() for _ in range(8)])
    waiting = [counts.remote() for _ in range(RESULTS)]
    ray.wait(waiting, num_returns=RESULTS, fetch_local=False)
    total, start = np.zeros(shape, np.int64), time.process_time()
    for one in waiting:
        total += ray.get(one)
    received = time.process_time() - start
    ray.shutdown()
    return 1e3 * received / RESULTS


def keeping(classes, nodes):
    """Milliseconds to add one array of counts to a checkpoint."""
    counts = np.full((nodes, classes), 1, np.int64)
    counts[:, 0] = 1000
    with tempfile.TemporaryDirectory() as folder, Checkpoint.open(Path(folder) / "votes", {"classes": classes}) as kept:
        start = time.perf_counter()
        for i in range(RESULTS):
            kept.add(VoteCounts.of("estimate", range(2000 * i, 2000 * (i + 1)), counts))
        return 1e3 * (time.perf_counter() - start) / RESULTS


def main():
    torch.set_num_threads(1)
    data = fp.datasets.load("cora_ml", download=False).standardised()
    graph = data.graph("attributes")
    torch.manual_seed(0)
    classifier = fp.NodeClassifier(fp.GCN(data.features, data.classes), classes=data.classes)
    called(classifier, graph, 64)  # compiles
    claims, votes = [], {}
    for cpus in (1, 2):
        for way in ("workers", "ray"):
            votes[way, cpus], rate, begin = speed(classifier, graph, cpus, way)
            claims += [
                Claim(f"{way}, {cpus} CPU{'s' * (cpus > 1)}", rate, "samples/s"),
                Claim(f"{way}, {cpus} CPU{'s' * (cpus > 1)}: to begin", begin, "s"),
            ]
    first, *others = votes.values()
    claims += [
        Claim("votes are the same", float(all((other == first).all() for other in others)), "", at_least=1),
        Claim("to receive one result of Cora-ML", collecting((2810, 7)), "ms"),
        Claim("to receive one result of PubMed", collecting((19717, 3)), "ms"),
        Claim("to add one result of Cora-ML to a checkpoint", keeping(7, 2810), "ms"),
        Claim("to add one result of PubMed to a checkpoint", keeping(3, 19717), "ms"),
    ]
    report("cluster", claims)


if __name__ == "__main__":
    main()
