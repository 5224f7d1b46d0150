"""Which model a task asks for: one that ships, by its name, or a user's own, by where its code is."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from flipproof.errors import InvalidInputError
from flipproof.models.extras import require

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
        flipproof.errors.InvalidInputError: expected a model among gcn, gat, appnp or FILE.py:NAME, got 'gnc'; did you \
mean gcn?
    """

    name: str
    hidden: int | None = None
    dropout: float | None = None

    def __post_init__(self) -> None:
        if self.own or self.name in SHIPPED:
            return
        near = difflib.get_close_matches(str(self.name), SHIPPED, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise InvalidInputError(f"expected a model among {', '.join(SHIPPED)} or FILE.py:NAME, got {self.name!r}{hint}")

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
            except (TypeError, ValueError, RuntimeError) as error:
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
    except (ImportError, AttributeError, OSError, SyntaxError) as error:
        raise InvalidInputError(f"expected FILE.py:NAME or package.module:NAME, got {name}: {error}") from error


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
