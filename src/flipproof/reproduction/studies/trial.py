"""One run of an experiment: its requirements, and its results as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from flipproof.noise.laws import Law
from flipproof.pipeline.steps import Samples
from flipproof.reproduction.scale import Scale
from flipproof.run_folder.split import Inputs
from flipproof.run_folder.task import Average, ModelSpec, PerClass, Task, TrainingSettings
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.certify import certify
from flipproof.smoothing.votes import Votes
from flipproof.statistics.bounds import Rule
from flipproof.theory.law import as_flip_noise
from flipproof.theory.radii import axes_of
from flipproof.theory.search import SEARCH_LIMIT

Row = dict[str, Any]
"""A number ("value"), what it measures ("measure"), and everything that it depends on."""


_EFFORTS = {
    ("cora_ml", "gcn"): (0.05, 0.0015),
    ("cora_ml", "appnp"): (0.06, 0.0016),
    ("cora_ml", "gat"): (0.1, 0.008),
    ("pubmed", "gcn"): (0.2, 0.008),
    ("mnist", "cnn"): (25.0, 1 / 8_000),
    ("cifar10", "cnn"): (3.0, 1 / 6_000),
    ("mutag", "gin"): (0.2, 0.0005),
}
"""The seconds for a training epoch with one noisy copy, and for one sample of the votes (per image)."""

_USUAL_EPOCHS, _MANY_ONES, _ALPHA = 250, 0.05, 0.01
MOST = "largest radius that the samples allow"


@dataclass(frozen=True, slots=True)
class Trial:
    """A task and the numbers of samples for its votes."""

    task: Task
    samples: Samples

    def facts(self) -> Row:
        """The columns that distinguish this trial's rows from those of other trials."""
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
        """JSON values: everything requested of the run."""
        return {"task": self.task.to_record(), "select": self.samples.n_select, "estimate": self.samples.n_estimate}

    @property
    def words(self) -> str:
        """A description for a progress line."""
        facts = self.facts()
        law = f"{facts['noisy']} {facts['noise']}"
        return (
            f"{facts['model']} on {facts['dataset']}, {law}, {self.samples.n_estimate:,} samples, seed {facts['seed']}"
        )

    @property
    def effort(self) -> float:
        """The approximate seconds that the trial takes on one core."""
        task, noise = self.task, as_flip_noise(self.task.noise)
        many_ones = noise is not None and noise.p_plus >= _MANY_ONES
        training, sample = _EFFORTS.get((task.dataset, task.model.name), _EFFORTS["cora_ml", "gcn"])
        copies = max(1, task.training.noisy_samples) * (5 if many_ones else 1)
        epochs = min(task.training.epochs, _USUAL_EPOCHS) if task.kind == "nodes" else task.training.epochs
        votes = self.samples.n_estimate * sample * (task.inputs or 1) * (5 if many_ones and task.kind == "nodes" else 1)
        return training * copies * epochs + votes


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The outcome of a trial.

    Attributes:
        trial: the trial.
        votes: the votes of its run.
        inputs: the true labels and the roles of the inputs.
        seconds: the time for training and votes.
        epochs: the number of epochs after which training stopped.
    """

    trial: Trial
    votes: Votes
    inputs: Inputs
    seconds: float
    epochs: int

    def certificates(self, rule: str = Rule.MULTI_CLASS) -> Certificates:
        """The certificates at alpha = 0.01, as everywhere in the paper."""
        return certify(self.votes, _ALPHA, rule)

    def accuracies(self, certificates: Certificates) -> Iterator[Row]:
        """Test accuracies of the trained model on clean inputs and of the smoothed one; abstentions count as wrong."""
        labels, inputs = self.inputs.labels, self.inputs
        base = inputs.accuracy(np.equal(inputs.base_label, labels))
        smoothed = inputs.accuracy(np.equal(certificates.label, labels) & ~certificates.abstained)
        yield self.row("base accuracy", base)
        yield self.row("smoothed accuracy", smoothed)
        yield self.row("abstained", float(certificates.abstained.mean()))
        yield self.row("seconds", self.seconds)
        yield self.row("epochs", self.epochs)

    def mean_radii(self, certificates: Certificates) -> Iterator[Row]:
        """The largest radius along each axis, averaged over all inputs and over test inputs."""
        test, rule = self.inputs.split.test, str(certificates.rule)
        for axis in map(str, axes_of(certificates.noise)):
            radius = certificates.max_radius(axis)
            yield self.row("mean radius", float(radius.mean()), along=axis, among="all", rule=rule)
            yield self.row("mean radius", float(radius[test].mean()), along=axis, among="test", rule=rule)

    def most(self, certificates: Certificates) -> Iterator[Row]:
        """The radius along each axis of an input on which all samples agree; omitted where it is unbounded."""
        for axis, cap in zip(axes_of(certificates.noise), certificates.unanimous_radii(), strict=True):
            if cap < SEARCH_LIMIT:
                yield self.row(MOST, cap, along=str(axis), rule=str(certificates.rule))

    def ratio_lines(self, certificates: Certificates, most: int) -> Iterator[Row]:
        """The certified ratio of all inputs, along each axis separately."""
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
    """The row with the paper's number for it, if there is one."""
    return {**row, "published": numbers.get(tuple(row.get(name) for name in names))}


ATTRIBUTES, STRUCTURE = "attributes", "structure"


def node_task(
    scale: Scale,
    noise: Law,
    noisy: str = ATTRIBUTES,
    model: str = "gcn",
    seed: int = 0,
    noisy_samples: int = 1,
    dataset: str = "cora_ml",
) -> Task:
    """A node task with 20 training and 20 validation nodes per class, Adam with 1e-3 and 1e-3, patience of 50 epochs.

    With several noisy copies, their probabilities are averaged, as in the appendix ("Training").
    """
    average = Average.SOFTMAX if noisy_samples > 1 else Average.LOG_SOFTMAX
    training = TrainingSettings(noisy_samples=noisy_samples, average=average, epochs=scale.epochs)
    return Task("nodes", dataset, ModelSpec(model), noisy, noise, training, PerClass(), seed=seed)
