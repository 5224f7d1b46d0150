"""Does a molecule harm the genes of bacteria? How many bonds must be added or removed to turn the answer?

Usage: python examples/molecules.py [SAMPLES]. Writes molecules.html, a report with all test molecules drawn.
Needs pip install "flipproof[graphs,report]", and the dataset mutag (fetched if it is not there).
"""

import sys

import numpy as np
import torch

import flipproof as fp

samples = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
noise = fp.FlipNoise(p_plus=0.2, p_minus=0.4)  # any two atoms may get a bond, any bond may go

data = fp.datasets.load("mutag")
parts = np.split(np.random.default_rng(0).permutation(len(data)), [130, 150])
split = fp.Split(*map(np.sort, parts))

torch.manual_seed(0)
classifier = fp.GraphClassifier(fp.GIN(data.features, data.classes), classes=data.classes)
settings = fp.TrainingSettings(noisy_samples=4, learning_rate=0.005, epochs=100, batch_size=32)
fp.train(classifier, data.graphs("structure"), data.labels, split, noise, settings)

molecules, labels = data.graphs("structure", which=split.test), data.labels[split.test]
votes = fp.vote(classifier, molecules, noise, n_select=samples // 10, n_estimate=samples)
certificates = fp.certify(votes, alpha=0.01)
added, removed = (certificates.max_radius(axis) for axis in ("add", "delete"))
print(f"accuracy of the smoothed classifier: {certificates.certified_accuracy(labels):.3f}")
for done, radii in (("added", added), ("removed", removed)):
    print(f"answers that no bond {done} can turn: {(radii >= 1).mean():.3f}; bonds that may be {done} anywhere: "
          f"mean {radii.mean():.2f}, largest {radii.max()}")  # fmt: skip
fp.write_report("molecules.html", certificates, name="Molecules", labels=labels, class_names=data.class_names,
                inputs=molecules, node_names=data.node_names, unit="molecule", entries="bonds")  # fmt: skip
