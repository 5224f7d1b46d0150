"""Files of arrays: a zip that numpy can open, with a JSON description. Never a pickle.

The same contents give the same bytes, so files can be compared by hash. What is read is checked before anything is
allocated for it, because files come from elsewhere.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from flipproof.errors import FileFormatError, FlipproofError, reason_of
from flipproof.files.strict_json import FileKind, json_value
from flipproof.files.whole import MOST_BYTES, checked_path, is_bomb, opened, replacing

_DESCRIPTION = "metadata.json"
_LONGEST_DESCRIPTION = 2**24
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
_KINDS = "biufU"
_LEVEL, _MOST_TIMES = 1, 32


@dataclass(frozen=True, slots=True)
class ArrayArchive:
    """An open file of arrays."""

    zip: zipfile.ZipFile
    description: dict[str, Any]

    def has(self, name: str) -> bool:
        """Whether there is an array of this name."""
        return f"{name}.npy" in self.zip.namelist()

    def array(self, name: str) -> NDArray[Any]:
        """One of the arrays."""
        return read_array(self.zip, name)


def write_archive(
    path: str | os.PathLike[str], kind: FileKind, description: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Writes the file, whole or not at all."""
    whole = {"format": kind.format, "version": kind.version, **description}
    with replacing(path) as stream, zipfile.ZipFile(stream, "w") as archive:
        _add(archive, _DESCRIPTION, json.dumps(whole, indent=1).encode())
        for name, array in arrays.items():
            _add(archive, f"{name}.npy", _npy_bytes(array))


@contextlib.contextmanager
def reading_archive(path: str | os.PathLike[str], kind: FileKind, whole: bool = True) -> Iterator[ArrayArchive]:
    """The open file. Whatever is wrong with it, found here or inside the block, becomes a `FileFormatError`.

    Members and fields that the reader does not ask for are an error too, since numpy and others might read them;
    `whole=False` is for readers of a part.
    """
    path = checked_path(path)
    try:
        with opened(path) as stream, _WatchedZip(stream) as archive:
            description = _WatchedDict(_read_description(archive, kind))
            yield ArrayArchive(archive, description)
            if whole:
                _check_all_asked(archive, description)
    except OSError as error:
        raise FileFormatError(f"expected a readable {kind.noun}, got {path}: {error.strerror or error}") from error
    except FlipproofError as error:
        raise FileFormatError(f"expected a {kind.noun} written by flipproof, got {path}: {error}") from error
    except Exception as error:  # whatever a damaged or hostile file makes the parsers raise
        raise FileFormatError(
            f"expected a {kind.noun} written by flipproof, got {path} ({reason_of(error)})"
        ) from error


class _WatchedZip(zipfile.ZipFile):
    """A zip file that knows which of its members were opened."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.asked: set[str] = set()
        super().__init__(stream)

    def open(self, name: Any, *arguments: Any, **options: Any) -> IO[bytes]:
        self.asked.add(getattr(name, "filename", name))
        return super().open(name, *arguments, **options)


class _WatchedDict(dict[str, Any]):
    """A description that knows which of its fields were asked for."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        super().__init__(fields)
        self.asked = {"format", "version"}

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.asked.add(name)
        return super().get(name, default)


def _check_all_asked(archive: _WatchedZip, description: _WatchedDict) -> None:
    for what, there, asked in (
        ("member", archive.namelist(), archive.asked),
        ("field", list(description), description.asked),
    ):
        unknown = [name for name in there if name not in asked]
        if unknown:
            raise FileFormatError(f"it has an unknown {what} {unknown[0][:40]!r}")


def read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """One array of an npz file. Refuses objects, whatever a pickle in their place would do.

    Example:
        >>> file = io.BytesIO()
        >>> np.savez(file, labels=[0, 1])
        >>> read_array(zipfile.ZipFile(file), "labels")
        array([0, 1])
    """
    if f"{name}.npy" not in archive.namelist():
        raise FileFormatError(f"it has no array {name}")
    member = plain_member(archive, f"{name}.npy")
    with archive.open(member) as stream:
        shape, dtype = _read_header(stream, name)
        promised = math.prod(map(int, shape)) * dtype.itemsize
        if not 0 <= promised <= MOST_BYTES or stream.tell() + promised != member.file_size:
            raise FileFormatError(f"{name} promises {promised} bytes and holds {member.file_size - stream.tell()}")
        content = stream.read(promised)
    if len(content) != promised:
        raise FileFormatError(f"{name} is cut short")
    return np.frombuffer(content, dtype).reshape(shape)


def plain_member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """A member that occurs once, is stored or deflated, and is no bomb: any other could fill the memory."""
    if archive.namelist().count(name) > 1:
        raise FileFormatError(f"it has {name} twice")
    member = archive.getinfo(name)
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise FileFormatError(f"{name} is compressed in a way that flipproof does not read")
    if is_bomb(member.file_size, min(member.compress_size, archive.start_dir)):  # what it takes is before the directory
        raise FileFormatError(f"{name} unpacks to {member.file_size:,} bytes, far more than are in the file")
    return member


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    member = zipfile.ZipInfo(name, _ZIP_EPOCH)
    if len(content) <= _MOST_TIMES * len(zlib.compress(content, level=_LEVEL)):  # else it would look like a bomb
        member.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(member, content, compresslevel=_LEVEL)


def _npy_bytes(array: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    npy.write_array(stream, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def _read_description(archive: zipfile.ZipFile, kind: FileKind) -> dict[str, Any]:
    if _DESCRIPTION not in archive.namelist():
        raise FileFormatError(f"it has no description{kind.hint}")
    with archive.open(plain_member(archive, _DESCRIPTION)) as stream:
        text = stream.read(_LONGEST_DESCRIPTION + 1)
    if len(text) > _LONGEST_DESCRIPTION:
        raise FileFormatError(f"its description is longer than {_LONGEST_DESCRIPTION} bytes")
    description = json_value(text)
    if not isinstance(description, dict) or description.get("format") != kind.format:
        raise FileFormatError(f"its description does not say {kind.format}")
    if type(description.get("version")) is not int or description["version"] not in (kind.version, *kind.also):
        raise FileFormatError(f"it has version {description.get('version')!r}, this flipproof reads {kind.version}")
    return description


def _read_header(stream: IO[bytes], name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    try:
        version = npy.read_magic(stream)
        shape, column_major, dtype = npy.read_array_header_1_0(stream)
    except Exception as error:  # numpy hands on whatever Python's tokenizer and parser make of the header
        raise FileFormatError(f"{name} is not an array ({type(error).__name__})") from error
    if dtype.hasobject:
        raise FileFormatError(f"{name} holds Python objects, which are never unpickled")
    if version != (1, 0) or column_major or dtype.kind not in _KINDS or any(length < 0 for length in shape):
        raise FileFormatError(f"{name} is not an array of numbers or words but {dtype} of shape {shape}")
    return shape, dtype
