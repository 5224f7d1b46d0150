"""One run of an experiment: what it needs, and what came out of it, as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from flipproof.experiments.runs import short_words
from flipproof.experiments.steps import Samples
from flipproof.experiments.task import Task
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.certify import certify
from flipproof.smoothing.inputs_file import Inputs
from flipproof.smoothing.votes import Votes
from flipproof.statistics.bounds import Rule
from flipproof.theory.radii import axes_of

Row = dict[str, Any]
"""Everything that a number depends on, what it is ("measure"), and the number itself ("value")."""


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
            "noise": short_words(task.noise),
            "noisy_samples": task.training.noisy_samples,
            "seed": task.seed,
            "samples": self.samples.estimate,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a trial came to.

    Attributes:
        trial: what was done.
        votes: of its run.
        inputs: true labels, and which inputs were for what.
        seconds: of training and votes.
    """

    trial: Trial
    votes: Votes
    inputs: Inputs
    seconds: float

    def certificates(self, rule: str = Rule.MULTI_CLASS) -> Certificates:
        """At alpha = 0.01, as everywhere in the paper."""
        return certify(self.votes, 0.01, rule)

    def accuracies(self, certificates: Certificates) -> Iterator[Row]:
        """Of test inputs: the trained model on clean inputs, and the smoothed one; wrong where it abstains."""
        labels, inputs = self.inputs.labels, self.inputs
        base = inputs.accuracy(np.equal(inputs.base_label, labels))
        smoothed = inputs.accuracy(np.equal(certificates.label, labels) & ~certificates.abstained)
        yield self.row("base accuracy", base)
        yield self.row("smoothed accuracy", smoothed)
        yield self.row("abstained", float(certificates.abstained.mean()))
        yield self.row("seconds", self.seconds)

    def mean_radii(self, certificates: Certificates) -> Iterator[Row]:
        """The largest radius along each axis, averaged over all inputs and over those for testing."""
        test = self.inputs.split.test
        for axis in map(str, axes_of(certificates.noise)):
            radius = certificates.max_radius(axis)
            yield self.row("mean radius", float(radius.mean()), along=axis, among="all")
            yield self.row("mean radius", float(radius[test].mean()), along=axis, among="test")

    def ratio_lines(self, certificates: Certificates, most: int) -> Iterator[Row]:
        """The certified ratio of all inputs, along each axis by itself."""
        for axis in map(str, axes_of(certificates.noise)):
            radius = certificates.max_radius(axis)
            for count in range(most + 1):
                share = float(((radius >= count) & ~certificates.abstained).mean())
                yield self.row("certified ratio", share, along=axis, radius=count, among="all")

    def row(self, measure: str, value: float | None, **more: Any) -> Row:
        """A row of this trial."""
        return {**self.trial.facts(), **more, "measure": measure, "value": value}


def matching(rows: list[Row], **wanted: Any) -> list[Row]:
    """Rows that have these values.

    Example:
        >>> matching([{"seed": 0, "value": 1.5}, {"seed": 1, "value": 2.5}], seed=1)
        [{'seed': 1, 'value': 2.5}]
    """
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def published(row: Row, numbers: Mapping[tuple[Any, ...], float], *names: str) -> Row:
    """The row with the number that the paper has for it, if there is one."""
    return {**row, "published": numbers.get(tuple(row.get(name) for name in names))}
