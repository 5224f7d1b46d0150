"""Packages that only some parts need, imported when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from flipproof.errors import FlipproofError

_EXTRAS = {
    "torch": "torch",
    "safetensors": "torch",
    "torch_geometric": "graphs",
    "sklearn": "graphs",
    "networkx": "graphs",
    "matplotlib": "report",
    "plotly": "report",
    "ray": "cluster",
}


_PROVIDERS: dict[str, str] = {}
"""What rooms above provide for methods of values below, by name: the modules that have it."""


def provide(what: str, module: str) -> None:
    """Says which module provides something. It is imported when somebody asks for it."""
    _PROVIDERS[what] = module


def provided(what: str) -> Any:
    """The module that provides something."""
    return importlib.import_module(_PROVIDERS[what])


class MissingExtraError(FlipproofError, ImportError):
    """A package that comes with one of flipproof's extras is not there."""


def require(module: str) -> Any:
    """Imports a module of an optional package, or names the extra to install.

    Example:
        >>> torch = require("torch")
        >>> torch.ones(2).sum().item()
        2.0
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f'expected {package} to be installed, got "{error}": pip install "flipproof[{_EXTRAS[package]}]"'
        ) from error
