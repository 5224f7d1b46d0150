"""Fits scikit-learn estimators to noisy copies of rows, so that they are confident on the noisy inputs of votes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from flipproof.base.values import IntArray, as_array, checked_count, sorted_rows
from flipproof.errors import InvalidInputError
from flipproof.noise.laws import Law, law_for, sampler_of, space_of
from flipproof.noise.sampling.samplers import Role, as_given
from flipproof.run_folder.split import checked_labels, label_array
from flipproof.smoothing.voting.chunks import check_fits, checked_memory
from flipproof.smoothing.voting.evaluation import input_size


def fit_estimator(
    estimator: Any, inputs: Any, labels: ArrayLike, rows: ArrayLike | None = None, noise: Law | None = None,
    copies: int = 10, seed: int = 0, memory_limit: str | int = "2GB",
) -> Any:  # fmt: skip
    """Fits an estimator to noisy copies of some rows, drawn by the exact sampler of votes from a separate stream.

    Args:
        estimator: any scikit-learn classifier, or a pipeline that ends in one. It is fitted in place and returned.
        inputs: rows, as `vote` takes them. A data frame or the table of one gives the estimator noisy data frames.
        labels: class numbers or texts, one per input; only those of `rows` are used.
        rows: the numbers of the inputs to learn from; by default all.
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
    if noise is None:
        raise InvalidInputError("expected noise=, the law of the later votes, got none")
    space, copies = space_of(inputs), checked_count(copies, "copies")
    noise = law_for(space, noise)
    sampler = sampler_of(space, noise if copies else noise.without_noise(), seed)
    chosen = np.arange(sampler.rows) if rows is None else _checked_rows(rows, sampler.rows)
    known = _known_labels(labels, sampler.rows, chosen)
    check_fits(input_size(sampler), checked_memory(memory_limit), max(1, copies) * chosen.size)
    if np.unique(known).size < 2:
        raise InvalidInputError("expected labels of at least two classes among rows, got 1")
    batch = sampler.draw(Role.TRAIN, range(max(1, copies)), chosen)
    if not hasattr(batch, "shape"):
        raise InvalidInputError(f"expected rows, got {type(space).__name__}")
    given = as_given(sampler, batch)
    if given is batch:
        given = sorted_rows(batch) if sp.issparse(batch) else batch.reshape(batch.shape[0], -1)
    estimator.fit(given, np.tile(known, max(1, copies)))
    return estimator


def _known_labels(labels: Any, inputs: int, chosen: IntArray) -> NDArray[Any]:
    """The labels of the rows to learn from: numbers from 0, or texts."""
    given = np.asarray(labels, dtype=object)
    if given.shape == (inputs,) and all(isinstance(each, str) for each in given[:1]):
        known = given[chosen]
        if not all(isinstance(each, str) for each in known):
            raise InvalidInputError("expected labels that are all texts or all class numbers, got both")
        return known.astype(str)
    return checked_labels(label_array(labels, inputs)[chosen], chosen.size)


def _checked_rows(rows: ArrayLike, inputs: int) -> IntArray:
    chosen = as_array(rows, "rows")
    if chosen.ndim != 1 or not chosen.size or chosen.dtype.kind not in "iu":
        raise InvalidInputError(f"expected a list of row numbers, got {chosen.dtype} of shape {list(chosen.shape)}")
    if chosen.min() < 0 or chosen.max() >= inputs:
        raise InvalidInputError(f"expected rows from 0 to {inputs - 1}, got {chosen.min()} to {chosen.max()}")
    return chosen.astype(np.int64)
