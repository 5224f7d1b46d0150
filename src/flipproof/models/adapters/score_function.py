"""A function that returns scores of a batch, as a classifier."""

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
from flipproof.models.adapters.scores import Cut, columns_of, labels_of_columns, with_rows
from flipproof.smoothing.classifier import signed
from flipproof.smoothing.fingerprint.fingerprints import fingerprint


@dataclass(frozen=True, eq=False)
class ScoreFunction:
    """Gives each input the class with the largest score, or compares its one score with a cut.

    Args:
        function: from a batch to scores [rows, classes]; with a cut, to the scores [rows] of the second class.
        classes: the number of labels.
        cut: where the second of two classes begins; None: the largest of several scores wins.

    Example:
        >>> ScoreFunction(lambda rows: rows[:, :2] / 2.0, 2)(np.array([[0, 1], [3, 2]]))
        array([1, 0])
    """

    function: Callable[[Any], Any]
    classes: int
    cut: Cut | None = None

    def __repr__(self) -> str:
        return short_repr(self, model_words(self.function), amount(self.classes, "class"))

    def __call__(self, batch: Any) -> IntArray:
        """Labels [rows] of a batch of inputs."""
        return labels_of_columns(self.label_scores(batch), rows_in(batch), self.classes)

    def label_scores(self, batch: Any) -> NDArray[Any]:
        """The scores [rows, classes] behind the labels."""
        answer = as_numbers(self.function(signed(batch)))
        return columns_of(with_rows(answer, rows_in(batch)), self.cut)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the function and of the rule of decision."""
        return fingerprint(("ScoreFunction", self.function, self.classes, self.cut))


def first_key(answer: Any) -> Any:
    """What picks the first of several results: the key in a plain dict, else 0."""
    return next(iter(answer), 0) if type(answer) is dict else 0


def as_numbers(answer: Any) -> NDArray[Any]:
    """What a function returned, as an array; tensors are welcome."""
    if isinstance(answer, dict) or (isinstance(answer, tuple) and any(getattr(each, "shape", ()) for each in answer)):
        raise InvalidInputError(
            f"expected scores or labels, got a {type(answer).__name__} of {len(answer)}; pick them: "
            f"call=lambda model, batch: model(batch)[{first_key(answer)!r}]"
        )
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu()
        answer = answer.float() if str(answer.dtype) == "torch.bfloat16" else answer  # numpy has no such type
    return np.asarray(answer)
