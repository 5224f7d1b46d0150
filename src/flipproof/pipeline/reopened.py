"""Opening a trained run again: its task, data, inputs and classifier must still be what the folder says they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from flipproof.errors import FileFormatError, InvalidInputError, OutputError
from flipproof.pipeline.kinds.kind import prepared_task, task_in
from flipproof.pipeline.prepared import PreparedTask, Trained
from flipproof.run_folder.data_record import DataRecord
from flipproof.run_folder.finished_run import read_inputs
from flipproof.run_folder.folder import RunFolder, TrainingRecord
from flipproof.run_folder.split import SPLIT_PARTS, UNKNOWN, Inputs, Split
from flipproof.smoothing.fingerprint.identity import (
    changed_files,
    changed_since,
    differences_between,
    of_other_fingerprints,
)
from flipproof.smoothing.voting.vote_task import model_identity


def reopened(folder: RunFolder, model: str | None = None) -> Trained:
    """The data and the trained classifier of a run, which must be those of its training.

    Code is only run if the caller names it: a user's own model must be named again.
    """
    task = task_in(folder.record())
    if task.model.own and model is None:
        raise InvalidInputError(f"expected --model, because {folder.path} has a model of your own: {task.model.name}")
    if not task.model.own and model not in (None, task.model.name):
        raise InvalidInputError(f"expected the model of {folder.path}, {task.model.name}, got {model}")
    return reopened_with(folder, prepared_task(task), model)


def reopened_with(folder: RunFolder, prepared: PreparedTask, model: str | None) -> Trained:
    """The trained classifier of a run whose data are loaded already; a user's own model must be named by `model`."""
    check_data(folder, prepared)
    inputs = check_inputs(folder, prepared)
    training = folder.read(TrainingRecord)
    return Trained(prepared, restored_classifier(folder, prepared, model), training, inputs)


def restored_classifier(folder: RunFolder, prepared: PreparedTask, model: str | None = None) -> Any:
    """The trained classifier of a run, with its weights; a user's own model must be named by `model`."""
    training = folder.read(TrainingRecord)
    content = folder.check(folder.weights_file, training.weights_sha256, "flipproof train --force")
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
        "flipproof train --force starts over"
    )


def check_task(folder: RunFolder, task: Mapping[str, Any]) -> None:
    """Refuses to go on with a run of another task."""
    found = folder.record()["task"]
    first = [name for name in ("kind", "dataset", "noisy") if found.get(name) != task.get(name)]
    if first:  # all else differs too then
        found, task = ({name: record.get(name) for name in first} for record in (found, task))
    differences = differences_between(found, task)
    if differences:
        raise OutputError(
            f"{folder.path} already holds a run with other settings: it has {differences}; name another folder, or "
            "pass --force to start over"
        )


def check_data(folder: RunFolder, prepared: PreparedTask) -> None:
    """Refuses other data than a run was trained on."""
    known = folder.read(DataRecord)
    differences = differences_between(asdict(prepared.record), asdict(known))
    if differences:
        raise InvalidInputError(
            f"expected the data that {folder.path} was trained on, got others: {differences}; "
            "flipproof train --force starts over"
        )


def check_fingerprints(folder: RunFolder, training: TrainingRecord) -> None:
    """Refuses a run whose fingerprints can't be compared, because another flipproof has made them."""
    if other := of_other_fingerprints({"fingerprints": training.fingerprints}):
        raise InvalidInputError(
            f"{folder.path} was {other}; use it with that version, or start over with flipproof train --force"
        )


def check_inputs(folder: RunFolder, prepared: PreparedTask) -> Inputs:
    """The inputs of a run, which must be those of its data. Their file, or the task, may have been edited since."""
    training = folder.read(TrainingRecord)
    check_fingerprints(folder, training)
    found = read_inputs(folder, training)
    split = Split.nothing() if training.split == UNKNOWN else prepared.certified.split
    certified = prepared.certified
    if training.inputs != prepared.inputs_fingerprint(split):
        raise InvalidInputError(
            f"expected the inputs that {folder.path} was trained for, got others: its task was changed; "
            "flipproof train --force starts over"
        )
    pairs = [(found.labels, certified.labels, "labels")]
    pairs += [(getattr(found.split, part), getattr(split, part), f"{part} inputs") for part in SPLIT_PARTS]
    different = [words for stated, true, words in pairs if not np.array_equal(stated, true)]
    if found.class_names != tuple(prepared.class_names):
        different.append("names of classes")
    if different:
        raise FileFormatError(
            f"expected {folder.inputs_file} to have the {different[0]} of {prepared.record.name}, got others; "
            "flipproof train --force starts over"
        )
    return found
