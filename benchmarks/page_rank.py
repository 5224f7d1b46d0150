"""Claim: the PageRank certificate of all nodes and class pairs of Cora-ML takes less than two minutes at one budget.

That is policy iteration for local budgets, one core. A global budget needs a linear program per node and class: for 50
test nodes, as in the paper's comparison, its time is reported. Needs cora_ml (FLIPPROOF_DATA).
"""

from __future__ import annotations

import sys
import time

import numpy as np
import torch

import flipproof as fp
from claims import Claim, report
from flipproof.baselines.walks.page_rank import PageRank, certify
from flipproof.baselines.walks.policy import Rewards, worst_values
from flipproof.baselines.walks.walk import Threat, outside_forest


def trained(data, split):
    """PPNP with the features of an APPNP."""
    graph = data.graph("attributes")
    torch.manual_seed(0)
    classifier = fp.NodeClassifier(fp.APPNP(data.features, data.classes), classes=data.classes)
    settings = fp.TrainingSettings(noisy_samples=0)
    fp.train(classifier, graph, data.labels, split, settings=settings, progress=False)
    return PageRank.from_appnp(classifier.module, graph)


def every_pair(model, budget):
    """Seconds for the worst margins of all nodes for all ordered pairs of classes."""
    start = time.perf_counter()
    walk = model.walk(Threat(outside_forest(model.adjacency), budget))
    classes = model.features.shape[1]
    for label in range(classes):
        for other in range(classes):
            if other != label:
                worst_values(walk, Rewards.of_visits(model.features[:, other] - model.features[:, label]))
    return time.perf_counter() - start


def claims_of(model, data, split, targets, radii):
    accuracy = (model.logits().argmax(axis=1) == data.labels)[split.test].mean()
    yield Claim("PPNP with the features of an APPNP: accuracy of test nodes", float(accuracy), "", at_least=0.8)
    for radius in radii:
        seconds = every_pair(model, radius)
        yield Claim(f"policy iteration, all nodes and class pairs, budget {radius}", seconds, "s", at_most=120)
    for budget in ("local", "global"):
        start = time.perf_counter()
        proofs = certify(model, radii, budget, nodes=targets)
        seconds = time.perf_counter() - start
        for radius, share in zip(radii, proofs.certified_ratio(radii), strict=True):
            words = f"{budget} budget {radius}, deletion: share of {targets.size} test nodes that is certified"
            yield Claim(words, float(share), "")
        yield Claim(f"{budget} budgets {radii}: certifying {targets.size} test nodes", seconds, "s")


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    data = fp.datasets.load("cora_ml", download=False).standardised()
    split = fp.Split.per_class(data.labels, seed=0)
    targets = np.sort(np.random.default_rng(0).choice(split.test, count, replace=False))
    report("page_rank", list(claims_of(trained(data, split), data, split, targets, [1, 2, 3])))


if __name__ == "__main__":
    main()
