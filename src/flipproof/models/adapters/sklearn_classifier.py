"""A fitted scikit-learn estimator as a classifier of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.short_repr import amount, model_words, short_repr
from flipproof.base.values import IntArray
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.clean_pass import rows_in
from flipproof.models.adapters.given_rows import estimator_rows
from flipproof.models.adapters.refusals import one_output_of
from flipproof.smoothing.fingerprint.fingerprints import fingerprint


@dataclass(frozen=True, eq=False)
class SklearnClassifier:
    """Gives each row the number of its predicted class in `estimator.classes_`.

    Args:
        estimator: any fitted classifier with `predict` and `classes_`, also of LightGBM, XGBoost or CatBoost, or a
            pipeline that ends in one.

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

    def __repr__(self) -> str:
        return short_repr(self, model_words(self.estimator), amount(self.classes, "class"))

    def __call__(self, batch: Any) -> IntArray:
        """Labels of an array [rows, ...], flattened to two dimensions, of a sparse matrix, a data frame or texts."""
        predictions = np.asarray(self.estimator.predict(estimator_rows(self.estimator, batch)))
        return self._numbers(predictions, rows_in(batch))

    @property
    def label_scores(self) -> Callable[[Any], NDArray[Any] | None] | None:
        """A function that gives decision values or probabilities [rows, classes], or None if the estimator has none.

        The function itself returns None if the scores are not one per class, but, say, one per pair of classes.
        """
        for name in ("decision_function", "predict_proba"):
            if hasattr(self.estimator, name):
                return lambda batch: self._by_class(
                    getattr(self.estimator, name)(estimator_rows(self.estimator, batch)), rows_in(batch)
                )
        return None

    @property
    def classes(self) -> int:
        """The number of labels."""
        return len(self._classes)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The labels that the estimator itself gives, as texts."""
        return tuple(map(str, self._classes.tolist()))

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the estimator in its current state."""
        return fingerprint(("SklearnClassifier", self.estimator))

    @property
    def _classes(self) -> NDArray[Any]:
        classes = self.estimator.classes_
        several = isinstance(classes, list | tuple) and any(np.ndim(each) for each in classes)
        return np.empty((0, 0)) if several else np.asarray(classes)

    def _by_class(self, scores: Any, rows: int) -> NDArray[Any] | None:
        """Scores [rows, classes]; a single score per row is that of the second of two classes."""
        array = np.asarray(scores)
        array = array if array.ndim == 2 else np.stack([-array, array], axis=1)
        return array if array.shape == (rows, self.classes) else None

    def _numbers(self, predictions: NDArray[Any], rows: int) -> IntArray:
        if predictions.shape == (rows, 1):  # CatBoost writes labels of more than two classes as a column
            predictions = predictions[:, 0]
        if predictions.shape == (rows, self.classes) and not np.isin(predictions, self._classes).all():
            raise InvalidInputError(self._scores_for_labels(predictions[:1], ""))
        if predictions.ndim == 2 and len(predictions) == rows:
            raise InvalidInputError(one_output_of(type(self.estimator).__name__))
        if predictions.shape != (rows,):
            raise InvalidInputError(f"expected predictions of shape ({rows},), got {predictions.shape}")
        order = np.argsort(self._classes)
        places = np.searchsorted(self._classes, predictions, sorter=order)
        numbers: IntArray = order[np.minimum(places, self.classes - 1)].astype(np.int64)
        unknown = self._classes[numbers] != predictions
        if unknown.any():
            raise InvalidInputError(self._scores_for_labels(predictions[unknown][:1], ", threshold=0"))
        return numbers

    def _scores_for_labels(self, predictions: NDArray[Any], more: str) -> str:
        """Why predictions are no labels, as those of LightGBM are not after training for an objective of the user."""
        return (
            f"expected predictions among classes_, got {predictions.tolist()[0]} from "
            f"{type(self.estimator).__name__}; if these are scores, as after training for an objective of your own: "
            f"call=lambda model, rows: model.predict(rows){more}"
        )
