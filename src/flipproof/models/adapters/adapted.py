"""Finds the adapter of a model that is given as it is: `vote` asks here for whatever is no classifier yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from flipproof.errors import InvalidInputError
from flipproof.models.adapters.sklearn_classifier import SklearnClassifier
from flipproof.models.adapters.torch_modules import is_module
from flipproof.noise.laws import sampler_of
from flipproof.noise.sampling.samplers import Role, as_given
from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.graphs import Graphs
from flipproof.noise.spaces.space import Space
from flipproof.smoothing.classifier import Classifier, FunctionClassifier, ModelOptions
from flipproof.theory.base_law import Law


def adapted(model: Any, space: Space, noise: Law, options: ModelOptions) -> Classifier:
    """The classifier of a model for data of this space under this noise, or an error that says what to do."""
    if isinstance(space, Graph | Graphs):
        from flipproof.models.adapters.adapted_graphs import adapted_graph_model

        return adapted_graph_model(model, space, noise, options)
    if is_module(model):
        return _of_rows(model, space, noise)
    if hasattr(model, "predict") and hasattr(model, "classes_"):
        return SklearnClassifier(model)
    if callable(model) and options.classes is not None:
        return FunctionClassifier(model, options.classes)
    raise InvalidInputError(f"expected a classifier, got {type(model).__name__}")


def _of_rows(module: Any, space: Space, noise: Law) -> Classifier:
    from flipproof.models.adapters.torch_classifier import TorchClassifier
    from flipproof.models.adapters.torch_modules import device_of, evaluating, torch

    sampler = sampler_of(space, noise.without_noise(), 0)
    rows = as_given(sampler, sampler.draw(Role.ESTIMATE, range(1), np.arange(1)))
    with evaluating(module):
        logits = module(torch.tensor(rows, dtype=torch.float32, device=device_of(module)))
    return TorchClassifier(module, int(logits.shape[-1]))
