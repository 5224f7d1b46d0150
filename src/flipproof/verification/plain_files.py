"""Reads JSON and npz files with the standard library alone, and reports any defect of a file in one line."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import sys
import zipfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from flipproof.errors import FileFormatError

_MOST_JSON, _MOST_DESCRIPTION, _DEEPEST = 2**24, 2**20, 64
_MOST_UNPACKED, _MOST_TIMES = 2**25, 40
"""The largest size that an archive may unpack to, in bytes and as a multiple of the file's size."""
_DESCRIPTION = "metadata.json"
_HEADER = re.compile(rb"\{'descr': '([|<a-zA-Z0-9]{3})', 'fortran_order': False, 'shape': \(([0-9, ]{0,60})\), \} *\n?")
_TYPECODES = {"|b1": "b", "|u1": "B", "<u2": "H", "<u4": "I", "<i4": "i", "<i8": "q", "<f8": "d"}


@dataclass(frozen=True, slots=True)
class Array:
    """Numbers in row order, and their type code as in the module `array`."""

    shape: tuple[int, ...]
    numbers: Sequence[Any]
    kind: str

    def row(self, index: int) -> Sequence[Any]:
        """One row of a table."""
        width = self.shape[1]
        return self.numbers[index * width : (index + 1) * width]


@contextlib.contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Turns any error that reading a damaged or hostile file raises into a one-line error."""
    try:
        yield
    except OSError as error:
        raise FileFormatError(f"expected a readable file, got {path}: {error.strerror or error}") from error
    except FileFormatError as error:
        raise FileFormatError(f"expected {path} as flipproof writes it, got: {error}") from error
    except Exception as error:
        reason = "".join(letter if letter.isprintable() else " " for letter in f"{type(error).__name__}: {error}"[:150])
        raise FileFormatError(f"expected {path} as flipproof writes it, got {reason}") from error


def read_record(path: Path) -> dict[str, Any]:
    """Reads the mapping in a JSON file."""
    with refusing(path), _file(path) as stream:
        return parsed(stream.read(_MOST_JSON + 1))


def _file(path: Path) -> BufferedReader:
    """Opens regular files only: a pipe might never end, and a link may lead anywhere."""
    if path.is_symlink():
        raise FileFormatError("a link; put the file itself in its place")
    if path.exists() and not path.is_file():
        raise FileFormatError("a folder, a pipe or a device, no file")
    return open(path, "rb")


def parsed(text: bytes) -> dict[str, Any]:
    """Parses a mapping from UTF-8 JSON text; refuses NaN, infinities, duplicate names and unprintable characters."""
    if len(text) > _MOST_JSON:
        raise FileFormatError(f"more than {_MOST_JSON} bytes of JSON")
    record = json.loads(
        text.decode("utf-8"), parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_without_doubles
    )
    if not isinstance(record, dict):
        raise FileFormatError("JSON that is no mapping")
    if not all(text.isprintable() for text in _texts(record)):  # lone surrogates are not printable either
        raise FileFormatError("letters that are none")
    return record


def _texts(value: Any) -> Iterator[str]:
    """All strings in a JSON value, which must not be nested too deeply."""
    level = [value]
    for _ in range(_DEEPEST + 1):
        yield from (each for each in level if isinstance(each, str))
        level = [part for each in level for part in _parts(each)]
    if level:
        raise FileFormatError(f"values that are nested more than {_DEEPEST} deep")


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return (*value, *value.values())
    return value if isinstance(value, list) else ()


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise FileFormatError("a number that is too large")
    return number


def _no_number(name: str) -> None:
    raise FileFormatError(f"{name}, which is no number")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise FileFormatError("a name that is there twice")
    return record


@dataclass(frozen=True, slots=True)
class Archive:
    """An open npz file; it is refused unless every member is examined."""

    zip: zipfile.ZipFile

    def has(self, name: str) -> bool:
        """Whether there is an array of this name."""
        return f"{name}.npy" in self.zip.namelist()

    def check_members(self, names: Iterable[str], optional: Iterable[str] = ()) -> None:
        """Refuses all members but these arrays and a description; numpy would also read a member "x" as array "x"."""
        found, expected = self.zip.namelist(), {_DESCRIPTION, *(f"{name}.npy" for name in names)}
        if len(set(found)) < len(found):
            raise FileFormatError("a member that is there twice")
        for name in sorted(expected.symmetric_difference(found) - {f"{name}.npy" for name in optional}):
            raise FileFormatError(f"no {name}" if name in expected else f"an unknown member {name[:60]!r}")

    def description(self) -> dict[str, Any]:
        """The file's description of itself."""
        with self._opened(_DESCRIPTION) as stream:
            text = stream.read(_MOST_DESCRIPTION + 1)
        if len(text) > _MOST_DESCRIPTION:
            raise FileFormatError(f"a description of more than {_MOST_DESCRIPTION} bytes")
        return parsed(text)

    def array(self, name: str) -> Array:
        """One of the arrays."""
        with self._opened(f"{name}.npy") as stream:
            shape, typecode = _header(stream)
            numbers = array(typecode)
            size = math.prod(shape) * numbers.itemsize
            if size > self.zip.getinfo(f"{name}.npy").file_size:
                raise FileFormatError(f"the array {name} of {size} bytes, which are not there")
            content = stream.read(size + 1)
        if len(content) != size:
            raise FileFormatError(f"the array {name} with another number of bytes than its shape has")
        numbers.frombytes(content)
        if sys.byteorder == "big":
            numbers.byteswap()
        return Array(shape, numbers, typecode)

    def _opened(self, file: str) -> IO[bytes]:
        try:
            return self.zip.open(file)
        except KeyError:
            raise FileFormatError(f"no {file}") from None


@contextlib.contextmanager
def reading_archive(path: Path) -> Iterator[Archive]:
    """Opens an npz file, unless it would unpack to far more than its own size."""
    with refusing(path), _file(path) as stream, zipfile.ZipFile(stream) as archive:
        size = os.fstat(stream.fileno()).st_size
        unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > max(_MOST_UNPACKED, _MOST_TIMES * size):
            raise FileFormatError(f"{size:,} bytes that unpack to {unpacked:,}")
        if any(each.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for each in archive.infolist()):
            raise FileFormatError("members compressed in another way")  # decompressing those may take gigabytes
        if archive.comment or min((member.header_offset for member in archive.infolist()), default=0):
            raise FileFormatError("more than its members")
        yield Archive(archive)


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], str]:
    """The shape and type of the numbers that follow, from numpy's header."""
    start = stream.read(10)
    if len(start) != 10 or start[:8] != b"\x93NUMPY\x01\x00":
        raise FileFormatError("an array of another format")
    found = _HEADER.fullmatch(stream.read(int.from_bytes(start[8:], "little")))
    if not found or found[1].decode() not in _TYPECODES:
        raise FileFormatError("an array of another type")
    return tuple(int(length) for length in found[2].split(b",") if length.strip()), _TYPECODES[found[1].decode()]


def sha256_of(path: Path) -> str:
    """The SHA-256 hash of a file."""
    with refusing(path), _file(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
