"""Whether the labels and the split in a run folder are those of the data."""

from __future__ import annotations

import numpy as np

from flipproof.errors import FileFormatError, InvalidInputError
from flipproof.pipeline.job import Job
from flipproof.run_folder.folder import RunFolder
from flipproof.run_folder.inputs import Inputs
from flipproof.run_folder.records import TRAIN, UNKNOWN, TrainingRecord, read_section
from flipproof.run_folder.split import Split
from flipproof.smoothing.fingerprint.fingerprints import fingerprint
from flipproof.smoothing.fingerprint.identity import of_other_fingerprints

_PARTS = ("train", "validation", "test")


def inputs_fingerprint(job: Job, split: Split) -> str:
    """What is certified, and what accuracies are about: the inputs, their labels and the split."""
    parts = tuple(np.asarray(getattr(split, name), np.int64) for name in _PARTS)
    return fingerprint((job.certified.space, job.certified.labels, parts))


def check_fingerprints(folder: RunFolder) -> None:
    """Refuses a run whose fingerprints can't be compared, because another flipproof has made them."""
    training = read_section(folder, "training", TrainingRecord, TRAIN)
    if other := of_other_fingerprints({"fingerprints": training.fingerprints}):
        raise InvalidInputError(
            f"{folder.path} was {other}; use it with that version, or start over with flipproof train --force"
        )


def check_inputs(folder: RunFolder, job: Job) -> Inputs:
    """The inputs of a run, which must be those of its data. Their file, or the task, may have been edited since."""
    training = read_section(folder, "training", TrainingRecord, TRAIN)
    check_fingerprints(folder)
    folder.check(folder.inputs_file, training.inputs_sha256, f"{TRAIN} --force")
    split = Split.nothing() if training.split == UNKNOWN else job.certified.split
    if training.inputs != inputs_fingerprint(job, split):
        raise InvalidInputError(
            f"expected the inputs that {folder.path} was trained for, got others: its task was changed; "
            "flipproof train --force starts again"
        )
    found = Inputs.load(folder.inputs_file)
    pairs = [(found.labels, job.certified.labels, "labels")]
    pairs += [(getattr(found.split, part), getattr(split, part), f"{part} inputs") for part in _PARTS]
    different = [words for stated, true, words in pairs if not np.array_equal(stated, true)]
    if found.class_names != tuple(job.class_names):
        different.append("names of classes")
    if different:
        raise FileFormatError(
            f"expected {folder.inputs_file} to have the {different[0]} of {job.record.name}, got others; "
            "flipproof train --force starts again"
        )
    return found
