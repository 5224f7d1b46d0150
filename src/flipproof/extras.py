"""Packages that only some parts need, imported when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from flipproof.errors import FlipproofError

_EXTRAS = {
    "torch": "torch",
    "safetensors": "sklearn",
    "torch_geometric": "graphs",
    "sklearn": "sklearn",
    "pandas": "sklearn",
    "pyarrow": "sklearn",
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
        message = f'expected {package} to be installed, got "{error}": {_install([package])}'
        raise MissingExtraError(message, name=package) from error


def check_installed(*packages: str) -> None:
    """Names all packages that are missing at once, before any work is done.

    Example:
        >>> check_installed("sklearn", "matplotlib")
    """
    import importlib.util  # `import flipproof` does without it

    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        names = ", ".join(missing[:-1]) + (" and " if missing[1:] else "") + missing[-1]
        got = "none of them" if missing[1:] else "nothing of that name"
        raise MissingExtraError(f"expected {names} to be installed, got {got}: {_install(missing)}", name=missing[0])


def _install(packages: list[str]) -> str:
    """The command that installs all of these packages."""
    extras = {_EXTRAS[package] for package in packages}
    if "torch" in extras:  # has safetensors, too
        extras -= {"sklearn"} if set(packages).isdisjoint({"sklearn", "pandas", "pyarrow"}) else set()
    return f'pip install "flipproof[{",".join(sorted(extras))}]"'
