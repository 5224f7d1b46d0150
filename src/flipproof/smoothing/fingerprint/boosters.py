"""The contents of boosted trees of LightGBM, XGBoost and CatBoost, which are kept behind handles of C++ objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flipproof.smoothing.fingerprint.contents import Contents, qualified

_NOT_THE_MODEL = ("model_guid", "train_finish_time")
"""What CatBoost notes of a training that differs from run to run, though the trees are the same."""
_DERIVED = ("__model", "_prediction_values_change")
"""Parts of a CatBoost model's state that follow from its trees."""


def is_booster(value: object) -> bool:
    """Whether a value holds boosted trees of one of the libraries."""
    return _reader(value) is not None


def booster_contents(booster: Any) -> Contents:
    """The trees and settings of a booster: equal in every process, and after it was saved and loaded."""
    read = _reader(booster)
    assert read is not None
    return "booster", qualified(type(booster)), *read(booster)


def _reader(value: object) -> Callable[[Any], Contents] | None:
    names = (f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(value).__mro__)
    return next((_READERS[name] for name in names if name in _READERS), None)


def _lightgbm(booster: Any) -> Contents:
    return booster.model_to_string(num_iteration=-1), booster.best_iteration


def _xgboost(booster: Any) -> Contents:
    return (bytes(booster.save_raw("ubj")),)


def _catboost(model: Any) -> Contents:
    state: Mapping[str, Any] = model.__reduce_ex__(4)[2] or {}
    settings = {name: value for name, value in state.items() if name not in _DERIVED}
    if not model.is_fitted():
        return (settings,)
    trees = model.copy()
    notes = trees.get_metadata()
    kept = {name: notes[name] for name in list(notes.keys()) if name not in _NOT_THE_MODEL}
    for name in list(notes.keys()):  # their order is not that of another process
        del notes[name]
    return settings, kept, trees._serialize_model()


_READERS: dict[str, Callable[[Any], Contents]] = {
    "lightgbm.Booster": _lightgbm,
    "xgboost.Booster": _xgboost,
    "catboost.CatBoost": _catboost,
}
