"""Timing experiments: the cost of certificates, given bounds on probabilities, and how it grows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from flipproof.baselines import f_divergence, lee
from flipproof.pipeline.kinds.kind import kind_named
from flipproof.reproduction.scale import Scale
from flipproof.reproduction.studies.trial import Outcome, Row, Trial
from flipproof.reproduction.study import ScaledStudy, Study
from flipproof.run_folder.task import ModelSpec, Shares, Task
from flipproof.theory.law import FlipNoise
from flipproof.theory.radii import Radii
from flipproof.theory.regions import regions
from flipproof.theory.worst_case import critical_probability

_LEVELS = FlipNoise(0.8, 0.8, 256)
_IMAGENET = {1: 0.54, 3: 0.34, 5: 0.24, 7: 0.18}
_IMAGENET_DIVERGENCE = {1: 0.36, 3: 0.22, 5: 0.14, 7: 0.0}
_TURNS, _FEWEST = 3, 3
_LEE_RADIUS = 3
_SMALL, _EVEN = 64, 0.2
_SMALL_TASKS = ((2, 1), (2, 3), (2, 7), (4, 3), (16, 3), (256, 1), (256, 3), (256, 5), (256, 7))
"""The categories and radii of tasks with few enough entries for Lee's algorithm to be quick."""
_DIVERGENCES = ("renyi", "hockey-stick")
_LOOKS_AGAIN = 12
"""There are this many times fewer photos than digits, so training may take this many times more epochs."""


_Way = Callable[[FlipNoise, Radii], float]
_WAYS: Mapping[str, _Way] = {"flipproof": critical_probability} | {
    f"f_divergence ({divergence})": partial(f_divergence.critical_probability, divergence=divergence)
    for divergence in _DIVERGENCES
}


def _seconds(work: Callable[[FlipNoise], Any], noise: FlipNoise, turns: int = _TURNS) -> float:
    """The shortest time of several turns, each with a slightly different noise so that no result can be reused."""
    found = []
    for turn in range(1, turns + 1):
        flip, lost = (p * (1 - turn * 2.0**-20) for p in (noise.p_plus, noise.p_minus))
        law = FlipNoise(flip, lost, noise.categories)
        start = time.perf_counter()
        work(law)
        found.append(time.perf_counter() - start)
    return min(found)


def _timed(system: str, measure: str, value: float, **more: Any) -> Row:
    return {"system": system, **more, "measure": measure, "value": value}


def _lee_dimensions(patience: float, radius: int) -> Iterator[Row]:
    """Times the published algorithm in ever more dimensions, while it takes less than `patience` seconds."""
    entries, seconds = 16, 0.0
    times: dict[int, float] = {}
    # Twice as many entries took up to eight times as long. Estimating growth needs three points.
    while len(times) < _FEWEST or seconds * 8 < patience:
        start = time.perf_counter()
        probability = lee.original_critical_probability(_LEVELS, entries, radius)
        times[entries] = seconds = time.perf_counter() - start
        facts = {"entries": entries, "radius": radius, "categories": 256, "noise": _LEVELS.short_words}
        yield _timed("lee", "seconds", seconds, **facts)
        yield _timed("lee", "critical probability", float(probability), **facts)
        entries *= 2
    last = sorted(times)[-_FEWEST:]
    slope = float(np.polyfit(np.log(last), np.log([times[d] for d in last]), 1)[0])
    yield _timed("lee", "exponent of the time in entries", slope, radius=radius, categories=256)


def _efficiency_rows(scaled: ScaledStudy) -> list[Row]:
    """Regions and time of our method by radius and categories, and time of Lee's algorithm by dimension."""
    rows: list[Row] = []
    for categories in (2, 4, 16, 256):
        noise = FlipNoise(0.2, 0.4, categories)
        for radius in (1, 2, 5, 10, 20, 50, 100):
            radii = Radii(add=radius, delete=radius)
            facts = {"radius": radius, "categories": categories, "noise": noise.short_words}
            rows.append(_timed("flipproof", "regions", len(regions(noise, radii)), **facts))
            seconds = _seconds(partial(critical_probability, radii=radii), noise)
            rows.append(_timed("flipproof", "seconds", seconds, **facts))
    rows += _critical_rows("flipproof", _LEE_RADIUS, critical_probability)
    rows += [row for categories, radius in _SMALL_TASKS for row in _side_by_side(categories, radius)]
    return rows + list(_lee_dimensions(scaled.scale.patience, _LEE_RADIUS))


