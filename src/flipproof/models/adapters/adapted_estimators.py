"""Finds the adapter of an estimator of scikit-learn, LightGBM, XGBoost or CatBoost, or of whatever looks like one."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from flipproof.errors import InvalidInputError
from flipproof.models.adapters.adapted_functions import adapted_function
from flipproof.models.adapters.clean_pass import asking, clean_batch, rows_in
from flipproof.models.adapters.given_rows import check_columns, estimator_rows, found
from flipproof.models.adapters.refusals import check_fitted, kind_of, one_output_of, refuse_without_classes
from flipproof.models.adapters.scored_estimator import ScoredEstimator
from flipproof.models.adapters.scores import LOGIT, PROBABILITY, Cut, checked_columns, checked_threshold, columns_of
from flipproof.models.adapters.sklearn_classifier import SklearnClassifier
from flipproof.noise.spaces.space import Space
from flipproof.smoothing.classifier import Classifier, ModelOptions
from flipproof.theory.base_law import Law

SCORES = ("predict_proba", "decision_function")
"""Methods whose scores decide, the first one that an estimator has."""
_SPARSE = "give dense rows if it takes no sparse ones: fp.vote(model, matrix.toarray(), noise)"


def is_estimator(model: Any) -> bool:
    """Whether a model is called by its methods, as estimators of scikit-learn are."""
    return any(found(model, name) is not None for name in ("predict", "fit", *SCORES))


def adapted_estimator(model: Any, space: Space, noise: Law, options: ModelOptions) -> Classifier:
    """The adapter of an estimator, or an error that says why it has no labels."""
    check_fitted(model)
    classes = _classes_of(model)
    if classes is None and (refused := refuse_without_classes(model)) is not None:
        if kind_of(model) != "regressor" or options.threshold is None:
            raise refused
        return by_scores(model, "predict", space, noise, options)
    method = next((name for name in SCORES if found(model, name) is not None), None)
    has_labels = found(model, "predict") is not None
    if options.threshold is None and has_labels and classes is not None:
        return _by_labels(model, space, noise, options)
    if method is not None and (options.threshold is not None or not has_labels):
        return by_scores(model, method, space, noise, options)
    if not has_labels:
        raise InvalidInputError(
            f"expected a classifier, got {type(model).__name__} without predict, predict_proba or decision_function"
        )
    if options.threshold is not None and classes is not None:
        raise InvalidInputError(
            f"expected threshold only with a model that has scores, got {type(model).__name__}, which has neither "
            "predict_proba nor decision_function; leave threshold out"
        )
    if method is not None and options.classes is None:  # its scores only tell how many labels there are
        options = replace(options, classes=by_scores(model, method, space, noise, options).classes)
    return adapted_function(functools.partial(_predicted, model), space, noise, options, "predict")


def _predicted(model: Any, batch: Any) -> Any:
    """What a model predicts that does not say by `classes_` what its labels are."""
    check_columns(model, batch)
    return model.predict(batch)


def _classes_of(model: Any) -> int | None:
    """The number of classes that an estimator knows; None if it knows none."""
    classes = found(model, "classes_")
    if classes is None:
        return None
    if isinstance(classes, list | tuple) and any(np.ndim(each) for each in classes):
        raise InvalidInputError(one_output_of(type(model).__name__))
    return len(classes) or None


def _by_labels(model: Any, space: Space, noise: Law, options: ModelOptions) -> Classifier:
    """The classifier of an estimator's own predictions."""
    classifier, name = SklearnClassifier(model), type(model).__name__
    if options.classes not in (None, classifier.classes):
        raise InvalidInputError(f"expected classes={classifier.classes}, as {name} has, got classes={options.classes}")
    batch = clean_batch(space, noise)
    with asking(name, _hint(batch)):
        classifier(batch)
    return classifier


def by_scores(model: Any, method: str, space: Space, noise: Law, options: ModelOptions) -> ScoredEstimator:
    """The classifier of an estimator's scores; one clean pass says how many classes there are."""
    batch, name = clean_batch(space, noise), type(model).__name__
    with asking(name, _hint(batch)):
        scores = columns_of(getattr(model, method)(estimator_rows(model, batch)), None)
    if scores.ndim not in (1, 2) or len(scores) != rows_in(batch):
        raise InvalidInputError(f"expected {method} of {name} to give [rows, classes], got shape {scores.shape}")
    is_single = scores.size == len(scores)
    if method == "predict" and not is_single:
        raise InvalidInputError(one_output_of(name))
    known, columns = _classes_of(model), 2 if is_single else scores.shape[1]
    if known not in (None, columns):
        raise InvalidInputError(
            f"expected one score for each of {known} classes from {method} of {name}, got {columns}; let it give "
            "labels by itself: fp.vote(model, data, noise)"
        )
    cut = _cut_of(name, method, columns, is_single, options)
    return ScoredEstimator(model, method, checked_columns(columns, options.classes, name), cut)


def _cut_of(name: str, method: str, columns: int, is_single: bool, options: ModelOptions) -> Cut | None:
    """Where the second of two classes begins; None if the largest score decides."""
    if options.threshold is not None:
        if columns != 2:
            raise InvalidInputError(
                f"expected threshold only with two classes, got {name} with {columns}; leave threshold out"
            )
        return checked_threshold(options.threshold, method == "predict_proba")
    if not is_single:
        return None
    return PROBABILITY if method == "predict_proba" else LOGIT


def _hint(batch: Any) -> str:
    return _SPARSE if hasattr(batch, "tocsr") else ""
