"""Claim: on black-and-white MNIST, noise that knows of sparsity certifies more deletions than the symmetric one.

The network of Lee et al. is trained with each noise; the first 200 test images get 10,000 noisy copies each, and
certificates at alpha 0.01 by one rule. Pixels are ones above 127 (as the paper's text has it) or above 0 (as its code
has it). Speed is that of one core's time, with the drawing of the noise. Needs the data or a network; takes half an
hour on one core.
"""

import time

import numpy as np
import torch

import flipproof as fp
from claims import Claim, report

AWARE, SYMMETRIC = fp.FlipNoise(0.1, 0.2), fp.FlipNoise(0.2, 0.2)
SETTINGS = fp.TrainingSettings(epochs=8, batch_size=128, learning_rate=1e-3, weight_decay=0.0)
SPLIT = fp.Split(train=np.arange(55_000), validation=np.arange(55_000, 60_000), test=[])
IMAGES, SAMPLES, DELETIONS = 200, 10_000, 3
LEADS = {127: 0.10, 0: 0.05}
"""By the threshold of pixels: how much more must be certified with the noise that knows of sparsity."""


def main():
    claims = [claim for threshold in LEADS for claim in reading(threshold)]
    report("images", [*claims, Claim("network votes", speed(), "images/s", at_least=7_000)])


def reading(threshold):
    """What is claimed of pixels above a threshold."""
    data = fp.datasets.load("mnist").binarised(threshold)
    aware, symmetric = (results(data, noise) for noise in (AWARE, SYMMETRIC))
    pixels = f"pixels > {threshold}"
    lead = aware["certified"] - symmetric["certified"]
    return [
        Claim(f"{pixels}: smoothed accuracy, (0.1, 0.2)", aware["accuracy"], "", at_least=0.98),
        Claim(f"{pixels}: smoothed accuracy, (0.2, 0.2)", symmetric["accuracy"], ""),
        Claim(f"{pixels}: certified at {DELETIONS} deletions, (0.1, 0.2)", aware["certified"], ""),
        Claim(f"{pixels}: certified at {DELETIONS} deletions, (0.2, 0.2)", symmetric["certified"], ""),
        Claim(f"{pixels}: the difference", lead, "", at_least=LEADS[threshold]),
    ]


def results(data, noise):
    """Accuracy and certified ratio of a network that was trained with the noise."""
    torch.manual_seed(0)
    classifier = fp.TorchClassifier(fp.CNN((28, 28), data.classes), data.classes)
    fp.train(classifier, data.train_images, data.train_labels, SPLIT, noise, SETTINGS)
    votes = fp.vote(classifier, data.test_images[:IMAGES], noise, n_select=SAMPLES // 10, n_estimate=SAMPLES, workers=1)
    certificates = fp.certify(votes, alpha=0.01)
    return {
        "accuracy": certificates.certified_accuracy(data.test_labels[:IMAGES]),
        "certified": certificates.certified(fp.Radii(delete=DELETIONS)).mean(),
    }


def speed(samples=512):
    """Images that are drawn and classified in a second of one core."""
    images = fp.datasets.load("mnist").binarised(127).test_images[:IMAGES]
    classifier = fp.TorchClassifier(fp.CNN((28, 28), 10), 10)
    fp.vote(classifier, images, AWARE, n_select=0, n_estimate=1, workers=1, progress=False)
    start = time.process_time()
    fp.vote(classifier, images, AWARE, n_select=0, n_estimate=samples, workers=1, progress=False)
    return samples * len(images) / (time.process_time() - start)


if __name__ == "__main__":
    main()
