"""Finds the adapter of a model that is given as it is: `vote` asks here for whatever is no classifier yet."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, cast

from flipproof.errors import InvalidInputError
from flipproof.models.adapters.adapted_estimators import SCORES, adapted_estimator, by_scores, is_estimator
from flipproof.models.adapters.adapted_functions import adapted_function, called_model
from flipproof.models.adapters.given_rows import library_of
from flipproof.models.adapters.refusals import check_fitted, refuse_class
from flipproof.models.adapters.torch_modules import is_module
from flipproof.noise.laws import is_joint
from flipproof.noise.spaces.graphs import Graphs
from flipproof.noise.spaces.space import Space
from flipproof.smoothing.classifier import Classifier, ModelOptions
from flipproof.theory.base_law import Law


class Family(NamedTuple):
    """Models that have an adapter in common.

    Attributes:
        has: whether a model belongs to the family, given the space of its data and what the user said about it.
        adapt: makes the adapter, or raises an error that says what to do.
    """

    has: Callable[[Any, Space, ModelOptions], bool]
    adapt: Callable[[Any, Space, Law, ModelOptions], Classifier]


def adapted(model: Any, space: Space, noise: Law, options: ModelOptions) -> Classifier:
    """The classifier of a model for data of this space under this noise, or an error that says what to do."""
    for family in FAMILIES:
        if family.has(model, space, options):
            return family.adapt(model, space, noise, options)
    raise InvalidInputError(
        f"expected a classifier, got {type(model).__name__}; give a trained model or a function of a batch"
    )


def _elsewhere(name: str, function: str) -> Callable[[Any, Space, Law, ModelOptions], Classifier]:
    """A function in a module beside this one, which is only imported for a model that needs it."""

    def adapt(model: Any, space: Space, noise: Law, options: ModelOptions) -> Classifier:
        module = importlib.import_module(f"flipproof.models.adapters.{name}")
        return cast("Classifier", getattr(module, function)(model, space, noise, options))

    return adapt


def _refuse_class(model: Any, space: Space, noise: Law, options: ModelOptions) -> Classifier:
    raise refuse_class(model)


def _is_method(model: Any, space: Space, options: ModelOptions) -> bool:
    """Whether a method of a model is given in place of the model, such as `estimator.predict`."""
    owner = getattr(model, "__self__", None)
    if options.call is not None or not hasattr(model, "__func__"):
        return False
    return is_module(owner) or (model.__name__ in ("predict", *SCORES) and library_of(owner) in _KNOWN)


def _adapted_method(model: Any, space: Space, noise: Law, options: ModelOptions) -> Classifier:
    owner, name = model.__self__, model.__name__
    if is_module(owner) and name not in ("forward", "__call__"):
        return adapted(owner, space, noise, replace(options, call=model.__func__))
    if name in SCORES:
        check_fitted(owner)
        return by_scores(owner, name, space, noise, options)
    return adapted(owner, space, noise, options)


def _is_booster(model: Any) -> bool:
    """Whether a model is the native booster of a library, which knows no labels."""
    return library_of(model) in _TREES and type(model).__name__ in ("Booster", "CatBoost")


_TREES = ("lightgbm", "xgboost", "catboost")
_KNOWN = (*_TREES, "sklearn")


FAMILIES = (
    Family(lambda model, space, options: isinstance(model, type), _refuse_class),
    Family(_is_method, _adapted_method),
    Family(
        lambda model, space, options: is_joint(space) or isinstance(space, Graphs),
        _elsewhere("adapted_graphs", "adapted_graph_model"),
    ),
    Family(
        lambda model, space, options: is_module(model),
        _elsewhere("adapted_modules", "adapted_module"),
    ),
    Family(lambda model, space, options: options.call is not None, called_model),
    Family(lambda model, space, options: _is_booster(model), _elsewhere("boosters", "adapted_booster")),
    Family(lambda model, space, options: is_estimator(model), adapted_estimator),
    Family(lambda model, space, options: callable(model), adapted_function),
)
"""Families in order: the first one that has a model adapts it. A new library is one entry here and one file."""
