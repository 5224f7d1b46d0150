"""Pairs of a model of rows and data, each with a noise and the model's own labels of noisy inputs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

import flipproof as fp
from flipproof.noise.laws import as_given, sampler_of, space_of

RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, (80, 6))
THREE = np.array(["cat", "ant", "dog"])[(X[:, 0] + X[:, 1] > 3) + (X[:, 2] + X[:, 3] > 4).astype(int)]
NUMBERS = np.searchsorted(np.unique(THREE), THREE)
TWO = (X[:, 0] + X[:, 1] > X[:, 2] + 1).astype(int)
BITS = sp.csr_array((RNG.random((80, 12)) < 0.3).astype(np.float32))
OF_BITS = np.asarray((BITS[:, :6].sum(axis=1) > BITS[:, 6:].sum(axis=1)).astype(int)).ravel()
DATA, FLIPS = X[:5], fp.FlipNoise(0.3, 0.3, 4)
WORDS, FEWER = BITS[:5], fp.FlipNoise(0.05, 0.4)
SELECT, ESTIMATE = 20, 100


@dataclass
class Pair:
    """A model, data and a noise; `own` gives the model's own labels of noisy inputs, as numbers."""

    model: Any
    own: Any
    data: Any = None
    noise: Any = FLIPS
    options: Any = None

    def __post_init__(self):
        self.data = DATA if self.data is None else self.data
        self.options = self.options or {}


PAIRS: dict[str, Any] = {}


def pair(function):
    PAIRS[function.__name__] = function
    return function


def counted(pair, labels_of, role, samples):
    """How often each label is given to each input, by calling the model on the noisy inputs of the sampler."""
    space = space_of(pair.data)
    sampler = sampler_of(space, pair.noise, 0)
    drawn = as_given(sampler, sampler.draw(role, range(samples), np.arange(sampler.rows)))
    drawn = drawn.astype(np.int64) if isinstance(drawn, np.ndarray) and drawn.dtype.kind == "u" else drawn
    return np.asarray(labels_of(drawn)).astype(int).reshape(samples, sampler.rows)


def vote(pair, **options):
    return fp.vote(pair.model, pair.data, pair.noise, SELECT, ESTIMATE, progress=False, **{**pair.options, **options})


def places(estimator, batch):
    """The own predictions of an estimator as places in its classes_."""
    names = list(estimator.classes_)
    return [names.index(name) for name in np.asarray(estimator.predict(batch)).ravel()]


def estimator_pair(estimator, labels=THREE):
    estimator.fit(X, labels)
    return Pair(estimator, lambda batch: places(estimator, batch))


def sparse_pair(estimator, fitted_on=BITS):
    estimator.fit(fitted_on, OF_BITS)
    return Pair(estimator, lambda batch: places(estimator, type(fitted_on)(batch)), WORDS, FEWER)
