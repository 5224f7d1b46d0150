"""Training into a run folder, and what was trained there found again: it must be what the folder says it is."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipproof.base.threads import single_threaded
from flipproof.errors import FileFormatError, InvalidInputError, OutputError
from flipproof.extras import MissingExtraError, require
from flipproof.files.whole import read_whole
from flipproof.pipeline.kinds.kind import prepared_task, task_in
from flipproof.pipeline.machine import Machine
from flipproof.pipeline.models import somebody_elses
from flipproof.pipeline.prepared import PreparedTask
from flipproof.run_folder.finished_run import read_inputs
from flipproof.run_folder.folder import RunFolder, sha256_of
from flipproof.run_folder.records import DRAWN, GIVEN, TRAIN, UNKNOWN, DataRecord, Inputs, TrainingRecord, read_section
from flipproof.run_folder.split import Split
from flipproof.smoothing.fingerprint.fingerprints import fingerprint
from flipproof.smoothing.fingerprint.identity import (
    changed_files,
    changed_since,
    differences_between,
    of_other_fingerprints,
)
from flipproof.smoothing.run import versions
from flipproof.smoothing.voting.vote_task import model_identity

_PARTS = ("train", "validation", "test")
_MOST_VALUES = 2 * 10**8
"""Of attributes: fitting must stay a matter of seconds."""


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A task with its data and the classifier that was trained for it.

    Attributes:
        prepared: the task with its data.
        classifier: as its weights in the run folder say.
        training: how it was trained.
        inputs: true labels, split and base predictions.
    """

    prepared: PreparedTask
    classifier: Any
    training: TrainingRecord
    inputs: Inputs


@dataclass(frozen=True, slots=True)
class GivenWeights:
    """Weights that were trained elsewhere, to be used instead of training."""

    path: str
    content: bytes

    @classmethod
    def read(cls, path: str | os.PathLike[str] | None) -> GivenWeights | None:
        """The weights in a file; None if there is no file."""
        if path is None:
            return None
        try:
            return cls(str(path), read_whole(Path(path)))
        except OSError as error:
            raise FileFormatError(f"expected a file of weights, got {path}: {error.strerror or error}") from error


def asked_of(prepared: PreparedTask, given: GivenWeights | None) -> dict[str, Any]:
    """The section of `run.json` that says what was asked."""
    weights = None if given is None else hashlib.sha256(given.content).hexdigest()
    return prepared.record_of_task() | {"weights": weights}


def trained_into(
    path: str | os.PathLike[str], prepared: PreparedTask, machine: Machine, given: GivenWeights | None, force: bool
) -> RunFolder:
    """Trains into a folder what is not there yet."""
    folder, asked = RunFolder(Path(path)), asked_of(prepared, given)
    if folder.exists and not force:
        check_same(RunFolder.open(path), asked)
        check_data(folder, prepared)
        return folder
    prepared.check()  # what cannot be done leaves no folder
    folder = RunFolder.prepare(path)
    with folder.locked():
        if given is None:
            classifier, facts = prepared.model.trained(
                prepared.learned, prepared.noise, machine.memory_limit, machine.progress
            )
        else:
            classifier, facts = prepared.model.restored(given.content, given.path), {"epochs": 0, "seconds": 0.0}
        source = source_of_split(prepared, asked["weights"])
        _save_model(folder, asked, prepared, classifier, facts | {"split": source})
    return folder


def source_of_split(prepared: PreparedTask, weights: str | None) -> str:
    """Where the split comes from, of a model that was trained here or elsewhere."""
    return GIVEN if prepared.split_given else DRAWN if weights is None else UNKNOWN


def check_same(folder: RunFolder, asked: Mapping[str, Any]) -> None:
    """Refuses to go on with another task than was asked."""
    found = folder.record()["task"]
    first = [name for name in ("kind", "dataset", "noisy") if found.get(name) != asked.get(name)]
    if first:  # all else differs too then
        found, asked = ({name: record.get(name) for name in first} for record in (found, asked))
    differences = differences_between(found, asked)
    if differences:
        raise OutputError(
            f"expected a new folder or the task of the run in it, got {folder.path}, which has {differences}; "
            "name another folder, or give --force to start this one again"
        )


def check_data(folder: RunFolder, prepared: PreparedTask) -> None:
    """Refuses other data than a run was trained on."""
    known = read_section(folder, "dataset", DataRecord, TRAIN)
    differences = differences_between(asdict(prepared.record), asdict(known))
    if differences:
        raise InvalidInputError(
            f"expected the data that {folder.path} was trained on, got others: {differences}; "
            "flipproof train --force starts again"
        )


def _save_model(
    folder: RunFolder, asked: Mapping[str, Any], prepared: PreparedTask, classifier: Any, facts: Mapping[str, Any]
) -> None:
    with single_threaded(), somebody_elses(prepared.task):
        content, base_label = prepared.model.weights(classifier), prepared.clean_labels(classifier)
        saved = prepared.model.restored(content, str(folder.weights_file))
        same = np.array_equal(prepared.clean_labels(saved), base_label)
    if not same:
        raise InvalidInputError(
            f"expected {prepared.task.model.name} to be what its weights say, got other predictions from a new one "
            "with the same weights: all that training changes must be in its state_dict"
        )
    certified, identity, judged = prepared.certified, model_identity(saved), facts["split"] != UNKNOWN
    inputs = Inputs(certified.labels, certified.split if judged else Split.nothing(), base_label, prepared.class_names)
    folder.forget("training", "votes", "certificates")
    inputs.save(folder.inputs_file)
    training = TrainingRecord(
        **facts,
        base_accuracy=inputs.accuracy(np.equal(base_label, certified.labels)),
        model=identity["model"],
        fingerprints=identity["fingerprints"],
        weights_sha256=folder.write(folder.weights_file, content),
        inputs_sha256=str(sha256_of(folder.inputs_file)),
        inputs=inputs_fingerprint(prepared, inputs.split),
        versions=versions(),
        blind=blind_facts(prepared) if judged else {},
        files=identity["files"],
    )
    folder.begin(task=asked, dataset=asdict(prepared.record), training=asdict(training))


