"""Claim: the attribute certificate of a GCN takes less than 10 minutes for all nodes of Cora-ML, on one thread.

28 bits of every node and 12 altogether may be flipped, as in Zuegner and Guennemann (2019). Then the same network is
trained on with their robust hinge loss: more of its labels are certified. Needs cora_ml (FLIPPROOF_DATA).
"""

from __future__ import annotations

import time

import torch

import flipproof as fp
from claims import Claim, report
from flipproof.baselines.gcn.attributes import certify
from flipproof.baselines.gcn.robust_training import RobustSettings, train_robustly

LOCAL, TOTAL = 28, 12


def certified(classifier, data, split, name):
    start = time.perf_counter()
    proofs = certify(classifier, data, local=LOCAL, budgets=[TOTAL])
    seconds = time.perf_counter() - start
    right = proofs.label == data.labels
    return [
        Claim(f"{name}: {data.nodes} nodes at one budget", seconds, "s", at_most=600),
        Claim(f"{name}: certified, all nodes", float(proofs.certified(TOTAL).mean()), "share"),
        Claim(f"{name}: certified, test nodes", float(proofs.certified(TOTAL)[split.test].mean()), "share"),
        Claim(f"{name}: right, test nodes", float(right[split.test].mean()), "share"),
    ]


def main():
    torch.set_num_threads(1)
    data = fp.datasets.load("cora_ml", download=False).standardised()
    graph, split = data.graph("attributes"), fp.Split.per_class(data.labels)
    torch.manual_seed(0)
    classifier = fp.NodeClassifier(fp.GCN(data.features, data.classes), classes=data.classes)
    settings = fp.TrainingSettings(noisy_samples=0, learning_rate=0.01)
    fp.train(classifier, graph, data.labels, split, settings=settings, progress=False)
    claims = certified(classifier, data, split, "plain training")
    start = time.perf_counter()
    train_robustly(classifier, data, data.labels, split, RobustSettings(total=TOTAL, local=LOCAL, steps=200))
    claims.append(Claim("200 steps of robust training", time.perf_counter() - start, "s"))
    report("gcn_attributes", claims + certified(classifier, data, split, "robust training"))


if __name__ == "__main__":
    main()
