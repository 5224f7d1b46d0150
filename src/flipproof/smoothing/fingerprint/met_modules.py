"""The modules that a fingerprint is about: noted on the way, so that a difference can be said in words."""

from __future__ import annotations

import contextlib
import contextvars
import hashlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from flipproof.smoothing.fingerprint.code_contents import is_library

_met: contextvars.ContextVar[set[str] | None] = contextvars.ContextVar("met", default=None)


@contextlib.contextmanager
def noting_modules() -> Iterator[set[str]]:
    """The names of all modules whose classes, functions or contents are part of fingerprints made inside."""
    met: set[str] = set()
    token = _met.set(met)
    try:
        yield met
    finally:
        _met.reset(token)


def note_modules(names: Iterable[str | None]) -> None:
    """Notes modules, if anybody wants to know."""
    met = _met.get()
    if met is not None:
        met.update(name for name in names if name is not None)


def note_class(kind: type) -> None:
    """Notes the modules of a class and of its bases."""
    note_modules(owner.__module__ for owner in kind.__mro__)


def hashes_of_files(modules: Iterable[str]) -> dict[str, str]:
    """The sha256 of the file of every module that is the user's own. A file is named as its module is imported."""
    found = {}
    for name in sorted(modules):
        path = Path(getattr(sys.modules.get(name), "__file__", None) or "")
        if not is_library(name) and path.is_file():
            found[_short(name, path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def _short(module: str, path: Path) -> str:
    """The end of the path: as many folders as the module's name has packages."""
    packages = module.split(".") if path.stem == "__init__" else module.split(".")[:-1]
    parts = path.parts[-len(packages) - 1 :]
    return "/".join(parts) if list(parts[:-1]) == packages else path.name
