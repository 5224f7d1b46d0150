"""Claim: a pipeline of texts withstands inserted, deleted and replaced words; fitted to noisy texts, more of them.

A TF-IDF pipeline on SMS spam as it is written, with words deleted and gaps closed; 500 test messages, the others to
learn from, on several splits. Drawing noisy sequences of a thousand tokens is timed as well. Usage:
python benchmarks/spam_texts.py [SPLITS]. Needs the data or a network.
"""

import sys
import time
from statistics import mean

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import flipproof as fp
from claims import Claim, report
from flipproof.datasets import load

NOISE = fp.FlipNoise(0.0, 0.8)
EDITS = (1, 2, 3)


def certified(model, texts):
    """The certificates of texts, from 10,000 samples each."""
    return fp.certify(fp.vote(model, texts, NOISE, 1_000, 10_000, progress=False))


def shares(certificates, labels):
    """Shares of all messages and of spam alone that are right, and right at an edit distance."""
    right, edits = (certificates.label == labels) & ~certificates.abstained, certificates.max_edit_distance()
    kept = {"right": right} | {f"{count} edited": right & (edits >= count) for count in EDITS}
    return {(name, whom): each[chosen].mean() for name, each in kept.items()
            for whom, chosen in (("all", labels >= 0), ("spam", labels == 1))}  # fmt: skip


def measured(data, seed):
    """The shares of a pipeline that learns from clean texts, and of one that learns from noisy ones."""
    texts, order = np.array(data.messages, dtype=object), np.random.default_rng(seed).permutation(len(data.messages))
    test, train = order[:500], order[500:]
    clean = make_pipeline(TfidfVectorizer(), LogisticRegression(C=30.0)).fit(texts[train], data.labels[train])
    noisy = make_pipeline(TfidfVectorizer(), LogisticRegression(C=30.0))
    noisy = fp.fit_estimator(noisy, texts, data.labels, train, NOISE, copies=5, seed=seed)
    return {
        name: shares(certified(model, texts[test]), data.labels[test])
        for name, model in (("clean texts", clean), ("noisy texts", noisy))
    }


def drawn_per_second():
    """How many noisy sequences of 1,000 tokens are drawn in a second."""
    values = np.random.default_rng(0).integers(1, 5_000, (1_000, 1_000))
    sampler = fp.Tokens(values, 0, gaps="closed").sampler(NOISE, 0)
    sampler.draw(1, range(1), np.arange(1_000))
    start = time.perf_counter()
    for sample in range(10):
        sampler.draw(1, range(sample, sample + 1), np.arange(1_000))
    return 10_000 / (time.perf_counter() - start)


def main():
    data, splits = load("sms_spam"), int(sys.argv[1]) if len(sys.argv) > 1 else 4
    results = [measured(data, seed) for seed in range(splits)]
    claims = [
        Claim(f"{name}, {', '.join(what)}", mean(each[name][what] for each in results), "")
        for name in results[0]
        for what in results[0][name]
    ]
    claims.append(Claim("noisy sequences of 1,000 tokens", drawn_per_second(), "per second", at_least=10_000))
    report("spam_texts", claims)


if __name__ == "__main__":
    main()
