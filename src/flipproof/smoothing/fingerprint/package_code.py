"""Hashes of the code behind the labels of a run, ours and the user's files, so that votes of two codes never mix."""

from __future__ import annotations

import ast
import contextlib
import contextvars
import functools
import hashlib
import io
import itertools
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

from flipproof.base.own_imports import PACKAGE, is_own_import, source_of, with_imports
from flipproof.smoothing.fingerprint.contents import is_library
from flipproof.smoothing.run import versions

_MODELS = f"{PACKAGE}.models"
"""Modules that these modules import from this room count, too."""
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
_MARKS = {tokenize.NEWLINE: "<line>", tokenize.INDENT: "<indent>", tokenize.DEDENT: "<dedent>"}
"""Tokens in place of layout that a formatter may write in several ways, but not leave out."""


def own_code(modules: Iterable[str]) -> str:
    """The sha256 of the code of these modules of ours, and of the models that they import, directly or indirectly.

    Modules of other packages are left out. Only the contents of modules count, in the order of their hashes.

    Example:
        >>> linear = "flipproof.models.fitted.linear_rows"
        >>> own_code([linear, "numpy"]) == own_code([linear])
        True
    """
    found = with_imports(modules, _MODELS)
    hashes = sorted({_hash(tokens) for name in found if (tokens := _tokens_of(name))})
    return _hash(hashes or [versions()["flipproof"]])  # an application that was frozen has no source


def tokens_of(source: str) -> tuple[str, ...]:
    r"""The tokens of a source, without comments, docstrings, layout, and the modules that it imports ours from.

    Example:
        >>> tokens_of('def f(a):  # why\n    "What it does."\n\n    return (a +\n        1)\n')
        ('def', 'f', '(', 'a', ')', ':', '<line>', '<indent>', 'return', '(', 'a', '+', '1', ')', '<line>', '<dedent>')
        >>> tokens_of("from flipproof.errors import InvalidInputError\nx = 1\n")
        ('InvalidInputError as None', 'x', '=', '1', '<line>')
    """
    tree = ast.parse(source)
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    dropped = {node.lineno for node in statements if is_own_import(node) or _is_bare_text(node)}
    names = sorted({f"{each.name} as {each.asname}" for node in statements for each in _own_names(node)})
    return (*names, *_kept(source, dropped))


def _hash(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


@functools.cache
def _tokens_of(module: str) -> tuple[str, ...]:
    return tokens_of(source_of(module) or "")


def _own_names(node: ast.AST) -> list[ast.alias]:
    return node.names if isinstance(node, ast.ImportFrom) and is_own_import(node) else []


def _is_bare_text(node: ast.AST) -> bool:
    """Whether a statement is a docstring, or a text that describes the constant before it."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _kept(source: str, dropped: set[int]) -> Iterator[str]:
    """The tokens of all statements except those that begin in dropped lines."""
    lines = source.splitlines(keepends=True)
    tokens = (token for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type not in _LAYOUT)
    begins = True
    skipped = False
    for token in _with_whole_texts(tokens, lines):
        if token.type in (tokenize.INDENT, tokenize.DEDENT):
            yield _MARKS[token.type]
            continue
        skipped = token.start[0] in dropped if begins else skipped
        begins = token.type == tokenize.NEWLINE
        if not skipped:
            yield _MARKS.get(token.type, token.string)


def _with_whole_texts(tokens: Iterator[tokenize.TokenInfo], lines: list[str]) -> Iterator[tokenize.TokenInfo]:
    """The tokens with formatted texts as one token, as Python 3.11 reads them; later versions take them apart."""
    for token in tokens:
        if not tokenize.tok_name[token.type].endswith("STRING_START"):
            yield token
            continue
        depth = 1
        while depth:
            last = next(tokens)
            kind = tokenize.tok_name[last.type]
            depth += kind.endswith("STRING_START") - kind.endswith("STRING_END")
        yield token._replace(type=tokenize.STRING, string=_between(lines, token.start, last.end), end=last.end)


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """The source text between two places."""
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    inner = itertools.islice(lines, start[0], end[0] - 1)
    return "".join([lines[start[0] - 1][start[1] :], *inner, lines[end[0] - 1][: end[1]]])


_met: contextvars.ContextVar[set[str] | None] = contextvars.ContextVar("met", default=None)


@contextlib.contextmanager
def noting_modules() -> Iterator[set[str]]:
    """Collects the names of all modules that fingerprints made inside the block depend on."""
    met: set[str] = set()
    token = _met.set(met)
    try:
        yield met
    finally:
        _met.reset(token)


def note_modules(names: Iterable[str | None]) -> None:
    """Notes modules inside a `noting_modules` block, and does nothing outside."""
    met = _met.get()
    if met is not None:
        met.update(name for name in names if name is not None)


def note_class(kind: type) -> None:
    """Notes the modules of a class and of its bases."""
    note_modules(owner.__module__ for owner in kind.__mro__)


def hashes_of_files(modules: Iterable[str]) -> dict[str, str]:
    """The sha256 of the file of every module that is the user's own; a file is named by its place in its packages."""
    found = {}
    for name in sorted(modules):
        path = Path(getattr(sys.modules.get(name), "__file__", None) or "")
        if not is_library(name) and path.is_file():
            found[_short(name, path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def _short(module: str, path: Path) -> str:
    """The end of a file's path, with as many folders as the module's name has packages."""
    packages = module.split(".") if path.stem == "__init__" else module.split(".")[:-1]
    parts = path.parts[-len(packages) - 1 :]
    return "/".join(parts) if list(parts[:-1]) == packages else path.name
