"""A scikit-learn classifier of black-and-white digits: how many pixels must an attacker change?

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

digits = load_digits()
images, labels = (digits.data > 7).astype(np.uint8), digits.target
test = slice(1437, None)

# Any training will do. A model that has seen noise is better at it.
copies = np.repeat(images[:1437], 20, axis=0)
noisy = copies ^ (np.random.default_rng(0).random(copies.shape) < np.where(copies, noise.p_minus, noise.p_plus))
model = MLPClassifier(256, early_stopping=True, random_state=0).fit(noisy, np.repeat(labels[:1437], 20))

votes = fp.vote(fp.SklearnClassifier(model), images[test], noise, n_select=samples // 10, n_estimate=samples)
votes.save(path)

certificates = fp.certify(votes, alpha=0.01)
print(f"accuracy of the smoothed classifier: {certificates.certified_accuracy(labels[test]):.3f}")
print(f"certified when at most one pixel is deleted: {certificates.certified(fp.Radii(delete=1)).mean():.3f}")
