"""From the scores of a model to labels. Whatever a model returns becomes one column per class, and the largest wins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import IntArray
from flipproof.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Cut:
    """Where the one score of a model begins to mean the second of two classes.

    Args:
        at: the score.
        included: whether this score itself already means the second class.
    """

    at: float
    included: bool = False

    def floor(self, dtype: np.dtype[Any]) -> Any:
        """The largest number of this type that still means the first class.

        Example:
            >>> float(Cut(0.5).floor(np.dtype("float32"))), float(Cut(0.5, included=True).floor(np.dtype("float32")))
            (0.5, 0.4999999701976776)
        """
        at = dtype.type(self.at)
        return np.nextafter(at, dtype.type(-math.inf)) if self.included else at


LOGIT, PROBABILITY = Cut(0.0), Cut(0.5)
"""The cuts of models that are asked for no other: of decision values, and of probabilities of the second class."""


def checked_threshold(threshold: float, of_probability: bool) -> Cut:
    """The cut that a user has asked for: label 1 is given from the threshold on."""
    if of_probability and not 0.0 <= threshold <= 1.0:
        raise InvalidInputError(f"expected threshold to be a probability in [0, 1], got {threshold!r}")
    return Cut(float(threshold), included=True)


def columns_of(scores: Any, cut: Cut | None) -> NDArray[Any]:
    """Scores [rows, classes], in which the largest score of a row, the first one on a tie, is at its label.

    With a cut, the last column (or the only one) decides between two classes.

    Example:
        >>> columns_of([0.2, 0.5, 0.7], PROBABILITY)
        array([[0.5, 0.2],
               [0.5, 0.5],
               [0.5, 0.7]])
    """
    array = np.asarray(scores)
    array = array if array.dtype.kind == "f" else array.astype(np.float64)
    if cut is None:
        return array
    second = array if array.ndim == 1 else array[:, -1]
    return np.stack([np.full(second.shape, cut.floor(second.dtype)), second], axis=1)


def labels_of_columns(columns: NDArray[Any], rows: int, classes: int) -> IntArray:
    """The place of the largest score in each row, the first one on a tie."""
    if columns.shape != (rows, classes):
        raise InvalidInputError(f"expected scores of shape {(rows, classes)}, got {columns.shape}")
    undefined = int(np.isnan(columns).any(axis=1).sum())
    if undefined:
        raise InvalidInputError(f"expected scores without NaN, got NaN for {undefined} of {rows} rows")
    labels: IntArray = columns.argmax(axis=1).astype(np.int64)
    return labels


def with_rows(answer: Any, rows: int) -> Any:
    """The answer to a batch of one row with its first axis, if a module or a function has lost it by `squeeze()`.

    Example:
        >>> with_rows(np.array([0.25, 0.75]), rows=1)
        array([[0.25, 0.75]])
    """
    return answer[None] if rows == 1 and answer.ndim < 2 and answer.shape != (1,) else answer


def checked_columns(columns: int, classes: int | None, name: str) -> int:
    """The number of classes, which is that of the columns of a model's scores."""
    if classes is not None and classes != columns:
        raise InvalidInputError(f"expected classes={columns}, as {name} gives {columns} scores, got classes={classes}")
    return columns
