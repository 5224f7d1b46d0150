"""Which modules of this package import which, as their sources say it: none of them needs to be loaded for that."""

from __future__ import annotations

import ast
import functools
import importlib.resources
from collections.abc import Iterable, Iterator

PACKAGE = "flipproof"


def with_imports(modules: Iterable[str], room: str = PACKAGE) -> frozenset[str]:
    """The modules of ours among these, and what they import from a room of ours, directly or through each other.

    Example:
        >>> sorted(with_imports(["flipproof.files.whole", "numpy"]))
        ['flipproof.errors', 'flipproof.files.whole']
    """
    waiting = {name for name in modules if is_in(name, PACKAGE)}
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= {each for each in _imported(name) if is_in(each, room)} - found
    return frozenset(found)


def is_in(module: str, room: str) -> bool:
    """Whether a module is a package or something in it."""
    return module == room or module.startswith(f"{room}.")


@functools.cache
def source_of(module: str) -> str | None:
    """The source of a module of ours; None if there is no such module, or only a compiled one."""
    root, parts = importlib.resources.files(PACKAGE), module.split(".")[1:]
    for place in ((*parts[:-1], f"{parts[-1]}.py") if parts else ("__init__.py",), (*parts, "__init__.py")):
        file = root.joinpath(*place)
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return None


def is_own_import(node: ast.AST) -> bool:
    """Whether a statement imports something of ours."""
    return any(is_in(place, PACKAGE) for place in _places(node))


@functools.cache
def _imported(module: str) -> frozenset[str]:
    """The modules of ours that a module imports, inside of functions too."""
    tree = ast.parse(source_of(module) or "")
    names = {each for node in ast.walk(tree) if is_own_import(node) for each in _places(node)}
    return frozenset(name for name in names if source_of(name) is not None)


def _places(node: ast.AST) -> Iterator[str]:
    """What may be modules in an import."""
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        yield from (f"{node.module}.{each.name}" for each in node.names)
