"""The identity of a run: the code behind its labels, ours and the user's, and the differences of two runs in words."""

from __future__ import annotations

import ast
import functools
import hashlib
import io
import itertools
import json
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from flipproof.base.own_imports import PACKAGE, is_own_import, source_of, with_imports
from flipproof.errors import InvalidInputError
from flipproof.noise.laws import Law, law_from_record
from flipproof.noise.spaces.space import Space
from flipproof.smoothing.fingerprint.contents import is_library
from flipproof.smoothing.fingerprint.fingerprints import FINGERPRINTS_VERSION, fingerprint
from flipproof.smoothing.run import versions

_LONG, _SHORT = 24, 12
_IN_WORDS = ("code", "files")
"""Fields that are put into words instead of showing their hashes."""
_NEW = ("engine version", "targets", "checked")
"""Fields that flipproof did not record, or recorded in another way, before it recorded its code."""
_VERSIONS = {"stream version", "engine version"}
_OLDER = "it is of an older flipproof, which did not note its code"
_CHANGED = "what turns noisy inputs into labels has changed in flipproof since"
_FINGERPRINTS = "fingerprints"
_ANEW = ", or draw anew into another file (flipproof vote --force)"
_CHECKED = "checked"
_CHECK_WORDS = {
    True: "a classifier that is checked as it votes (check=True)",
    False: "a classifier that nobody checked (check=False, --no-check)",
}
_MODELS = f"{PACKAGE}.models"
"""Modules that these modules import from this room count, too."""
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
_MARKS = {tokenize.NEWLINE: "<line>", tokenize.INDENT: "<indent>", tokenize.DEDENT: "<dedent>"}
"""Tokens in place of layout that a formatter may write in several ways, but not leave out."""


