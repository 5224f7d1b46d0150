"""What a classifier answered to some noisy inputs, and whether two answers to the same inputs agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.arrays import BoolArray, FloatArray, IntArray
from flipproof.errors import InvalidInputError

ROUNDING = 2.0**-10
"""How far two scores of one input may lie apart, relative to their size, and still be equal up to rounding.

A sum of n float32 numbers depends on its order by at most about n * 2**-24 times the sum of their sizes (Higham 2002,
section 4.2). 2**-10 allows 2**14 terms in the worst order, and more than 2**20 in a usual one, where errors grow with
the root of n. It also covers the first layer of the fused engine, whose weights are rounded to 2**-17 of the usual one
(`models.fixed_point`). A classifier that is random, or looks at its neighbours, moves scores much further.
"""
_HALF_ROUNDING = {"float16": 2.0**-6, "bfloat16": 2.0**-3}
"""How far scores in shorter numbers may differ: 16 times the distance from one to the next number."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Labels [samples, outputs] and, if the classifier has them, the scores [samples, outputs, classes] behind them.

    Attributes:
        rounding: how far scores may lie apart, relative to their size.

    Example:
        >>> one = Answer(np.array([[0, 1]]), np.array([[[2.0, 1.0], [0.0, 3.0]]]))
        >>> other = Answer(np.array([[0, 0]]), np.array([[[2.0, 1.0001], [3.0, 0.0]]]))
        >>> one.differs_from(other)
        array([[False,  True]])
    """

    labels: IntArray
    scores: FloatArray | None = None
    rounding: float = ROUNDING

    @classmethod
    def of(cls, labels: NDArray[Any], scores: Any, classes: int) -> Answer:
        """From labels [samples, outputs] and what a classifier or the fused engine gives as scores, or None."""
        if scores is None:
            return cls(np.asarray(labels, dtype=np.int64))
        rounding = _HALF_ROUNDING.get(str(scores.dtype).removeprefix("torch."), ROUNDING)
        array = np.asarray(scores.detach().cpu().double() if hasattr(scores, "detach") else scores, dtype=np.float64)
        if array.size != labels.size * classes:
            expected = f"{classes} scores for each of {labels.size} labels"
            raise InvalidInputError(f"expected {expected} from label_scores, got an array of shape {array.shape}")
        return cls(np.asarray(labels, dtype=np.int64), array.reshape(*labels.shape, classes), rounding)

    def __getitem__(self, samples: slice) -> Answer:
        return Answer(self.labels[samples], None if self.scores is None else self.scores[samples], self.rounding)

    def outputs(self, places: Any) -> Answer:
        """Those of some outputs, in this order."""
        scores = None if self.scores is None else self.scores[:, places]
        return Answer(self.labels[:, places], scores, self.rounding)

    def differs_from(self, other: Answer) -> BoolArray:
        """Which outputs [samples, outputs] have another answer.

        Labels alone must be equal. Where there are scores, they must be equal up to rounding, and two labels may take
        turns only where their scores are.
        """
        changed: BoolArray = self.labels != other.labels
        if self.scores is None or other.scores is None:
            return changed
        if not changed.any() and np.array_equal(self.scores, other.scores):
            return changed
        near = max(self.rounding, other.rounding) * _sizes(self.scores, other.scores)
        moved = (_distances(self.scores, other.scores) > near[..., None]).any(axis=-1)
        apart = changed & ((_gaps(self, other) > 2 * near) | (_gaps(other, self) > 2 * near))
        return moved | apart

    def undecided(self) -> BoolArray:
        """Where [samples, outputs] rounding might change the label; nowhere if there are no scores."""
        if self.scores is None or self.scores.shape[-1] < 2:
            return np.zeros(self.labels.shape, dtype=bool)
        second, first = np.moveaxis(np.partition(self.scores, -2, axis=-1)[..., -2:], -1, 0)
        near = _distances(first, second) <= 2 * self.rounding * _sizes(self.scores, self.scores)
        return np.asarray(near)


def _sizes(one: FloatArray, other: FloatArray) -> FloatArray:
    """How large the scores of every output are: at least as large as they usually are, since sums may cancel out."""
    finite = [np.where(np.isfinite(scores), np.abs(scores), 0.0).max(axis=-1, initial=0.0) for scores in (one, other)]
    sizes: FloatArray = np.maximum(*finite)
    return np.asarray(np.maximum(sizes, np.median(sizes))) if sizes.size else sizes


def _distances(one: FloatArray, other: FloatArray) -> FloatArray:
    """Between scores; none between equal infinities."""
    with np.errstate(invalid="ignore"):
        return np.where(one == other, 0.0, np.abs(one - other))


def _gaps(one: Answer, other: Answer) -> FloatArray:
    """How far the label of one answer is above that of the other one, by the scores of the first."""
    assert one.scores is not None
    own, others = (np.take_along_axis(one.scores, each.labels[..., None], -1)[..., 0] for each in (one, other))
    return _distances(own, others)
