"""Answers of a classifier to noisy inputs, and whether two answers to the same inputs agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import BoolArray, FloatArray, IntArray
from flipproof.errors import InvalidInputError

ROUNDING = 2.0**-10
"""How far two scores of one input may lie apart, relative to their size, and still be equal up to rounding.

A sum of n float32 numbers depends on its order by at most about n * 2**-24 times the sum of their sizes (Higham 2002,
section 4.2). 2**-10 allows 2**14 terms in the worst order, and more than 2**20 in a typical order, where errors grow
with the root of n. It also covers the first layer of the fused engine, whose weights are rounded to 2**-17 of a typical
weight (`models.fixed_point`). A classifier that is random, or looks at other inputs, moves scores much further.
"""
_HALF_ROUNDING = {"float16": 2.0**-6, "bfloat16": 2.0**-3}
"""How far scores in 16-bit numbers may differ, relative to their size: 16 times the gap between two such numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Labels [samples, outputs] and, if the classifier has them, the scores [samples, outputs, classes] behind them.

    Attributes:
        rounding: how far equal scores may lie apart, relative to their size.

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
        """The answer of these labels [samples, outputs] and the scores of a classifier or the fused engine, if any."""
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

    def outputs(self, places: slice | list[int] | IntArray) -> Answer:
        """The answer for some outputs, in this order."""
        scores = None if self.scores is None else self.scores[:, places]
        return Answer(self.labels[:, places], scores, self.rounding)

    def differs_from(self, other: Answer) -> BoolArray:
        """Which outputs [samples, outputs] have another answer.

        Without scores, labels must be equal. With scores, these must be equal up to rounding, and labels may differ
        only where the scores of both labels are equal up to rounding, too. Where all scores are equal to the last bit,
        there was no rounding, and labels must be equal.
        """
        changed: BoolArray = self.labels != other.labels
        if self.scores is None or other.scores is None:
            return changed
        if np.array_equal(self.scores, other.scores):  # a label that moves between equal scores is random
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
    """The size of the scores of every output, or the median size if that is larger, as sums may cancel out."""
    finite = [np.where(np.isfinite(scores), np.abs(scores), 0.0).max(axis=-1, initial=0.0) for scores in (one, other)]
    sizes: FloatArray = np.maximum(*finite)
    return np.asarray(np.maximum(sizes, np.median(sizes))) if sizes.size else sizes


def _distances(one: FloatArray, other: FloatArray) -> FloatArray:
    """The distances between scores; 0 between equal infinities."""
    with np.errstate(invalid="ignore"):
        return np.where(one == other, 0.0, np.abs(one - other))


def _gaps(one: Answer, other: Answer) -> FloatArray:
    """How far apart the labels of two answers are, by the scores of the first answer."""
    assert one.scores is not None
    scores = (np.take_along_axis(one.scores, each.labels[..., None], -1)[..., 0] for each in (one, other))
    return _distances(*scores)


_RANDOM = ("dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "dropout_edge",
           "dropout_node", "dropout_path", "dropout_adj", "rand", "randn", "rand_like", "randn_like", "randint",
           "randperm", "bernoulli", "multinomial")  # fmt: skip
"""Functions of torch and its friends that return a random result."""


class Way(Enum):
    """The other way in which a noisy input was evaluated, in words that follow "when it was evaluated"."""

    TWICE = "a second time"
    ALONE = "alone instead of among others"
    ELSEWHERE = "among others in another order"
    WHOLE = "on the whole graph instead of the neighbourhood of the targets"
    BY_TORCH = "by the torch module instead of the fused engine"
    AGAIN = "again at the end"


def likely_cause(way: Way, classifier: Any) -> str:
    """The probable cause of a difference, and what to do about it."""
    if way is Way.BY_TORCH:
        return "the fused engine does not compute what the module does: use engine='torch', and please report it"
    if way is Way.WHOLE:
        norm = next(_batch_norms(classifier), None)
        beside = "" if norm is None else f", or {norm} uses statistics of all nodes"
        return f"hops={classifier.hops} is too few for what labels depend on{beside}: raise hops, or leave it out"
    if way in (Way.ALONE, Way.ELSEWHERE):
        return _of_neighbours(classifier)
    call = next(_random_calls(classifier), None)
    if call is not None:
        return f"{call} is random whatever self.training says: F.dropout needs training=self.training"
    return "it is random, or changes as it is used: switch randomness off, and keep nothing from call to call"


def _of_neighbours(classifier: Any) -> str:
    """Why the answer may depend on the other inputs of a batch."""
    if hasattr(classifier, "module") and hasattr(classifier, "hops"):  # graphs are given to the module one by one
        return "it changes tensors in place that noisy copies share (x.data, x.numpy()): let it work on a clone"
    norm = next(_batch_norms(classifier), None)
    if norm is not None:
        return f"{norm} uses statistics of the batch: train it with track_running_stats=True"
    return (
        "its answer depends on the rest of the batch (batch statistics, a norm that is not given `batch`), or it "
        "changes in place what noisy copies share: let it look at every input by itself"
    )


def _parts(classifier: Any) -> Iterator[tuple[str, Any]]:
    """The parts of a torch module with their names; none for other classifiers."""
    module: Any = getattr(classifier, "module", None)
    if callable(getattr(module, "named_modules", None)):
        yield from module.named_modules()


def _batch_norms(classifier: Any) -> Iterator[str]:
    """Layers that normalise by the batch, because they have no running statistics."""
    for name, part in _parts(classifier):
        kinds = {kind.__name__ for kind in type(part).__mro__}
        if "_BatchNorm" in kinds and getattr(part, "running_mean", None) is None:
            yield f"{type(part).__name__} {name!r}"


def _random_calls(classifier: Any) -> Iterator[str]:
    """Calls of random functions in the user's own forward methods; libraries' methods respect the training flag."""
    for _, part in _parts(classifier):
        kind = type(part)
        if kind.__module__.split(".")[0] in ("torch", "torch_geometric", "flipproof"):
            continue
        names = getattr(getattr(kind.forward, "__code__", None), "co_names", ())
        yield from (f"{name}() in {kind.__name__}.forward" for name in names if name in _RANDOM)
