"""What is asked of a run where the user does not say: noise, training and inputs that suit the data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from flipproof.datasets import card
from flipproof.datasets.kinds.image_file import described_images
from flipproof.datasets.readers.own_files import is_own
from flipproof.errors import InvalidInputError
from flipproof.models.training.settings import TrainingSettings
from flipproof.pipeline.model_spec import models_for
from flipproof.pipeline.task import NOISES, PerClass, Shares
from flipproof.theory.law import FlipNoise, JointNoise, Noise


@dataclass(frozen=True, slots=True)
class Usual:
    """What suits data of a kind with noise on something."""

    noise: Noise
    training: TrainingSettings = field(default_factory=TrainingSettings)
    split: PerClass | Shares = field(default_factory=Shares)
    inputs: int | None = None


_GRAPHS = TrainingSettings(noisy_samples=4, learning_rate=5e-3, epochs=100, batch_size=32)
_IMAGES = TrainingSettings(weight_decay=0.0)
_LOOKS, _FEW_EPOCHS, _MANY_EPOCHS = 300_000, 8, 60
_IMAGE_NOISES = {
    ("digits", "pixels"): FlipNoise(0.03, 0.2),
    ("digits-grey", "pixels"): FlipNoise(0.03, 0.2),
    ("digits-grey", "levels"): FlipNoise(0.03, 0.9),
    ("mnist", "levels"): FlipNoise(0.2, 0.9),
}
_WORDS = TrainingSettings(noisy_samples=10, balanced=True)
_SEQUENCES = TrainingSettings(
    noisy_samples=4, learning_rate=3e-3, weight_decay=0.0, epochs=100, batch_size=256, balanced=True
)
_CELLS = TrainingSettings(noisy_samples=20)

_USUAL = {
    ("nodes", "attributes"): Usual(FlipNoise(0.01, 0.6), split=PerClass()),
    ("nodes", "structure"): Usual(FlipNoise(0.001, 0.4), split=PerClass()),
    ("nodes", "both"): Usual(
        JointNoise(structure=FlipNoise(2e-5, 0.4), attributes=FlipNoise(2e-5, 0.6)), split=PerClass()
    ),
    ("graphs", "structure"): Usual(FlipNoise(0.2, 0.4), _GRAPHS),
    ("graphs", "attributes"): Usual(FlipNoise(0.2, 0.2), _GRAPHS),
    ("graphs", "both"): Usual(JointNoise(structure=FlipNoise(0.1, 0.3), attributes=FlipNoise(0.1, 0.1)), _GRAPHS),
    ("images", "pixels"): Usual(FlipNoise(0.1, 0.2), _IMAGES, inputs=200),
    ("images", "levels"): Usual(FlipNoise(0.8, 0.8), _IMAGES, inputs=200),
    ("text", "words"): Usual(FlipNoise(0.0, 0.85), _WORDS, inputs=500),
    ("text", "substitution"): Usual(FlipNoise(0.75, 0.75), _SEQUENCES, inputs=500),
    ("text", "masking"): Usual(FlipNoise(0.0, 0.85), _SEQUENCES, inputs=500),
    ("tables", "cells"): Usual(FlipNoise(0.2, 0.2), _CELLS, Shares(test=0.3)),
}
"""Noise on nodes, and on the structure of graphs, is as in the figures of the paper."""


def usual(kind: str, noisy: str, dataset: str | None = None) -> Usual:
    """What suits a dataset of a kind with noise on something; without a dataset, what suits data of this kind.

    Few images are looked at more often, and small ones bear less noise. Where a level of zero means that there is
    nothing, it may stay, and other levels may change a lot.

    Example:
        >>> usual("images", "pixels", "mnist").training.epochs, usual("images", "pixels", "digits").training.epochs
        (8, 60)
    """
    if (kind, noisy) not in _USUAL:
        raise InvalidInputError(f"expected noise that data can have, got noise on {noisy!r} of {kind!r}")
    found = _USUAL[kind, noisy]
    if kind != "images" or dataset is None:
        return found
    epochs = max(_FEW_EPOCHS, min(_MANY_EPOCHS, _LOOKS // max(1, _images(dataset)[0])))
    training = replace(found.training, epochs=epochs, patience=epochs)
    return replace(found, noise=_IMAGE_NOISES.get((dataset, noisy), found.noise), training=training)


def usual_samples(kind: str) -> int:
    """How many samples bound a probability: a graph gives votes for all its nodes at once, so more can be had."""
    return 100_000 if kind == "nodes" else 10_000


def usual_noisy(kind: str, dataset: str) -> str:
    """What gets noise in a dataset of a kind: of images that are read in black and white, the pixels.

    Example:
        >>> usual_noisy("images", "mnist"), usual_noisy("images", "cifar10"), usual_noisy("nodes", "cora_ml")
        ('pixels', 'levels', 'attributes')
    """
    if kind == "images" and not _images(dataset)[1]:
        return "levels"
    return NOISES[kind][0]


def _images(dataset: str) -> tuple[int, bool]:
    """How many images there are, and whether they are read in black and white."""
    if is_own(dataset):
        images, levels = described_images(dataset)
        return images, levels == 2
    return card(dataset).inputs, card(dataset).binary is not None


def usual_model(kind: str, noisy: str) -> str:
    """The model for data of a kind with noise on something."""
    return models_for(kind, noisy)[0]
