"""One run of an experiment: what it needs, and what came out of it, as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from flipproof.pipeline.machine import Samples
from flipproof.run_folder.records import Inputs
from flipproof.run_folder.task import Task
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.certify import certify, unanimous_radii
from flipproof.smoothing.votes import Votes
from flipproof.statistics.bounds import Rule
from flipproof.theory.law import as_flip_noise
from flipproof.theory.radii import axes_of
from flipproof.theory.search import SEARCH_LIMIT

Row = dict[str, Any]
"""Everything that a number depends on, what it is ("measure"), and the number itself ("value")."""


_EFFORTS = {
    ("cora_ml", "gcn"): (0.05, 0.0015),
    ("cora_ml", "appnp"): (0.06, 0.0016),
    ("cora_ml", "gat"): (0.1, 0.008),
    ("pubmed", "gcn"): (0.2, 0.008),
    ("mnist", "cnn"): (25.0, 1 / 8_000),
    ("cifar10", "cnn"): (3.0, 1 / 6_000),
    ("mutag", "gin"): (0.2, 0.0005),
}
"""Seconds for an epoch of training with one noisy copy, and for a sample of the votes (of each image)."""

_USUAL_EPOCHS, _MANY_ONES, _ALPHA = 250, 0.05, 0.01
MOST = "largest radius that the samples allow"


@dataclass(frozen=True, slots=True)
class Trial:
    """A task, and how many samples of its votes."""

    task: Task
    samples: Samples

    def facts(self) -> Row:
        """What tells a row of this trial from others."""
        task = self.task
        threshold = {} if task.reading.threshold is None else {"threshold": task.reading.threshold}
        return {
            "dataset": task.dataset,
            **threshold,
            "model": task.model.name,
            "noisy": task.noisy,
            "noise": task.noise.short_words,
            "noisy_samples": task.training.noisy_samples,
            "seed": task.seed,
            "samples": self.samples.n_estimate,
        }

    def record(self) -> Row:
        """JSON values: all that is asked of the run."""
        return {"task": self.task.to_record(), "select": self.samples.n_select, "estimate": self.samples.n_estimate}

    @property
    def words(self) -> str:
        """For a line of progress."""
        facts = self.facts()
        law = f"{facts['noisy']} {facts['noise']}"
        return (
            f"{facts['model']} on {facts['dataset']}, {law}, {self.samples.n_estimate:,} samples, seed {facts['seed']}"
        )

    @property
    def effort(self) -> float:
        """About how many seconds it takes on one core."""
        task, noise = self.task, as_flip_noise(self.task.noise)
        many_ones = noise is not None and noise.p_plus >= _MANY_ONES
        training, sample = _EFFORTS.get((task.dataset, task.model.name), _EFFORTS["cora_ml", "gcn"])
        copies = max(1, task.training.noisy_samples) * (5 if many_ones else 1)
        epochs = min(task.training.epochs, _USUAL_EPOCHS) if task.kind == "nodes" else task.training.epochs
        votes = self.samples.n_estimate * sample * (task.inputs or 1) * (5 if many_ones and task.kind == "nodes" else 1)
        return training * copies * epochs + votes


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a trial came to.

    Attributes:
        trial: what was done.
        votes: of its run.
        inputs: true labels, and which inputs were for what.
        seconds: of training and votes.
        epochs: after which training stopped.
    """

    trial: Trial
    votes: Votes
    inputs: Inputs
    seconds: float
    epochs: int

    def certificates(self, rule: str = Rule.MULTI_CLASS) -> Certificates:
        """At alpha = 0.01, as everywhere in the paper."""
        return certify(self.votes, _ALPHA, rule)

    def accuracies(self, certificates: Certificates) -> Iterator[Row]:
        """Of test inputs: the trained model on clean inputs, and the smoothed one; wrong where it abstains."""
        labels, inputs = self.inputs.labels, self.inputs
        base = inputs.accuracy(np.equal(inputs.base_label, labels))
        smoothed = inputs.accuracy(np.equal(certificates.label, labels) & ~certificates.abstained)
        yield self.row("base accuracy", base)
        yield self.row("smoothed accuracy", smoothed)
        yield self.row("abstained", float(certificates.abstained.mean()))
        yield self.row("seconds", self.seconds)
        yield self.row("epochs", self.epochs)

    def mean_radii(self, certificates: Certificates) -> Iterator[Row]:
        """The largest radius along each axis, averaged over all inputs and over those for testing."""
        test, rule = self.inputs.split.test, str(certificates.rule)
        for axis in map(str, axes_of(certificates.noise)):
            radius = certificates.max_radius(axis)
            yield self.row("mean radius", float(radius.mean()), along=axis, among="all", rule=rule)
            yield self.row("mean radius", float(radius[test].mean()), along=axis, among="test", rule=rule)

    def most(self, certificates: Certificates) -> Iterator[Row]:
        """The radius along each axis of an input on which all samples agree; left out where it has no end."""
        for axis, cap in zip(axes_of(certificates.noise), unanimous_radii(certificates), strict=True):
            if cap < SEARCH_LIMIT:
                yield self.row(MOST, cap, along=str(axis), rule=str(certificates.rule))

    def ratio_lines(self, certificates: Certificates, most: int) -> Iterator[Row]:
        """The certified ratio of all inputs, along each axis by itself."""
        for axis in map(str, axes_of(certificates.noise)):
            radius = certificates.max_radius(axis)
            for count in range(most + 1):
                share = float(((radius >= count) & ~certificates.abstained).mean())
                rule = str(certificates.rule)
                yield self.row("certified ratio", share, along=axis, radius=count, among="all", rule=rule)

    def row(self, measure: str, value: float | None, **more: Any) -> Row:
        """A row of this trial."""
        inputs = len(self.votes.estimation)
        return {**self.trial.facts(), "inputs": inputs, "alpha": _ALPHA, **more, "measure": measure, "value": value}


def published(row: Row, numbers: Mapping[tuple[Any, ...], float], *names: str) -> Row:
    """The row with the number that the paper has for it, if there is one."""
    return {**row, "published": numbers.get(tuple(row.get(name) for name in names))}
