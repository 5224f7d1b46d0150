"""Votes files."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import flipproof as fp
from flipproof.noise.ablation import AblationNoise
from flipproof.noise.gaussian import GaussianNoise
from fuzz.mutators import in_zip
from fuzz.target import Target, saved, scratch, written

FLIPS = fp.FlipNoise(0.01, 0.6)
LAWS = (
    FLIPS,
    fp.JointNoise(structure=fp.FlipNoise(2e-5, 0.4), words=fp.FlipNoise(0.1, 1 / 3, 7)),
    AblationNoise(entries=30, kept=5),
    GaussianNoise(sigma=0.5),
)


def drawn_votes() -> fp.Votes:
    """Votes that flipproof drew."""
    classifier = fp.FunctionClassifier(lambda batch: batch.sum(axis=1) % 3, classes=3)
    return fp.vote(classifier, np.eye(4, 6, dtype=int), FLIPS, n_select=10, n_estimate=30)


def _seeds() -> Iterator[bytes]:
    yield written(drawn_votes().save)
    for noise in LAWS:
        votes = fp.Votes.from_counts(selection=[[9, 1], [5, 5]], estimation=[[90, 10], [2, 98]], noise=noise)
        yield written(votes.save)


def _read(content: bytes) -> None:
    votes = fp.Votes.load(saved(content, "votes.npz"))
    repr(votes)
    votes.save(scratch() / "again.npz")
    fp.Votes.load(scratch() / "again.npz")


TARGET = Target(
    "votes", _seeds, _read, in_zip, (b"flipproof-votes", b"selection", b"estimation", b"n_select", b"noise")
)
