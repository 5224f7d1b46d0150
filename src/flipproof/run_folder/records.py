"""What a run folder records of each step and of the inputs: sections of `run.json`, and arrays."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_type_hints

import numpy as np

from flipproof.base.values import BoolArray, IntArray
from flipproof.errors import FileFormatError, one_line
from flipproof.files.archive import reading_archive, write_archive
from flipproof.files.strict_json import FileKind, is_number
from flipproof.run_folder.folder import RunFolder
from flipproof.run_folder.split import SPLIT_PARTS, Split, label_array

T = TypeVar("T")

TRAIN, VOTE = "flipproof train", "flipproof vote"
"""The commands that make sections."""

GIVEN, DRAWN, UNKNOWN = "given", "drawn", "unknown"
"""Where a split comes from: the data have it, training drew it, or nobody said what weights were trained on."""

UNTOLD = "it is not known which inputs the weights were trained on"
NOT_REPORTED = f"not reported: {UNTOLD}"
"""Shown in place of an accuracy."""


@dataclass(frozen=True, slots=True)
class DataRecord:
    """What a model was trained on."""

    name: str
    counts: dict[str, int]
    classes: int
    fingerprint: str

    @property
    def words(self) -> str:
        """The counts as people read them.

        Example:
            >>> DataRecord("cora", {"nodes": 2810, "edges": 7981}, 7, "").words
            '2,810 nodes, 7,981 edges'
        """
        return ", ".join(f"{count:,} {name}" for name, count in self.counts.items())


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """How a model was trained. `model` and `inputs` are fingerprints of the classifier and of what is certified.

    `blind` has the words and the accuracy of a classifier that ignores the noisy part, if there is one. `files` has the
    sha256 of each file of the user's own that the classifier is made of. `split` says where the split comes from:
    "given", "drawn" or "unknown". If it is unknown, no input is known to be for testing, and there are no accuracies.
    `fingerprints` is the version of the fingerprints: 1 in early runs, which did not note it.
    """

    epochs: int
    seconds: float
    base_accuracy: float | None
    model: str
    weights_sha256: str
    inputs_sha256: str
    inputs: str
    versions: dict[str, str]
    loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    validation_accuracy: list[float] = field(default_factory=list)
    blind: dict[str, Any] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    split: str = field(default_factory=lambda: DRAWN)
    fingerprints: int = field(default_factory=lambda: 1)


@dataclass(frozen=True, slots=True)
class VotesRecord:
    """How votes were drawn; seconds and drawn samples are sums over all calls that drew some and were not killed.

    `workers` is how many processes the last call used, or "ray".
    """

    n_select: int
    n_estimate: int
    sha256: str
    seconds: float
    drawn: int
    workers: int | str
    versions: dict[str, str]


def read_section(
    folder: RunFolder, name: str, kind: type[T], made_by: str, record: Mapping[str, Any] | None = None
) -> T:
    """A section as a value, or an error that says what is wrong with it; `record` is the `run.json`, if it was read."""
    section, values = folder.section(name, made_by, record), {}
    hints = get_type_hints(kind)
    known = {each.name for each in dataclasses.fields(kind)}  # type: ignore[arg-type]  # T is a dataclass
    if unknown := sorted(set(section) - known):
        raise FileFormatError(
            f"expected {folder.record_file} as flipproof wrote it, got an unknown field {name}.{unknown[0][:40]}"
        )
    for each in dataclasses.fields(kind):  # type: ignore[arg-type]  # T is a dataclass
        if each.name not in section and each.default_factory is not dataclasses.MISSING:
            continue
        value = section.get(each.name)
        if not _fits(value, hints[each.name]):
            raise FileFormatError(
                f"expected {folder.record_file} as flipproof wrote it, got {value!r} for {name}.{each.name}"
            )
        values[each.name] = value
    return kind(**values)


def _fits(value: Any, hint: Any) -> bool:
    if hint is float:
        return is_number(value)
    if hint == float | None:
        return value is None or is_number(value)
    if hint == int | str:
        return type(value) in (int, str)
    if hint in (int, str):
        return type(value) is hint
    if hint == dict[str, int]:
        return isinstance(value, dict) and all(type(count) is int for count in value.values())
    return isinstance(value, list if hint == list[float] else dict)


INPUTS_FILE = FileKind("inputs file", "flipproof-inputs", 1)


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """One row per input.

    Attributes:
        labels: true labels.
        split: which inputs were for what.
        base_label: the prediction of the base classifier for the input itself.
        class_names: one per class.
    """

    labels: IntArray
    split: Split
    base_label: IntArray
    class_names: tuple[str, ...]

    def accuracy(self, right: BoolArray) -> float | None:
        """The share of test inputs for which something is true; None if none is known to be for testing."""
        return float(np.mean(right[self.split.test])) if self.split.test.size else None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, whole or not at all."""
        arrays = {"labels": self.labels, "base_label": self.base_label}
        parts = {name: getattr(self.split, name) for name in SPLIT_PARTS}
        write_archive(path, INPUTS_FILE, {"class_names": list(self.class_names)}, arrays | parts)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Inputs:
        """Reads what `save` wrote."""
        with reading_archive(path, INPUTS_FILE) as file:
            split = Split(*(file.array(name) for name in SPLIT_PARTS))
            labels, base_label = (label_array(file.array(name), None) for name in ("labels", "base_label"))
            highest = max(part.max(initial=-1) for part in (split.train, split.validation, split.test))
            if labels.ndim != 1 or labels.shape != base_label.shape or highest >= labels.size:
                raise FileFormatError("its arrays do not fit together")
            return cls(
                labels, split, base_label, tuple(one_line(str(name)) for name in file.description["class_names"])
            )
