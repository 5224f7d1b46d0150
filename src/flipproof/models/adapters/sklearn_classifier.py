"""A fitted scikit-learn estimator as a classifier of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from flipproof.base.values import IntArray, RowArray, sorted_rows
from flipproof.errors import InvalidInputError
from flipproof.smoothing.classifier import signed
from flipproof.smoothing.fingerprint.fingerprints import fingerprint


@dataclass(frozen=True, eq=False)
class SklearnClassifier:
    """Gives each row the number of its predicted class in `estimator.classes_`.

    Args:
        estimator: any fitted classifier, or a pipeline that ends in one.

    Example:
        >>> from sklearn.naive_bayes import BernoulliNB
        >>> estimator = BernoulliNB().fit([[1, 0, 0], [0, 1, 1]], ["cat", "dog"])
        >>> classifier = SklearnClassifier(estimator)
        >>> classifier.classes, classifier(np.array([[0, 1, 1], [1, 0, 1]]))
        (2, array([1, 0]))
    """

    estimator: Any

    def __post_init__(self) -> None:
        name = type(self.estimator).__name__
        for needed in ("predict", "classes_"):
            if not hasattr(self.estimator, needed):
                raise InvalidInputError(
                    f"expected a fitted scikit-learn classifier, got {name} without {needed}: call fit"
                )
        if np.ndim(self._classes) != 1 or not self.classes:
            raise InvalidInputError(f"expected a classifier with one label per row, got {name} with several")

    def __call__(self, batch: RowArray) -> IntArray:
        """Labels [rows] of an array [rows, ...], flattened to two dimensions, a sparse matrix or a data frame."""
        return self._numbers(_column(self.estimator.predict(_flat(batch))), batch.shape[0])

    @property
    def label_scores(self) -> Callable[[Any], NDArray[Any]] | None:
        """A function that gives decision values or probabilities [rows, classes], or None if the estimator has none."""
        for name in ("decision_function", "predict_proba"):
            if hasattr(self.estimator, name):
                return lambda batch: _by_class(getattr(self.estimator, name)(_flat(batch)))
        return None

    @property
    def classes(self) -> int:
        """The number of labels."""
        return len(self._classes)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the estimator in its current state."""
        return fingerprint(("SklearnClassifier", self.estimator))

    @property
    def _classes(self) -> NDArray[Any]:
        classes = self.estimator.classes_
        return np.empty((0, 0)) if isinstance(classes, list) else np.asarray(classes)

    def _numbers(self, predictions: NDArray[Any], rows: int) -> IntArray:
        if predictions.shape != (rows,):
            raise InvalidInputError(f"expected predictions of shape ({rows},), got {predictions.shape}")
        order = np.argsort(self._classes)
        places = np.searchsorted(self._classes, predictions, sorter=order)
        numbers: IntArray = order[np.minimum(places, self.classes - 1)].astype(np.int64)
        unknown = self._classes[numbers] != predictions
        if unknown.any():
            raise InvalidInputError(f"expected predictions among classes_, got {predictions[unknown][0]!r}")
        return numbers


def _column(predictions: Any) -> NDArray[Any]:
    """One prediction per row, which CatBoost gives in an array [rows, 1] if there are more than two classes."""
    given = np.asarray(predictions)
    return given[:, 0] if given.ndim == 2 and given.shape[1] == 1 else given


def _flat(batch: Any) -> Any:
    """Rows in two dimensions; sparse rows get sorted columns, data frames stay as they are."""
    if hasattr(batch, "columns"):
        return batch
    return sorted_rows(batch) if scipy.sparse.issparse(batch) else signed(batch.reshape(batch.shape[0], -1))


def _by_class(scores: NDArray[Any]) -> NDArray[Any]:
    """Scores [rows, classes]; a single score per row is that of the second of two classes."""
    array = np.asarray(scores)
    return array if array.ndim == 2 else np.stack([-array, array], axis=1)
