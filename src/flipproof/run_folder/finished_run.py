"""A finished run as a value: what the steps made, handed on to the summary and to the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flipproof.errors import FileFormatError
from flipproof.run_folder.folder import RunFolder
from flipproof.run_folder.inputs import Inputs
from flipproof.run_folder.records import TRAIN, DataRecord, TrainingRecord, VotesRecord
from flipproof.run_folder.task import Task
from flipproof.smoothing.certificates import Certificates


@dataclass(frozen=True, slots=True)
class KindWords:
    """How a run speaks of its kind of data.

    Attributes:
        unit: what one input is.
        noise: what gets noise, or how: "on pixels".
        changes: what an attacker changes, as fields of a report's `DescribedInputs`.
    """

    unit: str
    noise: str
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class FinishedRun:
    """A run that has its certificates.

    Attributes:
        folder: where it is.
        asked: what was asked, as `run.json` has it.
        task: what was asked, as a value.
        data: what the model was trained on.
        training: how it was trained.
        votes: how votes were drawn.
        promise: what the certificates promise, as `run.json` has it.
        inputs: true labels, split and base predictions.
        certificates: what is proved, with the votes that it rests on.
        words: how it speaks of its data.
        shown: the data and what else a report can draw, as fields of its `DescribedInputs`; None if the data are not
            at hand, so that the labels in the folder were not compared with them.
    """

    folder: RunFolder
    asked: Mapping[str, Any]
    task: Task
    data: DataRecord
    training: TrainingRecord
    votes: VotesRecord
    promise: Mapping[str, Any]
    inputs: Inputs
    certificates: Certificates
    words: KindWords
    shown: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if len(self.certificates) != self.inputs.labels.size:
            raise FileFormatError(
                f"expected votes on {self.inputs.labels.size} inputs in {self.folder.path}, got "
                f"{len(self.certificates)}"
            )


def read_inputs(folder: RunFolder, training: TrainingRecord) -> Inputs:
    """The inputs of a run, from the file that `run.json` knows."""
    folder.check(folder.inputs_file, training.inputs_sha256, f"{TRAIN} --force")
    return Inputs.load(folder.inputs_file)
