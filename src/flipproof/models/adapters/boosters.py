"""Native boosters of LightGBM, XGBoost and CatBoost as classifiers of rows: they give scores, and know no labels."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from flipproof.base.short_repr import amount, model_words, short_repr
from flipproof.base.values import IntArray, sorted_rows
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.clean_pass import asking, clean_batch, rows_in
from flipproof.models.adapters.given_rows import check_columns, library_of
from flipproof.models.adapters.scores import (
    LOGIT,
    PROBABILITY,
    Cut,
    checked_columns,
    checked_threshold,
    columns_of,
    labels_of_columns,
)
from flipproof.noise.spaces.space import Space
from flipproof.smoothing.classifier import Classifier, ModelOptions, signed
from flipproof.smoothing.fingerprint.fingerprints import fingerprint
from flipproof.theory.base_law import Law


@dataclass(frozen=True, eq=False)
class BoosterClassifier:
    """Gives each row the class with the largest score, or compares the one score of two classes with a cut.

    Args:
        booster: a trained native booster of LightGBM, XGBoost or CatBoost.
        classes: the number of labels.
        cut: where the second of two classes begins; None: the largest of several scores wins.
        margins: whether scores are sums of leaves instead of what the booster makes of them.
    """

    booster: Any
    classes: int
    cut: Cut | None = None
    margins: bool = False

    def __repr__(self) -> str:
        return short_repr(self, model_words(self.booster), amount(self.classes, "class"))

    def __call__(self, batch: Any) -> IntArray:
        """Labels [rows] of an array, a sparse matrix or a data frame."""
        return labels_of_columns(self.label_scores(batch), rows_in(batch), self.classes)

    def label_scores(self, batch: Any) -> NDArray[Any]:
        """The scores [rows, classes] behind the labels."""
        return columns_of(booster_scores(self.booster, batch, self.margins), self.cut)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the trees, and of the rule of decision."""
        return fingerprint(("BoosterClassifier", self.booster, self.classes, self.cut, self.margins))


class Objective(NamedTuple):
    """What a booster was trained for.

    Attributes:
        name: in the words of its library, or None if it was trained for a function of the user.
        cut: for two classes with one score: where the second one begins.
        margins: whether labels are to be taken from sums of leaves, as predictions are labels already.
    """

    name: str | None
    cut: Cut | None = None
    margins: bool = False


def adapted_booster(model: Any, space: Space, noise: Law, options: ModelOptions) -> Classifier:
    """The adapter of a native booster; its objective says what its scores mean."""
    name, objective = f"the booster of {library_of(model)}", _OBJECTIVES[library_of(model)](model)
    batch = clean_batch(space, noise)
    with asking(name):
        scores = booster_scores(model, batch, objective.margins)
    several = scores.ndim == 2 and scores.shape[1] > 1
    if several and objective.name not in _KNOWN:
        raise _no_classes(name, objective.name)
    classes = checked_columns(scores.shape[1] if several else 2, options.classes, name)
    if options.threshold is not None:
        if classes != 2:
            raise InvalidInputError(
                f"expected threshold only with two classes, got {name} with {classes}; leave threshold out"
            )
        if several and objective.margins:
            raise InvalidInputError(
                f"expected threshold only with scores, got {name} trained for {objective.name!r}, which predicts "
                'labels; let it predict probabilities: booster.set_param({"objective": "multi:softprob"})'
            )
        of_probability = objective.cut not in (None, LOGIT) or several
        return BoosterClassifier(model, 2, checked_threshold(options.threshold, of_probability), objective.margins)
    if objective.name not in _KNOWN:
        raise _no_classes(name, objective.name)
    return BoosterClassifier(model, classes, objective.cut, objective.margins)


def _no_classes(name: str, objective: str | None) -> InvalidInputError:
    """The error for a booster that was trained for numbers, or for nobody knows what."""
    trained = "an objective of your own" if objective is None else f"{objective!r}"
    return InvalidInputError(
        f"expected a booster trained for classes, got {name} trained for {trained}, which gives numbers; if a decision "
        "follows from the number, say from where on: threshold=..."
    )


def booster_scores(booster: Any, batch: Any, margins: bool) -> NDArray[Any]:
    """The predictions [rows] or [rows, classes] of a booster for a batch in any form."""
    check_columns(booster, batch)
    if scipy.sparse.issparse(batch):
        rows: Any = scipy.sparse.csr_matrix(sorted_rows(batch))
    else:
        rows = signed(batch.reshape(batch.shape[0], -1)) if isinstance(batch, np.ndarray) else batch
    return np.asarray(_PREDICTIONS[library_of(booster)](booster, rows, margins))


def _lightgbm_scores(booster: Any, rows: Any, margins: bool) -> Any:
    return booster.predict(rows, raw_score=margins)


def _xgboost_scores(booster: Any, rows: Any, margins: bool) -> Any:
    matrix = importlib.import_module("xgboost").DMatrix(rows, enable_categorical=True)
    return booster.predict(matrix, output_margin=margins)


def _catboost_scores(model: Any, rows: Any, margins: bool) -> Any:
    return model.predict(rows, prediction_type="RawFormulaVal" if margins else "Probability", thread_count=1)


def _lightgbm_objective(booster: Any) -> Objective:
    line = re.search(r"^objective=(\S+)", booster.model_to_string(num_iteration=1), re.MULTILINE)
    name = None if line is None else line[1]
    return Objective(name, PROBABILITY if name == "binary" else None)


def _xgboost_objective(booster: Any) -> Objective:
    learner = json.loads(booster.save_config())["learner"]
    name = learner["learner_train_param"]["objective"]
    if int(learner["learner_model_param"]["num_target"]) > 1:
        raise InvalidInputError(
            "expected one label per row, got the booster of xgboost with several (multi-output); certify one at "
            "a time: call=lambda model, rows: model.predict(xgboost.DMatrix(rows))[:, 0], threshold=0.5"
        )
    if name in ("binary:logitraw", "binary:hinge"):
        return Objective(name, LOGIT, margins=True)
    return Objective(name, PROBABILITY if name == "binary:logistic" else None, margins=name == "multi:softmax")


def _catboost_objective(model: Any) -> Objective:
    if not model.is_fitted():
        raise InvalidInputError("expected a fitted model, got CatBoost that was not fitted; call fit first")
    name = model.get_all_params().get("loss_function")
    if len(model.classes_) != 2 or name not in _KNOWN:
        return Objective(name, margins=name not in _KNOWN)
    kept = dict(model.get_metadata().items())  # where set_probability_threshold has written what counts as class 1
    return Objective(name, Cut(float(kept.get("binclass_probability_threshold", PROBABILITY.at))))


_KNOWN = ("binary", "multiclass", "multiclassova", "binary:logistic", "binary:logitraw", "binary:hinge",
          "multi:softmax", "multi:softprob", "Logloss", "CrossEntropy", "MultiClass", "MultiClassOneVsAll")  # fmt: skip
"""Objectives of classifiers, in the words of the three libraries."""

_OBJECTIVES: dict[str, Callable[[Any], Objective]] = {
    "lightgbm": _lightgbm_objective,
    "xgboost": _xgboost_objective,
    "catboost": _catboost_objective,
}
_PREDICTIONS: dict[str, Callable[[Any, Any, bool], Any]] = {
    "lightgbm": _lightgbm_scores,
    "xgboost": _xgboost_scores,
    "catboost": _catboost_scores,
}
