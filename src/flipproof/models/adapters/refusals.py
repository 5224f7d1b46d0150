"""Why a model gives no labels that could be certified, and what to do instead."""

from __future__ import annotations

from typing import Any

from flipproof.errors import InvalidInputError
from flipproof.extras import require
from flipproof.models.adapters.given_rows import found, last_step, library_of

_PREDICT = "call=lambda model, rows: model.predict(rows)"


def one_output_of(name: str) -> str:
    """Why several labels per input are refused, and how to certify one of them."""
    return (
        f"expected one label per row, got {name} with several (multi-label or multi-output); certify one of them at a "
        f"time: {_PREDICT}[:, 0], classes=2"
    )


def refuse_class(kind: type) -> InvalidInputError:
    """The error for a class in place of a model."""
    name = kind.__name__
    trained = f"{name}(...).fit(X, y)" if hasattr(kind, "fit") else f"a trained {name}(...)"
    return InvalidInputError(f"expected a trained model, got the class {name}; give an instance of it: {trained}")


def check_fitted(model: Any) -> None:
    """Refuses an estimator that was not fitted."""
    if not _is_fitted(model):
        raise InvalidInputError(
            f"expected a fitted model, got {type(model).__name__} that was not fitted; call fit first: model.fit(X, y)"
        )


def _is_fitted(model: Any) -> bool:
    if library_of(model) == "catboost":
        return bool(model.is_fitted())
    if type(last_step(model)).__module__.partition(".")[0] not in ("sklearn", "lightgbm", "xgboost"):
        return (
            True  # an estimator of the user's own need not follow their conventions, and says itself if it is unfitted
        )
    try:
        require("sklearn.utils.validation").check_is_fitted(model)
    except require("sklearn.exceptions").NotFittedError:
        return False
    return True


def refuse_without_classes(model: Any) -> InvalidInputError | None:
    """The error for an estimator whose predictions are no classes; None if nothing says that they are not."""
    name, kind = type(model).__name__, kind_of(model)
    reason = _REASONS.get(kind or "")
    if kind in ("clusterer", "outlier_detector") and found(model, "predict") is None:
        reason = "which has no predict: it says nothing of other rows than those that it was fitted on"
    return None if reason is None else InvalidInputError(f"expected a classifier, got {name}, {reason}")


def kind_of(model: Any) -> str | None:
    """What an estimator is, in the words of scikit-learn: "classifier", "regressor", "clusterer", ...

    Example:
        >>> from sklearn.linear_model import LinearRegression
        >>> kind_of(LinearRegression())
        'regressor'
    """
    tags = found(model, "__sklearn_tags__")
    try:
        kind = None if tags is None else tags().estimator_type
    except Exception:  # a class that only looks like an estimator of scikit-learn
        kind = None
    kind = kind or found(model, "_estimator_type")
    if kind is None and type(model).__name__.endswith("Ranker"):
        return "regressor"
    return kind if isinstance(kind, str) else None


_REASONS = {
    "regressor": "a regression: its predictions are numbers, and there is no label that could change. If a decision "
    "follows from the number, say from where on: threshold=...",
    "clusterer": "which finds clusters: they have numbers but no meaning as classes. If their numbers are your labels, "
    f"say so: {_PREDICT}, classes=...",
    "outlier_detector": "which finds outliers and has no classes. To certify the decision between outlier (0) and "
    "inlier (1): call=lambda model, rows: model.decision_function(rows), threshold=0",
    "density_estimator": "which estimates a density and has no classes. If components are your labels, say so: "
    f"{_PREDICT}, classes=...",
    "transformer": "which transforms data and has no classes; give the classifier that uses it, or a Pipeline of both",
}
