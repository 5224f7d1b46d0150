"""A network that reads digits: how many pixels must an attacker ink, erase or repaint to turn the answer?

Usage: python examples/images.py [DATASET [SAMPLES]] with digits, digits-grey, mnist or cifar10. Writes images.html, a
report with the images. Needs pip install "flipproof[graphs,report]".
"""

import sys

import numpy as np
import torch

import flipproof as fp

name = sys.argv[1] if len(sys.argv) > 1 else "digits"
samples = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000
data = fp.datasets.load(name)
data = data.binarised(127) if name == "mnist" else data
chances = {"digits": (0.03, 0.2), "digits-grey": (0.03, 0.9), "mnist": (0.1, 0.2), "cifar10": (0.8, 0.8)}
noise = fp.FlipNoise(*chances[name], categories=data.levels)

# A network that has seen noise is better at it. The last tenth of the training images decides which weights are kept.
count, shape = len(data.train_images), data.train_images.shape[1:]
torch.manual_seed(0)
classifier = fp.TorchClassifier(fp.CNN(shape, data.classes, data.levels), data.classes)
split = fp.Split(train=np.arange(count * 9 // 10), validation=np.arange(count * 9 // 10, count), test=[])
settings = fp.TrainingSettings(epochs=max(5, min(60, 300_000 // count)), batch_size=128, weight_decay=0.0)
fp.train(classifier, data.train_images, data.train_labels, split, noise, settings)

images, labels = data.test_images[:200], data.test_labels[:200]
votes = fp.vote(classifier, images, noise, n_select=samples // 10, n_estimate=samples)
certificates = fp.certify(votes, alpha=0.01)
print(f"accuracy of the smoothed classifier: {certificates.certified_accuracy(labels):.3f}")
ways = {"add": "zeros turned on", "delete": "others turned off", "change": "others changed"}
for kind in list(ways)[: 2 if data.levels == 2 else 3]:
    radii = certificates.max_radius(kind)
    print(f"pixels, or colours of them, {ways[kind]}: mean {radii.mean():.2f} per image, largest {radii.max()}")
print(f"changed in any of these ways: mean {certificates.max_l0_radius().mean():.2f}")
fp.write_report("images.html", certificates, name=name, labels=labels, class_names=data.class_names, inputs=images,
                image_shape=shape, unit="image")  # fmt: skip
