"""A linear classifier of rows as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import IntArray, RowArray
from flipproof.errors import InvalidInputError
from flipproof.models.fitted.row_arrays import finite_numbers, rows_of
from flipproof.smoothing.fingerprint.fingerprints import fingerprint


@dataclass(frozen=True, slots=True, eq=False)
class LinearRows:
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

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the arrays."""
        return fingerprint(("LinearRows", self.arrays()))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that define the classifier, by name."""
        return {"coefficients": self.coefficients, "intercepts": self.intercepts}

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