def _side_by_side(categories: int, radius: int) -> Iterator[Row]:
    """Regions and time of both algorithms for one task in a few dimensions."""
    noise = FlipNoise(_EVEN, _EVEN, categories)
    radii = Radii(delete=radius) if categories == 2 else Radii(change=radius)
    facts = {"entries": _SMALL, "radius": radius, "categories": categories, "noise": noise.short_words}
    counts = len(lee.original_counts(_SMALL, categories, radius))
    original = partial(lee.original_critical_probability, entries=_SMALL, radius=radius)
    yield _timed("flipproof", "regions", len(regions(noise, radii)), **facts)
    yield _timed("flipproof", "seconds", _seconds(partial(critical_probability, radii=radii), noise), **facts)
    yield _timed("lee", "regions", counts, **facts)
    yield _timed("lee", "seconds", _seconds(original, noise), **facts)


def _cifar(scale: Scale, seeds: tuple[int, ...]) -> list[Trial]:
    suits = kind_named("images").defaults("levels", "cifar10")
    epochs = min(suits.training.epochs, _LOOKS_AGAIN * scale.image_epochs)
    training = replace(suits.training, epochs=epochs, patience=epochs)
    task = Task(
        "images", "cifar10", ModelSpec("cnn"), "levels", FlipNoise(0.8, 0.8), training, Shares(), inputs=scale.images,
        seed=seeds[0],
    )  # fmt: skip
    return [Trial(task, scale.many)]


def _table_2_rows(scaled: ScaledStudy) -> list[Row]:
    rows = [row for system, way in _WAYS.items() for radius in _IMAGENET for row in _critical_rows(system, radius, way)]
    rows += _lee_dimensions(scaled.scale.patience, _LEE_RADIUS)
    (trial,) = scaled.trials()
    return rows + list(_cifar_rows(scaled.outcome(trial)))


def _critical_rows(system: str, radius: int, way: _Way) -> Iterator[Row]:
    """The value that p_lower must exceed at a radius, and the cost of computing it."""
    facts, radii = {"radius": radius, "categories": 256, "noise": _LEVELS.short_words}, Radii(change=radius)
    yield _timed(system, "critical probability", way(_LEVELS, radii), **facts)
    yield _timed(system, "seconds", _seconds(lambda noise: way(noise, radii), _LEVELS), **facts)


def _cifar_rows(outcome: Outcome) -> Iterator[Row]:
    """Certified accuracies on CIFAR-10, beside the paper's for ImageNet."""
    tight, labels = outcome.certificates(), outcome.inputs.labels
    yield from outcome.accuracies(tight)
    radius = tight.max_l0_radius()
    for count, known in _IMAGENET.items():
        right = (tight.label == labels) & (radius >= count) & ~tight.abstained
        row = outcome.row("certified accuracy", outcome.inputs.accuracy(right), radius=count, system="flipproof")
        yield {**row, "published": known}
    for divergence in _DIVERGENCES:
        loose = f_divergence.certify(outcome.votes, "change", divergence=divergence)
        for count, known in _IMAGENET_DIVERGENCE.items():
            kept = outcome.inputs.accuracy((loose.label == labels) & loose.certified(count))
            row = outcome.row("certified accuracy", kept, radius=count, system=f"f_divergence ({divergence})")
            yield {**row, "published": known}


EFFICIENCY = Study(
    "efficiency",
    "Regions and time over radius, dimension and categories",
    lambda *_: [],
    _efficiency_rows,
    effort=lambda scale: 1.5 * scale.patience + 1.0,
)
TABLE_2 = Study(
    "table-2", "256 levels: critical probabilities, time, certified accuracy", _cifar, _table_2_rows,
    effort=lambda scale: 1.5 * scale.patience + 1.0,
)  # fmt: skip
