"""Fitted scikit-learn estimators as plain arrays, stored in files without pickles and run without scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.errors import FileFormatError, InvalidInputError
from flipproof.extras import require
from flipproof.models.fitted.forest_rows import ForestRows
from flipproof.models.fitted.linear_rows import LinearRows


def fitted(estimator: Any) -> LinearRows | ForestRows:
    """A classifier from the arrays of a fitted estimator; it predicts the same labels, as indices into `classes_`.

    Args:
        estimator: a LogisticRegression, DecisionTreeClassifier, RandomForestClassifier or ExtraTreesClassifier.

    Example:
        >>> from sklearn.linear_model import LogisticRegression
        >>> classifier = fitted(LogisticRegression().fit([[1, 0], [0, 1]], ["cat", "dog"]))
        >>> classifier(np.array([[0, 1], [1, 0]]))
        array([1, 0])
    """
    linear, tree, ensemble = (require(f"sklearn.{name}") for name in ("linear_model", "tree", "ensemble"))
    forests = (ensemble.RandomForestClassifier, ensemble.ExtraTreesClassifier)
    if not isinstance(estimator, (linear.LogisticRegression, tree.DecisionTreeClassifier, *forests)):
        raise InvalidInputError(
            "expected a LogisticRegression, DecisionTreeClassifier, RandomForestClassifier or ExtraTreesClassifier, "
            f"got {type(estimator).__name__}"
        )
    if not hasattr(estimator, "classes_"):
        raise InvalidInputError(f"expected a fitted {type(estimator).__name__}, got one without classes_: call fit")
    if isinstance(estimator, linear.LogisticRegression):
        return LinearRows(estimator.coef_, np.broadcast_to(estimator.intercept_, len(estimator.coef_)))
    if estimator.n_outputs_ != 1:
        raise InvalidInputError(f"expected one label per row, got {type(estimator).__name__} with several")
    return _forest([one.tree_ for one in getattr(estimator, "estimators_", [estimator])])


def classifier_of_arrays(arrays: Mapping[str, NDArray[Any]], name: str = "a file") -> LinearRows | ForestRows:
    """The classifier with these `arrays()`. They may come from an untrusted source: inconsistent arrays are refused.

    Args:
        arrays: the arrays by name.
        name: the name of their source, for messages.
    """
    found = next((kind for kind in (LinearRows, ForestRows) if set(kind.names()) == set(arrays)), None)
    if found is None:
        got = ", ".join(sorted(map(str, arrays))[:8]) or "nothing"
        raise FileFormatError(f"expected the arrays of a linear model or of trees, got {name} with {got}")
    try:
        return found(**arrays)
    except InvalidInputError as error:
        raise FileFormatError(f"expected a classifier in {name}: {error}") from error


def _forest(trees: list[Any]) -> ForestRows:
    starts = np.cumsum([0, *(tree.node_count for tree in trees)])
    numbers = np.arange(starts[-1])
    first = np.repeat(starts[:-1], np.diff(starts))
    left, right, columns, thresholds = (
        np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("children_left", "children_right", "feature", "threshold")
    )
    leaf = left < 0
    return ForestRows(
        starts,
        np.where(leaf, numbers, left + first),
        np.where(leaf, numbers, right + first),
        np.where(leaf, 0, columns),
        np.where(leaf, 0.0, thresholds),
        np.concatenate([tree.value[:, 0, :] for tree in trees]),
        np.array([trees[0].n_features]),
    )
