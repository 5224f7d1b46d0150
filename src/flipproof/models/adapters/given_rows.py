"""Batches in the form in which estimators want them, and whether a model fitted on named columns gets these columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from flipproof.base.values import sorted_rows
from flipproof.errors import InvalidInputError
from flipproof.smoothing.classifier import signed

_SPARSE_MATRICES_ONLY = ("lightgbm", "catboost")
"""Libraries that know scipy's sparse matrices but not its sparse arrays."""
_SHOWN = 5


def library_of(model: object) -> str:
    """The library that a model comes from: that of its class, or of the nearest base that is not the user's own.

    Example:
        >>> from sklearn.naive_bayes import BernoulliNB
        >>> library_of(BernoulliNB()), library_of(3)
        ('sklearn', 'builtins')
    """
    known = ("sklearn", "lightgbm", "xgboost", "catboost", "torch", "transformers")
    homes = [kind.__module__.partition(".")[0] for kind in type(model).__mro__]
    return next((home for home in homes if home in known), homes[0])


def is_frame(batch: Any) -> bool:
    """Whether a batch is a data frame of pandas or polars."""
    return hasattr(batch, "columns") and hasattr(batch, "shape")


def estimator_rows(model: Any, batch: Any) -> Any:
    """A batch for an estimator: arrays in two dimensions, sparse rows in order; frames and lists of texts unchanged."""
    check_columns(model, batch)
    if scipy.sparse.issparse(batch):
        rows = sorted_rows(batch)
        return scipy.sparse.csr_matrix(rows) if library_of(last_step(model)) in _SPARSE_MATRICES_ONLY else rows
    if is_frame(batch):
        return batch.to_numpy() if _was_fitted_on_an_array(model, batch) else batch
    return signed(batch.reshape(batch.shape[0], -1)) if isinstance(batch, np.ndarray) else batch


def last_step(model: Any) -> Any:
    """The last estimator of a pipeline, or the model itself."""
    while isinstance(getattr(model, "steps", None), list) and model.steps:
        model = model.steps[-1][1]
    return model


def _was_fitted_on_an_array(model: Any, frame: Any) -> bool:
    """Whether an estimator of scikit-learn would only warn that it was fitted without names, and take the numbers."""
    return (
        library_of(model) == "sklearn"
        and fitted_columns(model) is None
        and found(model, "n_features_in_") is not None
        and all(isinstance(name, str) for name in frame.columns)
    )


def fitted_columns(model: Any) -> list[str] | None:
    """The names of the columns of the data frame that a model was fitted on; None for a model that knows no names."""
    names = found(model, "feature_names_in_")
    library = library_of(model)
    if names is None and library == "lightgbm" and callable(found(model, "feature_name")):
        names = _unless(model.feature_name(), "Column_{}")
    elif names is None and library == "xgboost":
        names = found(model, "feature_names")
    elif names is None and library == "catboost":
        names = _unless(found(model, "feature_names_"), "{}")
    elif names is None and isinstance(steps := found(model, "steps"), list):
        real = [step for _, step in steps if step not in (None, "passthrough")]
        return fitted_columns(real[0]) if real else None
    return None if names is None else [str(name) for name in names]


def _unless(names: Sequence[str] | None, default: str) -> Sequence[str] | None:
    """The names, unless they are those that a library makes up for an array."""
    return None if names is None or list(names) == [default.format(i) for i in range(len(names))] else names


def found(model: Any, name: str) -> Any:
    """An attribute of a model, or None: what is not fitted raises errors of all kinds."""
    try:
        return getattr(model, name, None)
    except Exception:
        return None


def check_columns(model: Any, batch: Any) -> None:
    """Refuses a batch without the columns that a model was fitted on, in their order."""
    fitted = fitted_columns(model)
    if fitted is None:
        return
    name = type(model).__name__
    if not is_frame(batch):
        raise InvalidInputError(
            f"expected the data frame that {name} was fitted on, with the columns {_listed(fitted)}, got numbers "
            f"without names; give the data frame it was fitted on: fp.vote(model, df, noise)"
        )
    columns = [str(column) for column in batch.columns]
    if library_of(model) == "lightgbm":  # it writes names in its own way
        columns = [column.replace(" ", "_") for column in columns]
    if columns != fitted:
        raise InvalidInputError(
            f"expected the columns that {name} was fitted on, in their order, got {_listed(columns)} instead of "
            f"{_listed(fitted)}; {_what_to_do(columns, fitted)}"
        )


def _what_to_do(columns: Sequence[str], fitted: Sequence[str]) -> str:
    missing = [name for name in fitted if name not in columns]
    if missing:
        return f"there is no {_listed(missing)}: give the data frame it was fitted on"
    return "select them: fp.vote(model, df[columns], noise)"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
