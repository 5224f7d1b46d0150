"""Training into a run folder: the trained classifier, its weights, and what the folder says about them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from flipproof.base.threads import single_threaded
from flipproof.errors import FileFormatError, InvalidInputError
from flipproof.files.whole import read_whole
from flipproof.pipeline.machine import Machine
from flipproof.pipeline.models import own_model_errors
from flipproof.pipeline.prepared import PreparedTask
from flipproof.run_folder.folder import RunFolder, TrainingRecord
from flipproof.run_folder.split import DRAWN, GIVEN, UNKNOWN, Inputs, Split
from flipproof.smoothing.run import versions
from flipproof.smoothing.voting.vote_task import model_identity


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


def task_section(prepared: PreparedTask, given: GivenWeights | None) -> dict[str, Any]:
    """The section of `run.json` that says which task the run is for, and the hash of weights that were given."""
    weights = None if given is None else hashlib.sha256(given.content).hexdigest()
    return prepared.task_record() | {"weights": weights}


def train_into(folder: RunFolder, prepared: PreparedTask, machine: Machine, given: GivenWeights | None) -> Trained:
    """Trains the model of a task, or takes the weights that are given, and saves it in a folder that is locked."""
    if given is None:
        classifier, facts = prepared.model.trained(
            prepared.learned, prepared.noise, machine.memory_limit, machine.progress
        )
    else:
        classifier, facts = prepared.model.restored(given.content, given.path), {"epochs": 0, "seconds": 0.0}
    return _saved(folder, prepared, task_section(prepared, given), classifier, facts)


def source_of_split(prepared: PreparedTask, weights: str | None) -> str:
    """Where the split comes from: of a model that was trained here, or elsewhere, if its weights have a hash."""
    return GIVEN if prepared.split_given else DRAWN if weights is None else UNKNOWN


def _saved(
    folder: RunFolder, prepared: PreparedTask, task: Mapping[str, Any], classifier: Any, facts: Mapping[str, Any]
) -> Trained:
    """Writes weights, inputs and record of a trained model, and returns the classifier that these weights make."""
    with single_threaded(), own_model_errors(prepared.task):
        content, base_label = prepared.model.weights(classifier), prepared.clean_labels(classifier)
        restored = prepared.model.restored(content, str(folder.weights_file))
        same = np.array_equal(prepared.clean_labels(restored), base_label)
    if not same:
        raise InvalidInputError(
            f"a new {prepared.task.model.name} with the trained weights predicts something else: all that training "
            "changes must be in its state_dict"
        )
    certified, identity, source = (
        prepared.certified,
        model_identity(restored),
        source_of_split(prepared, task["weights"]),
    )
    split = Split.nothing() if source == UNKNOWN else certified.split
    inputs = Inputs(certified.labels, split, base_label, prepared.class_names)
    training = folder.save_training(
        task,
        prepared.record,
        content,
        inputs,
        **facts,
        split=source,
        model=identity["model"],
        fingerprints=identity["fingerprints"],
        inputs=prepared.inputs_fingerprint(split),
        versions=versions(),
        blind={} if source == UNKNOWN else prepared.blind_facts(),
        files=identity["files"],
    )
    return Trained(prepared, restored, training, inputs)
