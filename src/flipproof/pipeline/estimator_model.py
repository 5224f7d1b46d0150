"""A scikit-learn estimator as the model of a job: fitted to noisy copies, kept as plain arrays."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from flipproof.errors import FileFormatError, InvalidInputError
from flipproof.extras import require
from flipproof.models.fitted.estimators import classifier_of_arrays, fitted
from flipproof.models.training.estimators import fit_estimator
from flipproof.models.weights import arrays_bytes, read_arrays
from flipproof.noise.laws import Law
from flipproof.pipeline.job import Lot
from flipproof.pipeline.task import Task

_TREES = 30


@dataclass(frozen=True, slots=True, eq=False)
class EstimatorModel:
    """An estimator that is fitted to rows of so many columns.

    Attributes:
        task: what was asked; of its training, `noisy_samples` and `balanced` count.
        columns: how many entries a row has.
        classes: how many labels there are.
    """

    task: Task
    columns: int
    classes: int

    def check(self) -> None:
        """Finds what will be needed, and refuses settings of another way to train."""
        require("safetensors.numpy")
        _MAKERS[self.task.model.name](self.task)

    def trained(self, learned: Lot, noise: Law, memory_limit: str | int, progress: bool) -> tuple[Any, dict[str, Any]]:
        """The arrays of a fitted estimator."""
        task, rows, start = self.task, learned.split.train, time.perf_counter()
        if np.unique(learned.labels[rows]).size < self.classes:
            raise InvalidInputError(f"expected inputs of all {self.classes} classes to train on, got fewer")
        estimator = fit_estimator(
            _MAKERS[task.model.name](task), learned.space, learned.labels, rows, noise, task.training.noisy_samples,
            task.seed, memory_limit,
        )  # fmt: skip
        return fitted(estimator), {"epochs": 0, "seconds": time.perf_counter() - start}

    def weights(self, classifier: Any) -> bytes:
        """The arrays."""
        return arrays_bytes(classifier.arrays())

    def restored(self, content: bytes, name: str, own: str | None = None) -> Any:
        """The classifier of arrays that fit the data."""
        classifier = classifier_of_arrays(read_arrays(content, name), name)
        found = (classifier.columns, classifier.classes)
        if found != (self.columns, self.classes):
            raise FileFormatError(
                f"expected weights for {self.columns} columns and {self.classes} classes, got {name} for "
                f"{found[0]} and {found[1]}"
            )
        return classifier


def _logistic(task: Task) -> Any:
    return require("sklearn.linear_model").LogisticRegression(max_iter=1000, class_weight=_weights(task))


def _forest(task: Task) -> Any:
    return require("sklearn.ensemble").RandomForestClassifier(
        _TREES, class_weight=_weights(task), random_state=task.seed % 2**32
    )


def _weights(task: Task) -> str | None:
    return "balanced" if task.training.balanced else None


_MAKERS: dict[str, Callable[[Task], Any]] = {"logistic": _logistic, "forest": _forest}
