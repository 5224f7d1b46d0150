"""Finds the adapter of a model that is given as it is: `vote` asks here for whatever is no classifier yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from flipproof.errors import InvalidInputError
from flipproof.models.adapters.sklearn_classifier import SklearnClassifier
from flipproof.noise.laws import sampler_of
from flipproof.noise.sampling.samplers import Role, as_given
from flipproof.noise.spaces.space import Space
from flipproof.smoothing.classifier import Classifier, FunctionClassifier, ModelOptions
from flipproof.theory.base_law import Law


def adapted(model: Any, space: Space, noise: Law, options: ModelOptions) -> Classifier:
    """The classifier of a model for data of this space under this noise, or an error that says what to do."""
    if hasattr(model, "predict") and hasattr(model, "classes_"):
        return SklearnClassifier(model)
    if callable(model):
        return _of_function(model, space, noise, options)
    raise InvalidInputError(f"expected a classifier, got {type(model).__name__}")


def _of_function(function: Any, space: Space, noise: Law, options: ModelOptions) -> Classifier:
    """The classifier of a function that returns scores [rows, classes], or labels if their number is given."""
    sampler = sampler_of(space, noise.without_noise(), 0)
    answer = np.asarray(function(as_given(sampler, sampler.draw(Role.ESTIMATE, range(1), np.zeros(1, dtype=np.int64)))))
    if answer.ndim == 2 and answer.dtype.kind == "f":
        return FunctionClassifier(lambda batch: np.asarray(function(batch)).argmax(axis=1), answer.shape[1])
    if options.classes is None:
        raise InvalidInputError("expected classes=, the number of labels, with a function that returns labels")
    return FunctionClassifier(function, options.classes)
