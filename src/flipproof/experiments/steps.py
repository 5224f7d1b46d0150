"""The steps of a run on its folder: train, vote, certify. Each may be repeated; nothing is overwritten unasked."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from flipproof.errors import FileFormatError, InvalidInputError, OutputError
from flipproof.experiments.inputs_file import Inputs
from flipproof.experiments.node_task import NodeJob, NodeTask
from flipproof.models.node_classifier import NodeClassifier
from flipproof.models.training import train
from flipproof.models.weights import load_weights, weights_bytes
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.certificates_file import read_certificates_record, write_certificates
from flipproof.smoothing.certify import certify
from flipproof.smoothing.identity import differences_between
from flipproof.smoothing.run import versions
from flipproof.smoothing.run_folder import RunFolder, sha256_of
from flipproof.smoothing.vote import vote
from flipproof.smoothing.votes import Votes

_MADE_LATER = ("votes_file", "checkpoint_file", "certificates_file")


@dataclass(frozen=True, slots=True)
class Machine:
    """What a step may use of the machine."""

    workers: int = 1
    memory_limit: str | int = "2GB"
    progress: bool = True


@dataclass(frozen=True, slots=True)
class Samples:
    """How many samples choose the label, and how many bound its probability."""

    select: int = 1_000
    estimate: int = 100_000


@dataclass(frozen=True, slots=True)
class Promise:
    """What certificates promise: the arguments of `certify`."""

    alpha: float = 0.01
    rule: str = "multi-class"
    simultaneous: bool = False


def train_run(
    path: str | os.PathLike[str],
    task: NodeTask,
    machine: Machine | None = None,
    weights: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> RunFolder:
    """Trains the model of a task and leaves it in a folder; does nothing if that is done already.

    Args:
        path: of the folder.
        task: what to train.
        machine: what may be used.
        weights: a file with weights that were trained elsewhere, to be used instead of training.
        force: whether a run in the folder with another task is given up for this one.
    """
    machine = Machine() if machine is None else machine
    given = None if weights is None else _read_weights(Path(weights))
    record = task.to_record() | {"weights": None if given is None else hashlib.sha256(given).hexdigest()}
    folder = RunFolder(Path(path))
    if folder.exists and not force:
        found = RunFolder.open(path).record()
        if "training" in found:  # else training was interrupted, and there is nothing to lose
            _check_same(found["task"], record, folder)
            return folder
    job = NodeJob.of(task)
    classifier = job.classifier()
    folder = RunFolder.create(path, record)
    folder.clear(*(getattr(folder, name) for name in _MADE_LATER))
    if given is None:
        facts = _trained(job, classifier, machine)
    else:
        load_weights(classifier.module, given, str(weights))
        facts = {"epochs": 0, "seconds": 0.0}
    _save_model(folder, job, classifier, facts)
    return folder


def _check_same(found: Mapping[str, Any], asked: Mapping[str, Any], folder: RunFolder) -> None:
    differences = differences_between(found, asked)
    if differences:
        raise OutputError(
            f"expected a new folder or the task of the run in it, got {folder.path}, which has {differences}; "
            "name another folder, or give --force to start this one again"
        )


def _trained(job: NodeJob, classifier: NodeClassifier, machine: Machine) -> dict[str, Any]:
    task = job.task
    history = train(
        classifier, job.graph, job.data.labels, job.split, task.noise, task.training, task.seed,
        memory_limit=machine.memory_limit, progress=machine.progress,
    )  # fmt: skip
    return {
        "epochs": history.epochs,
        "best_epoch": history.best_epoch,
        "seconds": history.seconds,
        "loss": history.loss,
        "validation_loss": history.validation_loss,
        "validation_accuracy": history.validation_accuracy,
    }


def _save_model(folder: RunFolder, job: NodeJob, classifier: NodeClassifier, facts: Mapping[str, Any]) -> None:
    base_label = classifier([job.graph.clean()])[0]
    inputs = Inputs(job.data.labels, job.split, base_label, job.data.class_names)
    inputs.save(folder.inputs_file)
    weights = folder.write(folder.weights_file, weights_bytes(classifier.module))
    accuracy = inputs.accuracy(np.equal(base_label, job.data.labels))
    folder.update(
        dataset=job.facts(),
        training={
            **facts,
            "base_accuracy": accuracy,
            "weights_sha256": weights,
            "inputs_sha256": sha256_of(folder.inputs_file),
            "versions": versions(),
        },
    )


def _read_weights(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileFormatError(f"expected a file of weights, got {path}: {error.strerror or error}") from error


def trained_job(folder: RunFolder, model: str | None = None) -> tuple[NodeJob, NodeClassifier]:
    """The data and the trained classifier of a run.

    Code is only run if the caller names it: a user's own model must be named again.
    """
    training = folder.section("training", "flipproof train")
    task = NodeTask.from_record(folder.record()["task"])
    if task.model.own and model is None:
        raise InvalidInputError(f"expected --model, because {folder.path} has a model of your own: {task.model.name}")
    if not task.model.own and model not in (None, task.model.name):
        raise InvalidInputError(f"expected the model of {folder.path}, {task.model.name}, got {model}")
    job = NodeJob.of(task)
    differences = differences_between(job.facts(), folder.section("dataset", "flipproof train"))
    if differences:
        raise InvalidInputError(f"expected the data that {folder.path} was trained on, got others: {differences}")
    classifier = job.classifier(model)
    content = folder.check(folder.weights_file, training.get("weights_sha256"), "flipproof train --force")
    load_weights(classifier.module, content, str(folder.weights_file))
    classifier.module.eval()
    return job, classifier


def vote_run(
    path: str | os.PathLike[str],
    samples: Samples | None = None,
    machine: Machine | None = None,
    model: str | None = None,
    force: bool = False,
) -> Votes:
    """Draws the votes of a trained run, goes on where it was interrupted, or adds samples to those that are there.

    Args:
        path: of the folder.
        samples: how many.
        machine: what may be used.
        model: must be named again if it is the user's own: code is only run if the caller names it.
        force: whether votes that are there are given up.
    """
    samples, machine = samples or Samples(), machine or Machine()
    folder = RunFolder.open(path)
    job, classifier = trained_job(folder, model)
    if force:
        folder.clear(*(getattr(folder, name) for name in _MADE_LATER))
    _check_not_fewer(folder, samples)
    votes = vote(
        classifier, job.graph, job.task.noise, samples.select, samples.estimate, job.task.seed,
        workers=machine.workers, memory_limit=machine.memory_limit, checkpoint=folder.checkpoint_file,
        progress=machine.progress,
    )  # fmt: skip
    _save_votes(folder, votes, machine.workers)
    return votes


def _save_votes(folder: RunFolder, votes: Votes, workers: int) -> None:
    """Writes votes that are new, or were complete when somebody pulled the plug."""
    there = folder.record().get("votes", {})
    if votes.run is None or (not votes.run.drawn and sha256_of(folder.votes_file) == there.get("sha256")):
        return
    votes.save(folder.votes_file)
    facts = {"n_select": votes.n_select, "n_estimate": votes.n_estimate, "sha256": sha256_of(folder.votes_file)}
    if votes.run.drawn:
        there = {"seconds": votes.run.seconds, "drawn": votes.run.drawn, "workers": workers}
    folder.update(votes={**there, **facts, "versions": dict(votes.run.versions)})


def _check_not_fewer(folder: RunFolder, samples: Samples) -> None:
    """Votes that are there cannot be taken apart."""
    there = folder.record().get("votes")
    if not folder.checkpoint_file.exists() or not isinstance(there, dict):
        return
    for name, wanted in (("n_select", samples.select), ("n_estimate", samples.estimate)):
        if wanted < there.get(name, 0):
            raise InvalidInputError(
                f"expected at least the {there[name]:,} samples ({name}) that {folder.path} has, got {wanted:,}; "
                "give --force to give them up"
            )


def certify_run(path: str | os.PathLike[str], promise: Promise | None = None, force: bool = False) -> Certificates:
    """Turns the votes of a run into certificates, and writes them to its folder.

    Certificates that are there are replaced if they made the same promise, say from fewer votes; others only
    with `force`.
    """
    promise = promise or Promise()
    folder = RunFolder.open(path)
    folder.check(folder.votes_file, folder.section("votes", "flipproof vote").get("sha256"), "flipproof vote")
    certificates = certify(Votes.load(folder.votes_file), promise.alpha, promise.rule, promise.simultaneous)
    asked = {"alpha": promise.alpha, "rule": str(promise.rule), "simultaneous": promise.simultaneous}
    if folder.certificates_file.exists() and not force:
        there = read_certificates_record(folder.certificates_file)
        differences = differences_between({name: there[name] for name in asked}, asked)
        if differences:
            raise OutputError(
                f"expected the promise of the certificates in {folder.path}, got another: they have {differences}; "
                "give --force to replace them"
            )
    write_certificates(certificates, folder.certificates_file)
    folder.update(certificates=asked)
    return certificates
