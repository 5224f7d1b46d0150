"""Spam or not, from the words of a message: how many words must an attacker add or remove to turn the answer?

Usage: python examples/spam_words.py [SAMPLES [forest]]. Writes spam_words.html, a report with all messages.
Needs pip install "flipproof[sklearn,report]", and the dataset sms_spam (fetched if it is not there).
"""

import sys

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import flipproof as fp

samples = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
noise = fp.FlipNoise(p_plus=0.0, p_minus=0.85)  # words disappear, none appear

data = fp.datasets.load("sms_spam").distinct()  # no message is both learned and certified
messages, labels = np.array(data.messages, dtype=object), data.labels
test, train = np.split(np.random.default_rng(0).permutation(len(data)), [500])
vocabulary = fp.datasets.Vocabulary.learned(messages[train], least=2)
words = vocabulary.bags(messages)  # one entry per word of the vocabulary

# A model that has seen what noise leaves of a message is better at it.
forest, usual = RandomForestClassifier(20, class_weight="balanced", random_state=0), LogisticRegression(max_iter=1000)
model = forest if "forest" in sys.argv else usual.set_params(class_weight="balanced")
fp.fit_estimator(model, words, labels, train, noise, copies=10 if model is forest else 30)

votes = fp.vote(fp.SklearnClassifier(model), words[test], noise, n_select=samples // 10, n_estimate=samples)
certificates = fp.certify(votes, alpha=0.01)
right = ~certificates.abstained & (certificates.label == labels[test])
robust, spam = right & certificates.certified(fp.Radii(add=1, delete=1)), labels[test] == 1
print(f"accuracy of the smoothed classifier: {right.mean():.3f}, on spam {right[spam].mean():.3f}")
print(f"right, whatever one word is added and one removed: {robust.mean():.3f}, of the spam {robust[spam].mean():.3f}")
texts, said = messages[test].tolist(), {"unit": "message", "entries": "words", "class_names": data.class_names}
surest = int(np.argmax(certificates.max_radius("delete") * (robust & spam)))
print(f'"{texts[surest]}": {fp.in_words(certificates, surest, **said)}')
fp.write_report("spam_words.html", certificates, name="Spam", labels=labels[test], texts=texts, inputs=words[test],
                vocabulary=vocabulary.words, **said)  # fmt: skip
