"""What is known about the inputs of a run apart from votes: true labels, their part in training, base predictions."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from flipproof.base.arrays import BoolArray, IntArray
from flipproof.errors import FileFormatError, one_line
from flipproof.files.archive import FileKind, reading_archive, write_archive
from flipproof.run_folder.split import Split, label_array

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
        parts = {name: getattr(self.split, name) for name in ("train", "validation", "test")}
        write_archive(path, INPUTS_FILE, {"class_names": list(self.class_names)}, arrays | parts)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Inputs:
        """Reads what `save` wrote."""
        with reading_archive(path, INPUTS_FILE) as file:
            split = Split(*(file.array(name) for name in ("train", "validation", "test")))
            labels, base_label = (label_array(file.array(name), None) for name in ("labels", "base_label"))
            highest = max(part.max(initial=-1) for part in (split.train, split.validation, split.test))
            if labels.ndim != 1 or labels.shape != base_label.shape or highest >= labels.size:
                raise FileFormatError("its arrays do not fit together")
            return cls(
                labels, split, base_label, tuple(one_line(str(name)) for name in file.description["class_names"])
            )