def differences_between(found: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """Every difference between two descriptions of runs, as JSON values; empty if there is none.

    Example:
        >>> differences_between({"seed": 1, "noise": {"p_plus": 0.1}}, {"seed": 0, "noise": {"p_plus": 0.2}})
        'seed 1 instead of 0; noise.p_plus 0.1 instead of 0.2'
        >>> flips = {"p_plus": 0.1, "p_minus": 0.2, "categories": 2}
        >>> differences_between({"noise": {"gaussian": {"sigma": 0.5}}}, {"noise": flips})
        'noise GaussianNoise(sigma=0.5) instead of FlipNoise(p_plus=0.1, p_minus=0.2, categories=2)'
    """
    return "; ".join([*_differences(_unchecked(found), _unchecked(expected), ""), *_checks(found, expected)])


def _unchecked(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != _CHECKED}


def _checks(found: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    """Says so if only one of two runs was checked; a run of an earlier version, which does not say, was not."""
    one, other = (record.get(_CHECKED) is True for record in (found, expected))
    if one is not other:
        yield f"{_CHECK_WORDS[one]} instead of {_CHECK_WORDS[other]}"


def of_other_fingerprints(record: Mapping[str, Any], version: int = FINGERPRINTS_VERSION) -> str:
    """Says which flipproof made a record, if its fingerprints cannot be compared; empty if they can.

    Args:
        record: a record with fingerprints and, as "fingerprints", their version; without it, that is version 1.
        version: the version to compare with.

    Example:
        >>> of_other_fingerprints({"model": "ab"}, version=2)
        'made by an older flipproof (fingerprints of version 1)'
    """
    found = record.get(_FINGERPRINTS, 1)
    if found == version:
        return ""
    age = "an older" if isinstance(found, int) and found < version else "a newer"
    return f"made by {age} flipproof (fingerprints of version {_shown(found)})"


def check_data(identity: Mapping[str, Any], space: Space) -> None:
    """Refuses data that differ from those of a run, or that cannot be compared with them."""
    if other := of_other_fingerprints(identity):
        raise InvalidInputError(
            f"expected votes of this flipproof, got votes {other}; leave out `inputs` to have a report without them"
        )
    if fingerprint(space) != identity["data"]:
        raise InvalidInputError("expected the data that were voted on, got other data")


def run_differences(
    found: Mapping[str, Any], expected: Mapping[str, Any], began_with: Callable[[], str | None] = lambda: None
) -> str:
    """Every difference between the identities of two runs and what to do about it; empty if there is none.

    The user's files are no difference by themselves: the model's fingerprint covers those whose contents matter. They
    explain why that fingerprint differs.

    Args:
        found: the identity of votes that exist already.
        expected: the identity of votes that are to be drawn.
        began_with: returns the version of flipproof that drew the existing votes, or None if it is unknown.

    Example:
        >>> run_differences({"model": "ab", "files": {"net.py": "12"}}, {"model": "cd", "files": {"net.py": "34"}})
        'model ab instead of cd; net.py has changed since: put it back, or draw anew into another file ...'
    """
    if other := of_other_fingerprints(found, expected.get(_FINGERPRINTS, 1)):
        return f"it was {other}: {_finish_with(began_with())}{_ANEW}"
    differing, older = _differing(found, expected), ("code" in found) != ("code" in expected)
    if "model" in differing and not older:
        differing.discard("code")  # another model uses other code
    hidden = (*_IN_WORDS, *(_NEW if older else ()), *(("engine version",) if "engine" in differing else ()))
    named = differences_between(*(_without(record, hidden) for record in (found, expected)))
    edited = changed_files(found.get("files"), expected.get("files")) if "model" in differing else []
    advice = [changed_since(edited)] if edited else []
    if differing & ({"code"} | _VERSIONS - {*hidden}):
        reason = [_OLDER if older else _CHANGED] if "code" in differing else []
        advice.append(": ".join([*reason, _finish_with(began_with())]))
    return "; ".join(filter(None, [named, *advice])) + (_ANEW if advice else "")


def _finish_with(began: str | None) -> str:
    return f"finish with flipproof {began}" if began else "finish with the flipproof that began it"


def changed_since(files: Sequence[str]) -> str:
    """Says which files were edited and what to do about it.

    Example:
        >>> changed_since(["net.py"])
        'net.py has changed since: put it back'
    """
    one = len(files) == 1
    return f"{', '.join(files)} {'has' if one else 'have'} changed since: put {'it' if one else 'them'} back"


def changed_files(found: object, expected: object) -> list[str]:
    """The names of files that are in both mappings from names to hashes, but with other contents."""
    if not isinstance(found, Mapping) or not isinstance(expected, Mapping):
        return []
    return sorted(str(name) for name in found if name in expected and found[name] != expected[name])


def differences_again(found: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """The differences that keep samples from being drawn again; empty if there are none.

    The code that gives labels may differ, as votes drawn again are compared with the first ones. The noise and the
    engine must not differ, though an older flipproof did not record the engine.
    """
    hidden = (*_IN_WORDS, *(() if "code" in expected else ("engine version",)))
    differences = differences_between(*(_without(record, hidden) for record in (found, expected)))
    other = _differing(found, expected) & (_VERSIONS - {*hidden})
    return f"{differences}; take the flipproof that drew them" if other else differences


def _without(record: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}


def _differing(found: Mapping[str, Any], expected: Mapping[str, Any]) -> set[str]:
    return {name for name in {*found, *expected} if found.get(name, ...) != expected.get(name, ...)}


def _differences(found: Mapping[str, Any], expected: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """Every difference in words; differences inside mappings are named one by one."""
    for key in [*expected, *(key for key in found if key not in expected)]:
        name = prefix + key
        if key not in expected:
            yield f"{name} {_shown(found[key])} instead of nothing"
        elif key not in found:
            yield f"no {name} instead of {_shown(expected[key])}"
        elif _other_laws(found[key], expected[key]):
            yield f"{name} {_shown(found[key])} instead of {_shown(expected[key])}"
        elif isinstance(found[key], dict) and isinstance(expected[key], dict):
            yield from _differences(found[key], expected[key], f"{name}.")
        elif _text(found[key]) != _text(expected[key]):
            yield f"{name} {_instead(found[key], expected[key])}"


def _other_laws(found: object, expected: object) -> bool:
    """Whether two records are noises of two kinds, whose numbers cannot be compared one by one."""
    kinds = {type(_noise(record)) for record in (found, expected)}
    return len(kinds) == 2 and type(None) not in kinds


def _noise(record: object) -> Law | None:
    """The noise that a record describes; None if it describes none."""
    try:
        return law_from_record(record) if isinstance(record, dict) else None
    except (InvalidInputError, TypeError, AttributeError):
        return None


def _instead(found: object, expected: object) -> str:
    if _shown(found) == _shown(expected):  # such as 1 and "1", or two long texts that begin alike
        return f"{_text(found)} instead of {_text(expected)}"
    return f"{_shown(found)} instead of {_shown(expected)}"


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _shown(value: object) -> str:
    """A value in words: numbers and noises in full, and the beginning of long texts, such as hashes."""
    if noise := _noise(value):
        return repr(noise)
    text = _text(value)[1:-1] if isinstance(value, str) else _text(value)
    return text if len(text) <= _LONG or isinstance(value, int | float) else text[:_SHORT].rstrip()


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
