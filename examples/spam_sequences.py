"""Spam or not, word by word: how many words must an attacker replace to turn the answer?

Usage: python examples/spam_sequences.py [SAMPLES [masking|substitution]]. Writes spam_sequences.html, a report.
Needs pip install "flipproof[torch,report]", and the dataset sms_spam (fetched if it is not there).
"""

import sys

import numpy as np
import torch

import flipproof as fp

samples, masking = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, "substitution" not in sys.argv
data = fp.datasets.load("sms_spam").with_words().distinct()  # no message is both learned and certified
split = fp.Split.by_share(data.labels, test=0.1, validation=0.1)
vocabulary = fp.datasets.Vocabulary.learned([data.messages[i] for i in split.train])
values, empty = vocabulary.tokens(data.messages, length=40), len(vocabulary)

# Noise hides most words, or writes others of the vocabulary in their places.
noise = fp.FlipNoise(0.0, 0.85) if masking else fp.FlipNoise(0.7, 0.7, categories=empty)
hidden, test = empty if masking else None, split.test[:500]
torch.manual_seed(0)
classifier = fp.TorchClassifier(fp.WordMean(empty, data.classes), data.classes, dtype="int64")
settings = fp.TrainingSettings(4, learning_rate=3e-3, weight_decay=0, epochs=100, batch_size=256, balanced=True)
fp.train(classifier, fp.Tokens(values, empty, hidden), data.labels, split, noise, settings)

inputs = fp.Tokens(values[test], empty, hidden)
votes = fp.vote(classifier, inputs, noise, n_select=samples // 10, n_estimate=samples)
certificates, labels, texts = fp.certify(votes, alpha=0.01), data.labels[test], [data.messages[i] for i in test]
replaced = sum(certificates.certified(fp.Radii(r, r) if masking else fp.Radii(change=r)) for r in range(1, 9))
words = {"unit": "message", "entries": "words", "class_names": data.class_names, "inputs": inputs}
right = ~certificates.abstained & (certificates.label == labels)
print(f"accuracy of the smoothed classifier: {right.mean():.3f}, on spam {right[labels == 1].mean():.3f}")
best = np.argmax(np.where(right & (labels == 1), replaced, -1))
print(f'"{texts[best]}": {fp.in_words(certificates, int(best), **words)}')
fp.write_report("spam_sequences.html", certificates, name="Spam", labels=labels, texts=texts,
                vocabulary=vocabulary.words, **words)  # fmt: skip
