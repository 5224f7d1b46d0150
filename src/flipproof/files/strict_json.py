"""Strict JSON: texts that other programs would read differently are refused, and files say what they are."""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from flipproof.errors import FileFormatError
from flipproof.files.whole import read_whole, replacing


@dataclass(frozen=True, slots=True)
class FileKind:
    """A file format: its name in messages, its mark and version, and a hint for files that do not have the mark.

    Files are written in `version`; those of the earlier versions in `also` are read as well.
    """

    noun: str
    format: str
    version: int
    hint: str = ""
    also: tuple[int, ...] = ()


_DEEPEST = 64
_TEXTS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal or a page would not show but obey, and halves of letters, which cannot be written anywhere."""
_PERHAPS_OBEYED = re.compile(rb"\\[bfnrtu]|\x7f|\xc2[\x80-\x9f]|\xe2[\x80\x81]")


def json_value(text: bytes) -> Any:
    """The value of a JSON text in UTF-8.

    Besides invalid JSON, this refuses NaN and infinities, numbers that a float64 cannot hold, names that occur twice
    in one object, control characters in texts, which will be printed sooner or later, and values nested deeper than
    in any file of ours, which could exhaust the stack.

    Example:
        >>> json_value(b'{"alpha": 0.01}')
        {'alpha': 0.01}
        >>> json_value(b'{"alpha": 0.01, "alpha": 0.5}')
        Traceback (most recent call last):
        flipproof.errors.FileFormatError: it has the name 'alpha' twice
    """
    if _depth(text) > _DEEPEST:
        raise FileFormatError(f"its values are nested more than {_DEEPEST} deep")
    try:
        value = json.loads(
            text.decode("utf-8"), parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_each_once
        )
    except ValueError as error:  # no JSON, no UTF-8, or a whole number of thousands of digits
        raise FileFormatError(f"it is no JSON: {str(error)[:100]}") from error
    if _PERHAPS_OBEYED.search(text):
        _check_letters(value)
    return value


def is_plain(text: Any) -> bool:
    r"""Whether it is a text without control characters, which can be kept as JSON.

    Example:
        >>> is_plain("Größe"), is_plain("a\x1b[2J")
        (True, False)
    """
    return isinstance(text, str) and not _OBEYED.search(text)


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number that a float64 can hold; truth values are none.

    Example:
        >>> is_number(1), is_number(True), is_number(10**400)
        (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def _depth(text: bytes) -> int:
    """How deep lists and objects are nested; 0 if that cannot be too deep."""
    if text.count(b"[") + text.count(b"{") <= _DEEPEST:
        return 0
    letters = np.frombuffer(_TEXTS.sub(b"", text), np.uint8)
    brackets = letters[np.isin(letters, np.frombuffer(b"[]{}", np.uint8))]
    steps = np.where(np.isin(brackets, np.frombuffer(b"[{", np.uint8)), np.int8(1), np.int8(-1))
    return int(np.cumsum(steps, dtype=np.int32).max(initial=0))


def _no_number(constant: str) -> None:
    raise FileFormatError(f"it has {constant} in place of a number")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise FileFormatError(f"it has the number {digits[:40]}, which is too large")
    return number


def _each_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise FileFormatError(f"it has the name {twice[:40]!r} twice")
    return found


def _check_letters(value: Any) -> None:
    wrong = next(filter(None, map(_OBEYED.search, _texts(value))), None)
    if wrong:
        raise FileFormatError(f"it has the control character {wrong[0]!a} in a text")


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value, names included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from _texts(each)


_LONGEST = 2**26


def write_json(path: Path, kind: FileKind, record: Mapping[str, Any]) -> None:
    """Writes the record under its format and version."""
    whole = {"format": kind.format, "version": kind.version, **record}
    with replacing(path) as stream:
        stream.write(json.dumps(whole, indent=1, allow_nan=False).encode() + b"\n")


def read_json(path: Path, kind: FileKind, any_version: bool = False) -> dict[str, Any]:
    """The record, without its format and version."""
    try:
        record = json_value(read_whole(path, _LONGEST))
    except OSError as error:
        raise FileFormatError(f"expected a readable {kind.noun}, got {path}: {error.strerror or error}") from error
    except FileFormatError as error:
        raise FileFormatError(f"expected a {kind.noun} written by flipproof, got {path}: {error}") from error
    if not isinstance(record, dict) or record.pop("format", None) != kind.format:
        raise FileFormatError(f"expected a {kind.noun} written by flipproof, got {path}, which is something else")
    version = record.pop("version", None)
    if not any_version and (type(version) is not int or version != kind.version):
        raise FileFormatError(
            f"expected a {kind.noun} of version {kind.version}, got {path} of version {version!r}; "
            "use the flipproof that wrote it"
        )
    return record