def reopened(folder: RunFolder, model: str | None = None, prepared: PreparedTask | None = None) -> Trained:
    """The data and the trained classifier of a run, which must be those of its training.

    Code is only run if the caller names it: a user's own model must be named again. Data are loaded, unless somebody
    has prepared the task of the run already.
    """
    task = task_in(folder.record())
    if task.model.own and model is None:
        raise InvalidInputError(f"expected --model, because {folder.path} has a model of your own: {task.model.name}")
    if not task.model.own and model not in (None, task.model.name):
        raise InvalidInputError(f"expected the model of {folder.path}, {task.model.name}, got {model}")
    prepared = prepared_task(task) if prepared is None else prepared
    check_data(folder, prepared)
    inputs = check_inputs(folder, prepared)
    training = read_section(folder, "training", TrainingRecord, TRAIN)
    return Trained(prepared, restored_classifier(folder, prepared, model), training, inputs)


def restored_classifier(folder: RunFolder, prepared: PreparedTask, model: str | None = None) -> Any:
    """The trained classifier of a run, with its weights; `model` as in `reopened`."""
    training = read_section(folder, "training", TrainingRecord, TRAIN)
    content = folder.check(folder.weights_file, training.weights_sha256, f"{TRAIN} --force")
    classifier = prepared.model.restored(content, str(folder.weights_file), model)
    _check_model(folder, training, classifier)
    return classifier


def _check_model(folder: RunFolder, training: TrainingRecord, classifier: Any) -> None:
    """The code of a user's own model may have been edited since."""
    check_fingerprints(folder, training)
    identity = model_identity(classifier)
    if identity["model"] == training.model:
        return
    edited = changed_files(training.files, identity["files"])
    why = f"{changed_since(edited)}, or" if edited else "its code or its settings differ;"
    raise InvalidInputError(
        f"expected the model that {folder.path} was trained with, got another: {why} "
        "flipproof train --force starts again"
    )


def inputs_fingerprint(prepared: PreparedTask, split: Split) -> str:
    """What is certified, and what accuracies are about: the inputs, their labels and the split."""
    parts = tuple(np.asarray(getattr(split, name), np.int64) for name in _PARTS)
    return fingerprint((prepared.certified.space, prepared.certified.labels, parts))


def check_fingerprints(folder: RunFolder, training: TrainingRecord) -> None:
    """Refuses a run whose fingerprints can't be compared, because another flipproof has made them."""
    if other := of_other_fingerprints({"fingerprints": training.fingerprints}):
        raise InvalidInputError(
            f"{folder.path} was {other}; use it with that version, or start over with flipproof train --force"
        )


def check_inputs(folder: RunFolder, prepared: PreparedTask) -> Inputs:
    """The inputs of a run, which must be those of its data. Their file, or the task, may have been edited since."""
    training = read_section(folder, "training", TrainingRecord, TRAIN)
    check_fingerprints(folder, training)
    found = read_inputs(folder, training)
    split = Split.nothing() if training.split == UNKNOWN else prepared.certified.split
    certified = prepared.certified
    if training.inputs != inputs_fingerprint(prepared, split):
        raise InvalidInputError(
            f"expected the inputs that {folder.path} was trained for, got others: its task was changed; "
            "flipproof train --force starts again"
        )
    pairs = [(found.labels, certified.labels, "labels")]
    pairs += [(getattr(found.split, part), getattr(split, part), f"{part} inputs") for part in _PARTS]
    different = [words for stated, true, words in pairs if not np.array_equal(stated, true)]
    if found.class_names != tuple(prepared.class_names):
        different.append("names of classes")
    if different:
        raise FileFormatError(
            f"expected {folder.inputs_file} to have the {different[0]} of {prepared.record.name}, got others; "
            "flipproof train --force starts again"
        )
    return found


def blind_facts(prepared: PreparedTask) -> dict[str, Any]:
    """How often logistic regression on the attributes alone is right about test nodes, if only edges get noise.

    Empty where that has no meaning, or cannot be had at once; reports then compare with the most frequent class.
    """
    labels, split = prepared.certified.labels, prepared.certified.split
    attributes = getattr(prepared.certified.space, "fixed_rows", None)
    if attributes is None or labels.size != attributes.shape[0]:
        return {}
    stored = attributes.nnz if sp.issparse(attributes) else attributes.size
    if not split.test.size or np.unique(labels[split.train]).size < 2 or stored > _MOST_VALUES:
        return {}
    try:
        linear = require("sklearn.linear_model").LogisticRegression(max_iter=300)
    except MissingExtraError:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that has not quite converged is as good here
        found = linear.fit(attributes[split.train], labels[split.train]).predict(attributes[split.test])
    right = float(np.mean(found == labels[split.test]))
    return {"words": "logistic regression on the attributes alone", "accuracy": right}
