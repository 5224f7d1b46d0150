"""The amount of work for an experiment: minutes, an hour or two, or as much as in the paper."""

from __future__ import annotations

from dataclasses import dataclass

from flipproof.errors import not_among
from flipproof.pipeline.steps import Samples


@dataclass(frozen=True, slots=True)
class Scale:
    """The sizes of an experiment.

    Attributes:
        name: the name of the scale.
        samples: samples for experiments with one or a few trained models.
        most: samples for the one line of the first table that is also measured with more samples; None: it is not.
        many: samples for experiments with dozens of trained models.
        few: samples for accuracies, which need no bounds.
        epochs: the largest number of training epochs; training may stop earlier.
        image_epochs: the largest number of training epochs for images.
        seeds: the number of splits and trained models where spreads are of interest.
        slow_seeds: the number of splits and trained models for work that takes ten times as long as the rest.
        slow_copies: numbers of noisy copies in training beyond 10.
        images: the number of test images.
        nodes: the number of test nodes for proofs that solve linear programs for each node.
        farthest: the largest radius of such proofs.
        patience: the seconds that the algorithm of Lee et al. may take for one radius.
    """

    name: str
    samples: Samples
    most: Samples | None
    many: Samples
    few: Samples
    epochs: int
    image_epochs: int
    seeds: int
    slow_seeds: int
    slow_copies: tuple[int, ...]
    images: int
    nodes: int
    farthest: int
    patience: float


QUICK = Scale(
    "quick",
    Samples(100, 1_000),
    None,
    Samples(100, 500),
    Samples(10, 200),
    epochs=60,
    image_epochs=1,
    seeds=1,
    slow_seeds=1,
    slow_copies=(),
    images=20,
    nodes=5,
    farthest=3,
    patience=2.0,
)
STANDARD = Scale(
    "standard",
    Samples(1_000, 100_000),
    Samples(1_000, 1_000_000),
    Samples(1_000, 10_000),
    Samples(10, 1_000),
    epochs=3_000,
    image_epochs=5,
    seeds=5,
    slow_seeds=1,
    slow_copies=(25, 50, 100),
    images=100,
    nodes=50,
    farthest=10,
    patience=60.0,
)
PAPER = Scale(
    "paper",
    Samples(1_000, 1_000_000),
    None,
    Samples(1_000, 100_000),
    Samples(1_000, 10_000),
    epochs=3_000,
    image_epochs=30,
    seeds=10,
    slow_seeds=5,
    slow_copies=(25, 50, 100),
    images=10_000,
    nodes=50,
    farthest=30,
    patience=600.0,
)
SCALES = {scale.name: scale for scale in (QUICK, STANDARD, PAPER)}


def scale_named(name: str) -> Scale:
    """The scale with this name."""
    if name not in SCALES:
        raise not_among("scale", SCALES, name)
    return SCALES[name]
