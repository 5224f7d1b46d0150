"""What adversarial training of the smoothed classifier does for certificates (Salman et al. 2019, with flips of bits).

The same models are trained with and without attacks: a network with one hidden layer on the digits that need no
download, noise (0.1, 0.2), and a GCN on the attributes of Cora-ML, noise (0.01, 0.6). Means over two seeds and all test
inputs, 10,000 samples; a wrong label counts as radius 0. There is no bar: this is what happens. Needs cora_ml
(FLIPPROOF_DATA). Usage: python benchmarks/smooth_adversarial.py [digits | cora_ml].
"""

from __future__ import annotations

import sys
import time
from statistics import mean

import numpy as np
import torch

import flipproof as fp
from claims import Claim, report
from flipproof.models.training.attacks import FlipAttack
from flipproof.models.training.smooth_adversarial import train_against

SEEDS = (0, 1)
BUDGETS = {"digits": [(0, 0), (1, 1), (2, 2), (4, 4)], "cora_ml": [(0, 0), (4, 0), (4, 16), (16, 64)]}
"""Bits that attacks may add and delete, of every image or training node."""


def digits(seed):
    """Images of 8 x 8 bits: classifier, inputs, labels, split, noise, settings."""
    data = fp.datasets.load("digits", download=False)
    known, test = len(data.train_labels), len(data.test_labels)
    images = np.concatenate([data.train_images, data.test_images])
    part = fp.Split.by_share(data.train_labels, test=0.0, validation=0.1, seed=seed)
    split = fp.Split(part.train, part.validation, np.arange(known, known + test))
    torch.manual_seed(seed)
    layers = torch.nn.Flatten(), torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)
    settings = fp.TrainingSettings(noisy_samples=4, average="softmax", epochs=60, patience=60, learning_rate=3e-3)
    classifier = fp.TorchClassifier(torch.nn.Sequential(*layers), classes=10)
    labels = np.concatenate([data.train_labels, data.test_labels])
    return classifier, images, labels, split, fp.FlipNoise(0.1, 0.2), settings


def cora_ml(seed):
    """Words of papers, with the paper's settings: the same."""
    data = fp.datasets.load("cora_ml", download=False).standardised()
    split = fp.Split.per_class(data.labels, seed=seed)
    torch.manual_seed(seed)
    classifier = fp.NodeClassifier(fp.GCN(data.features, data.classes), classes=data.classes)
    return classifier, data.graph("attributes"), data.labels, split, fp.FlipNoise(0.01, 0.6), fp.TrainingSettings()


def measured(problem, attack, seed):
    """Trains once, and certifies."""
    classifier, inputs, labels, split, noise, settings = problem(seed)
    start = time.perf_counter()
    history = train_against(classifier, inputs, labels, split, noise, attack, settings, seed=seed, progress=False)
    seconds = time.perf_counter() - start
    one_graph = isinstance(inputs, fp.Graph)
    voted = inputs if one_graph else inputs[split.test]
    certificates = fp.certify(fp.vote(classifier, voted, noise, n_select=1_000, n_estimate=10_000, progress=False))
    tested = split.test if one_graph else slice(None)
    right = ((certificates.label == (labels if one_graph else labels[split.test])) & ~certificates.abstained)[tested]
    return {
        "accuracy": float(right.mean()),
        "mean radius, delete": float((certificates.max_radius("delete")[tested] * right).mean()),
        "mean radius, add": float((certificates.max_radius("add")[tested] * right).mean()),
        "epochs": history.epochs,
        "seconds of training": seconds,
    }


def main():
    torch.set_num_threads(1)
    problems, claims = {"digits": digits, "cora_ml": cora_ml}, []
    for name in sys.argv[1:] or problems:
        for add, delete in BUDGETS[name]:
            runs = [measured(problems[name], FlipAttack(add, delete, steps=2), seed) for seed in SEEDS]
            words = f"{name}, against {add} added, {delete} deleted"
            claims += [Claim(f"{words}: {what}", mean(run[what] for run in runs), "") for what in runs[0]]
            print(words, runs, flush=True)
    report("smooth_adversarial", claims)


if __name__ == "__main__":
    main()
