"""Finds the adapter of a model that is given as it is: `vote` asks here for whatever is no classifier yet."""

from __future__ import annotations

from typing import Any

from flipproof.errors import InvalidInputError
from flipproof.models.adapters.sklearn_classifier import SklearnClassifier
from flipproof.noise.spaces.space import Space
from flipproof.smoothing.classifier import Classifier, FunctionClassifier, ModelOptions
from flipproof.theory.base_law import Law


def adapted(model: Any, space: Space, noise: Law, options: ModelOptions) -> Classifier:
    """The classifier of a model for data of this space under this noise, or an error that says what to do."""
    if hasattr(model, "predict") and hasattr(model, "classes_"):
        return SklearnClassifier(model)
    if callable(model) and options.classes is not None:
        return FunctionClassifier(model, options.classes)
    raise InvalidInputError(f"expected a classifier, got {type(model).__name__}")
