"""An estimator as a classifier by its scores: without `predict`, or with a threshold of the user's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.short_repr import amount, model_words, short_repr
from flipproof.base.values import IntArray
from flipproof.models.adapters.clean_pass import rows_in
from flipproof.models.adapters.given_rows import estimator_rows, found
from flipproof.models.adapters.scores import Cut, columns_of, labels_of_columns
from flipproof.smoothing.fingerprint.fingerprints import fingerprint


@dataclass(frozen=True, eq=False)
class ScoredEstimator:
    """Gives each row the class with the largest score, or compares the score of the second of two classes with a cut.

    Args:
        estimator: any fitted model of rows.
        method: the name of the method that gives scores: "predict_proba", "decision_function", ...
        classes: the number of labels.
        cut: where the second class begins; None: the largest of several scores wins.

    Example:
        >>> import numpy as np
        >>> from sklearn.naive_bayes import BernoulliNB
        >>> estimator = BernoulliNB().fit([[1, 0, 0], [0, 1, 1]], ["cat", "dog"])
        >>> unsure = np.array([[1, 1, 0]])
        >>> ScoredEstimator(estimator, "predict_proba", 2)(unsure)
        array([0])
        >>> ScoredEstimator(estimator, "predict_proba", 2, Cut(0.2))(unsure)
        array([1])
    """

    estimator: Any
    method: str
    classes: int
    cut: Cut | None = None

    def __repr__(self) -> str:
        return short_repr(self, model_words(self.estimator), amount(self.classes, "class"), self.method)

    def __call__(self, batch: Any) -> IntArray:
        """Labels [rows] of rows of any form."""
        return labels_of_columns(self.label_scores(batch), rows_in(batch), self.classes)

    def label_scores(self, batch: Any) -> NDArray[Any]:
        """The scores [rows, classes] behind the labels."""
        return columns_of(getattr(self.estimator, self.method)(estimator_rows(self.estimator, batch)), self.cut)

    @property
    def class_names(self) -> tuple[str, ...] | None:
        """The labels that the estimator itself gives, as texts, if it knows them."""
        names = found(self.estimator, "classes_")
        return None if names is None or np.ndim(names) != 1 else tuple(map(str, np.asarray(names).tolist()))

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the estimator in its current state, and of the rule of decision."""
        return fingerprint(("ScoredEstimator", self.estimator, self.method, self.classes, self.cut))
