"""Claim: GIN on MUTAG, smoothed over structure with noise (0.2, 0.4), stays useful and is certified for most molecules.

Means over ten splits: each tenth of the molecules is tested once, the next tenth validates, the others are learned
from. 10,000 samples, alpha = 0.01. One answer to everything would be certified everywhere and right for two thirds, so
what is both certified and right is reported, too. The plain GIN never sees noise; one that does is poor on clean
molecules. Also how fast noise is drawn and how fast molecules are voted on, on one core. Takes some minutes. Usage:
python benchmarks/molecules.py [SPLITS [SAMPLES]]. Needs the data or a network.
"""

import sys
import time
from statistics import mean, stdev

import numpy as np
import torch

import flipproof as fp
from claims import Claim, best_of, report
from flipproof.noise.sampling.samplers import Role

NOISE, FOLDS = fp.FlipNoise(0.2, 0.4), 10
NOISY = fp.TrainingSettings(noisy_samples=4, learning_rate=0.005, epochs=100, batch_size=32)
PLAIN = fp.TrainingSettings(noisy_samples=0, learning_rate=0.005, epochs=100, batch_size=32)
BARS = {
    "smoothed accuracy": 0.73,
    "certified, one edge added": 0.70,
    "certified, one edge deleted": 0.80,
    "certified and right, one edge added": None,
    "certified and right, one edge deleted": None,
}


def folds(labels):
    """Which tenth every molecule belongs to; each has its share of both classes."""
    rng = np.random.default_rng(0)
    shuffled = np.concatenate([rng.permutation(np.flatnonzero(labels == label)) for label in np.unique(labels)])
    numbers = np.empty(labels.size, dtype=int)
    numbers[shuffled] = np.arange(labels.size) % FOLDS
    return numbers


def trained(data, split, settings, seed):
    torch.manual_seed(seed)
    classifier = fp.GraphClassifier(fp.GIN(data.features, data.classes), classes=data.classes)
    fp.train(classifier, data.graphs("structure"), data.labels, split, NOISE, settings, seed, progress=False)
    return classifier


def measured(data, numbers, fold, samples):
    """What the plain and the smoothed classifier reach on one split, and votes per second."""
    validation = (fold + 1) % FOLDS
    used = [np.flatnonzero(numbers == validation), np.flatnonzero(numbers == fold)]
    split = fp.Split(np.flatnonzero((numbers != validation) & (numbers != fold)), *used)
    molecules, labels = data.graphs("structure", which=split.test), data.labels[split.test]
    clean = molecules.sampler(fp.FlipNoise(0.0, 0.0), 0).draw(Role.SELECT, range(1), np.arange(len(molecules)))
    plain = (trained(data, split, PLAIN, fold)(clean) == labels).mean()
    classifier, start = trained(data, split, NOISY, fold), time.perf_counter()
    votes = fp.vote(classifier, molecules, NOISE, samples // 10, samples, seed=fold, progress=False)
    speed = len(molecules) * (samples + samples // 10) / (time.perf_counter() - start)
    certificates = fp.certify(votes, alpha=0.01)
    reached = (
        certificates.certified_accuracy(labels),
        certificates.certified(fp.Radii(add=1)).mean(),
        certificates.certified(fp.Radii(delete=1)).mean(),
        certificates.certified_accuracy(labels, add=1),
        certificates.certified_accuracy(labels, delete=1),
    )
    return plain, dict(zip(BARS, reached, strict=True)), speed


def drawing_speed(name, samples):
    """Noisy graphs per second without a model."""
    graphs = fp.datasets.load(name).graphs("structure")
    sampler, rows = graphs.sampler(NOISE, 0), np.arange(len(graphs))
    return samples * len(graphs) / best_of(lambda: sampler.draw(Role.ESTIMATE, range(samples), rows), repeats=3)


def main():
    splits = int(sys.argv[1]) if len(sys.argv) > 1 else FOLDS
    samples = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    data = fp.datasets.load("mutag")
    numbers, found = folds(data.labels), []
    for fold in range(splits):
        found.append(measured(data, numbers, fold, samples))
        print(
            fold,
            f"plain {found[-1][0]:.3f}",
            *(f"{what} {value:.3f}" for what, value in found[-1][1].items()),
            flush=True,
        )
    plain = [each[0] for each in found]
    claims = [Claim(f"plain GIN: accuracy (deviation {stdev(plain):.3f})", mean(plain), "", at_least=0.8)]
    for what, bar in BARS.items():
        values = [each[1][what] for each in found]
        claims.append(Claim(f"{what} (deviation {stdev(values):.3f})", mean(values), "", at_least=bar))
    claims.append(Claim("always answering the same: accuracy", np.bincount(data.labels).max() / len(data), ""))
    claims.append(Claim("votes of GIN on one core", mean(each[2] for each in found), "graphs/s"))
    claims += [Claim(f"noise on {name}", drawing_speed(name, 4), "graphs/s") for name in ("mutag", "proteins")]
    report("molecules", claims)


if __name__ == "__main__":
    main()
