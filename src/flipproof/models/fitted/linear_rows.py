"""A linear classifier of rows as plain arrays, and what all classifiers made of plain arrays share."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from flipproof.base.values import IntArray, RowArray, read_only, sorted_rows
from flipproof.errors import InvalidInputError
from flipproof.smoothing.fingerprint.fingerprints import fingerprint


class ArrayClassifier:
    """A classifier of rows that the arrays in the fields of a dataclass define."""

    __slots__ = ()

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the arrays."""
        return fingerprint((type(self).__name__, self.arrays()))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that define the classifier, by name."""
        return {name: getattr(self, name) for name in self.names()}

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of the arrays."""
        return tuple(each.name for each in fields(cls) if each.init)  # type: ignore[arg-type]  # each kind is a dataclass


@dataclass(frozen=True, slots=True, eq=False)
class LinearRows(ArrayClassifier):
    """A linear classifier of rows: the label has the largest score in `coefficients @ row + intercepts`.

    With a single row of coefficients there are two labels; a score above 0 gives the second label.

    Example:
        >>> classifier = LinearRows([[1.0, -1.0]], [0.5])
        >>> classifier.classes, classifier(np.array([[0, 0], [0, 1]]))
        (2, array([1, 0]))
    """

    coefficients: NDArray[Any]
    intercepts: NDArray[Any]

    def __post_init__(self) -> None:
        for name, axes in (("coefficients", 2), ("intercepts", 1)):
            object.__setattr__(self, name, finite_numbers(getattr(self, name), axes, name))
        if len(self.intercepts) != len(self.coefficients) or not self.coefficients.size:
            shapes = f"{list(self.coefficients.shape)} and {len(self.intercepts)} intercepts"
            raise InvalidInputError(f"expected coefficients [scores, columns] and an intercept per score, got {shapes}")

    @property
    def classes(self) -> int:
        """The number of labels."""
        return max(2, len(self.coefficients))

    @property
    def columns(self) -> int:
        """The number of columns of a row."""
        return int(self.coefficients.shape[1])

    def __call__(self, batch: RowArray) -> IntArray:
        """Labels [rows] of an array [rows, ...] or of a sparse matrix [rows, columns]."""
        scores = self._scores(batch)
        if scores.shape[1] == 1:
            return np.asarray(scores[:, 0] > 0, dtype=np.int64)
        labels: IntArray = scores.argmax(axis=1)
        return labels

    def label_scores(self, batch: RowArray) -> NDArray[Any]:
        """The scores [rows, classes] behind the labels."""
        scores = self._scores(batch)
        return np.concatenate([-scores, scores], axis=1) if scores.shape[1] == 1 else scores

    def _scores(self, batch: RowArray) -> NDArray[Any]:
        return np.asarray(rows_of(batch, self.columns) @ self.coefficients.T + self.intercepts)


def rows_of(batch: RowArray, width: int) -> Any:
    """Rows in two dimensions; sparse rows get sorted columns, so that equal rows get equal scores."""
    rows = sorted_rows(batch) if sp.issparse(batch) else batch.reshape(len(batch), math.prod(batch.shape[1:]))
    if rows.shape[1] != width:
        raise InvalidInputError(f"expected rows with {width} columns, got {rows.shape[1]}")
    return rows


def integer_list(given: ArrayLike, name: str) -> IntArray:
    """Returns integers in one dimension, read-only."""
    array = np.asarray(given)
    if array.ndim != 1 or array.dtype.kind not in "iu" or (array.size and int(array.max()) >= 2**62):
        raise InvalidInputError(f"expected {name} to be a list of integers, got {array.dtype} {list(array.shape)}")
    return read_only(array.astype(np.int64))


def finite_numbers(given: ArrayLike, axes: int, name: str) -> NDArray[Any]:
    """Returns float32 numbers unchanged and all other numbers as float64, read-only."""
    array = np.asarray(given)
    if array.ndim != axes or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise InvalidInputError(
            f"expected {name} to be finite numbers of {axes} dimensions, got {array.dtype} {list(array.shape)}"
        )
    return read_only(array if array.dtype == np.float32 else array.astype(np.float64))
