"""Fits scikit-learn estimators to noisy copies of rows, so that they are confident on the noisy inputs of votes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from flipproof.base.values import IntArray, as_array, checked_count, sorted_rows
from flipproof.errors import InvalidInputError
from flipproof.noise.laws import Law, sampler_of, space_of
from flipproof.noise.sampling.samplers import Role, as_given
from flipproof.noise.spaces.space import Space
from flipproof.run_folder.split import checked_labels, label_array
from flipproof.smoothing.voting.chunks import check_fits, checked_memory
from flipproof.smoothing.voting.evaluation import input_size


def fit_estimator(
    estimator: Any, inputs: Any, labels: ArrayLike, rows: ArrayLike, noise: Law, copies: int = 10, seed: int = 0,
    memory_limit: str | int = "2GB",
) -> Any:  # fmt: skip
    """Fits an estimator to noisy copies of some rows, drawn by the exact sampler of votes from a separate stream.

    Args:
        estimator: any scikit-learn classifier, or a pipeline that ends in one. It is fitted in place and returned.
        inputs: rows, as `vote` takes them.
        labels: class numbers, one per input; only those of `rows` are used.
        rows: the numbers of the inputs to learn from.
        noise: the law of the noise; use the law of the later votes.
        copies: the number of noisy copies of every row; 0 means the rows without noise.
        seed: the seed of the noise.
        memory_limit: the memory that all copies together may take.

    Example:
        >>> from sklearn.naive_bayes import BernoulliNB
        >>> from flipproof import FlipNoise
        >>> rows = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]])
        >>> model = fit_estimator(BernoulliNB(), rows, [0, 1], [0, 1], FlipNoise(0.1, 0.4), copies=20)
        >>> model.predict([[1, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0]])
        array([0, 1])
    """
    if not hasattr(estimator, "fit"):
        raise InvalidInputError(f"expected an estimator with fit, got {type(estimator).__name__}")
    space, copies = space_of(inputs), checked_count(copies, "copies")
    sampler = sampler_of(space, noise if copies else noise.without_noise(), seed)
    chosen = _checked_rows(rows, sampler.rows)
    known = checked_labels(label_array(labels, sampler.rows)[chosen], chosen.size)
    check_fits(input_size(sampler), checked_memory(memory_limit), max(1, copies) * chosen.size)
    if np.unique(known).size < 2:
        raise InvalidInputError("expected labels of at least two classes among rows, got 1")
    drawn = sampler.draw(Role.TRAIN, range(max(1, copies)), chosen)
    has_form = getattr(sampler, "form", None) is not None  # such as texts, which go in as they are
    batch = as_given(sampler, drawn) if has_form else _flat(drawn, space)
    estimator.fit(batch, np.tile(known, max(1, copies)))
    return estimator


def _flat(drawn: Any, space: Space) -> Any:
    """Noisy rows in two dimensions."""
    if not hasattr(drawn, "shape"):
        raise InvalidInputError(f"expected rows, got {type(space).__name__}")
    return sorted_rows(drawn) if sp.issparse(drawn) else drawn.reshape(drawn.shape[0], -1)


def _checked_rows(rows: ArrayLike, inputs: int) -> IntArray:
    chosen = as_array(rows, "rows")
    if chosen.ndim != 1 or not chosen.size or chosen.dtype.kind not in "iu":
        raise InvalidInputError(f"expected a list of row numbers, got {chosen.dtype} of shape {list(chosen.shape)}")
    if chosen.min() < 0 or chosen.max() >= inputs:
        raise InvalidInputError(f"expected rows from 0 to {inputs - 1}, got {chosen.min()} to {chosen.max()}")
    return chosen.astype(np.int64)
