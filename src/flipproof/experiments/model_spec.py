"""Which model a task asks for: one that ships, by its name, or a user's own, by where its code is."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from flipproof.errors import InvalidInputError, not_among
from flipproof.extras import require
from flipproof.theory.radii import checked_count

SHIPPED = ("gcn", "gat", "appnp")


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model that is made by `(features, classes, ...)`.

    Attributes:
        name: "gcn", "gat" or "appnp"; or "path/to/file.py:Name" or "package.module:Name" for one of your own.
        hidden: the size of the hidden layer; by default the model's own.
        dropout: the share of hidden numbers that training leaves out; likewise.

    Example:
        >>> ModelSpec("gnc")
        Traceback (most recent call last):
            ...
        flipproof.errors.InvalidInputError: expected model to be one of gcn, gat, appnp, FILE.py:NAME, got 'gnc'; did \
you mean gcn?
    """

    name: str
    hidden: int | None = None
    dropout: float | None = None

    def __post_init__(self) -> None:
        if not self.own and self.name not in SHIPPED:
            raise not_among("model", (*SHIPPED, "FILE.py:NAME"), self.name)
        if self.hidden is not None and checked_count(self.hidden, "hidden") < 1:
            raise InvalidInputError("expected hidden to be at least 1, got 0")
        if self.dropout is not None and not 0.0 <= self.dropout < 1.0:
            raise InvalidInputError(f"expected dropout in [0, 1), got {self.dropout}")

    @property
    def own(self) -> bool:
        """Whether it is the user's own."""
        return isinstance(self.name, str) and ":" in self.name

    def build(self, features: int, classes: int, seed: int) -> Any:
        """A new module with initial weights that depend on the seed alone."""
        torch = require("torch")
        make = _own_model(self.name) if self.own else _shipped_model(self.name)
        options = {name: value for name, value in asdict(self).items() if name != "name" and value is not None}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            try:
                return make(features=features, classes=classes, **options)
            except Exception as error:  # whatever the constructor of somebody's model raises
                raise InvalidInputError(
                    f"expected a model that is made by (features, classes{''.join(f', {name}' for name in options)}), "
                    f"got {self.name}: {error}"
                ) from error


def _shipped_model(name: str) -> Any:
    from flipproof.models.node_modules import NODE_MODULES

    return NODE_MODULES[name]


def _own_model(name: str) -> Any:
    place, _, attribute = name.rpartition(":")
    try:
        module = _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
        return getattr(module, attribute)
    except (Exception, SystemExit) as error:  # whatever somebody's code raises when it is loaded
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InvalidInputError(f"expected FILE.py:NAME or package.module:NAME, got {name}: {reason}") from error


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
