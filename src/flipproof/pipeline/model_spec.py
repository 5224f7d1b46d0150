"""Which model a task asks for: one that ships, by its name, or a user's own, by where its code is."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flipproof.base.arguments import checked_count
from flipproof.errors import InvalidInputError, not_among, reason_of
from flipproof.extras import require

_MODULES = {
    "gcn": "networks.node_modules:GCN",
    "gat": "networks.node_modules:GAT",
    "appnp": "networks.node_modules:APPNP",
    "gin": "networks.graph_modules:GIN",
    "cnn": "networks.image_modules:CNN",
    "embedding": "networks.text_modules:WordMean",
}
ESTIMATORS = ("logistic", "forest")
FUSED_MODELS = ("gcn", "appnp", "gat")
"""Those that the fused engine can evaluate."""


def models_for(kind: str, noisy: str) -> tuple[str, ...]:
    """The models that ship for a kind of data with noise on something; the first is the usual one.

    Example:
        >>> models_for("text", "words")
        ('logistic', 'forest')
    """
    if kind == "text":
        return ESTIMATORS if noisy == "words" else ("embedding",)
    return {"nodes": ("gcn", "gat", "appnp"), "graphs": ("gin",), "images": ("cnn",), "tables": ("forest",)}[kind]


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model, by its name.

    Attributes:
        name: "gcn", "gat" or "appnp" for nodes, "gin" for graphs, "cnn" for images, "embedding" for sequences of
            words, "logistic" or "forest" for bags of words, "forest" for tables; or "path/to/file.py:Name" or
            "package.module:Name" for a torch module of your own.
        hidden: the size of the hidden layer; by default the model's own.
        dropout: the share of hidden numbers that training leaves out; likewise.

    Example:
        >>> ModelSpec("gnc").check("nodes", "structure")
        Traceback (most recent call last):
            ...
        flipproof.errors.InvalidInputError: expected model to be one of gcn, gat, appnp, FILE.py:NAME, got 'gnc'; did \
you mean gcn?
    """

    name: str
    hidden: int | None = None
    dropout: float | None = None

    def __post_init__(self) -> None:
        if self.hidden is not None and checked_count(self.hidden, "hidden") < 1:
            raise InvalidInputError("expected hidden to be at least 1, got 0")
        if self.dropout is not None and not 0.0 <= self.dropout < 1.0:
            raise InvalidInputError(f"expected dropout in [0, 1), got {self.dropout}")
        if self.name in ESTIMATORS and (self.hidden, self.dropout) != (None, None):
            raise InvalidInputError(f"expected no hidden and no dropout for {self.name}, which has neither, got some")

    def check(self, kind: str, noisy: str) -> None:
        """Refuses a model that is not there for a kind of data."""
        models = models_for(kind, noisy)
        if not self.own and self.name not in models:
            raise not_among("model", (*models, "FILE.py:NAME"), self.name)

    @property
    def own(self) -> bool:
        """Whether it is the user's own."""
        return isinstance(self.name, str) and ":" in self.name

    def build(self, sizes: Mapping[str, Any], seed: int) -> Any:
        """A new module for data of these sizes, with initial weights that depend on the seed alone."""
        torch = require("torch")
        make = _own_model(self.name) if self.own else _shipped_model(self.name)
        chosen = {"hidden": self.hidden, "dropout": self.dropout}
        options = {**sizes, **{name: value for name, value in chosen.items() if value is not None}}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            try:
                return make(**options)
            except Exception as error:  # whatever the constructor of somebody's model raises
                raise InvalidInputError(
                    f"expected a model that is made by ({', '.join(options)}), got {self.name}: {error}"
                ) from error


def _shipped_model(name: str) -> Any:
    place, _, attribute = _MODULES[name].partition(":")
    return getattr(importlib.import_module(f"flipproof.models.{place}"), attribute)


def _own_model(name: str) -> Any:
    place, _, attribute = name.rpartition(":")
    try:
        module = _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
        return getattr(module, attribute)
    except (Exception, SystemExit) as error:  # whatever somebody's code raises when it is loaded
        raise InvalidInputError(
            f"expected FILE.py:NAME or package.module:NAME, got {name}: {reason_of(error)}"
        ) from error


def _from_file(path: Path) -> Any:
    """The module of a file, sent to workers by value because they could not import it."""
    import cloudpickle

    name = f"flipproof_own_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    cloudpickle.register_pickle_by_value(module)
    return module
