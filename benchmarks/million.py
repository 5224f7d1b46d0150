"""Claim: 10^6 samples of Cora-ML under noise on attributes take less than the 25 minutes the paper reports for a GPU.

Two workers on two idle cores, one call of `vote`, everything included. Needs cora_ml (FLIPPROOF_DATA).
"""

from __future__ import annotations

import sys

import torch

import flipproof as fp
from claims import Claim, report


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    data = fp.datasets.load("cora_ml", download=False).standardised()
    torch.manual_seed(0)
    classifier = fp.NodeClassifier(fp.GCN(data.features, data.classes), classes=data.classes)
    votes = fp.vote(classifier, data.graph("attributes"), fp.FlipNoise(0.01, 0.6), 0, samples, workers=2)
    minutes = votes.run.seconds / 60
    report(
        "million",
        [
            Claim(f"{samples:,} samples, two workers", minutes, "minutes", at_most=25 * samples / 1_000_000),
            Claim("throughput", votes.run.samples_per_second, "samples/s"),
        ],
    )


if __name__ == "__main__":
    main()
