"""Votes from your own loop: a scikit-learn classifier, noise by numpy, certificates by flipproof.

Usage: python examples/digits_votes.py [FILE [SAMPLES]]. `flipproof demo` certifies a copy of the file it writes.
Needs scikit-learn: pip install scikit-learn.
"""

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import flipproof as fp

path = sys.argv[1] if len(sys.argv) > 1 else "digits_votes.npz"
samples = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
noise = fp.FlipNoise(p_plus=0.05, p_minus=0.3)
rng = np.random.default_rng(0)


def noisy(images: np.ndarray) -> np.ndarray:
    """Every pixel flips by itself: ones with p_minus, zeros with p_plus."""
    return images ^ (rng.random(images.shape) < np.where(images == 1, noise.p_minus, noise.p_plus))


def count(model: MLPClassifier, images: np.ndarray, samples: int) -> np.ndarray:
    """How often each of the ten labels is given to noisy copies of each image."""
    counts = np.zeros((len(images), 10), dtype=np.int64)
    for _ in range(samples):
        counts[np.arange(len(images)), model.predict(noisy(images))] += 1
    return counts


digits = load_digits()
images, labels = (digits.data > 7).astype(np.int8), digits.target
train, test = np.repeat(np.arange(1437), 20), np.arange(1437, 1797)
model = MLPClassifier(256, early_stopping=True, random_state=0).fit(noisy(images[train]), labels[train])

selection, estimation = (count(model, images[test], n) for n in (samples // 10, samples))
votes = fp.Votes.from_counts(selection=selection, estimation=estimation, noise=noise)
votes.save(path)

certificates = fp.certify(votes, alpha=0.01)
print(f"accuracy of the smoothed classifier: {certificates.certified_accuracy(labels[test]):.3f}")
print(f"certified when at most one pixel is deleted: {certificates.certified(fp.Radii(delete=1)).mean():.3f}")
