"""The votes file: a zip of two arrays that numpy can open and a JSON description. Never a pickle.

The same votes of the same run give the same bytes, so files can be compared by hash.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy

from flipproof.errors import FileFormatError, FlipproofError
from flipproof.smoothing.files import checked_path, replacing
from flipproof.smoothing.noise_record import noise_from_record, noise_record
from flipproof.smoothing.run import Run
from flipproof.theory.arrays import IntArray

if TYPE_CHECKING:
    from flipproof.smoothing.votes import Votes

FORMAT = "flipproof-votes"
VERSION = 1
_DESCRIPTION = "metadata.json"
_LONGEST_DESCRIPTION = 2**20
_MOST_COUNTS = 2**31
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_votes(votes: Votes, path: str | os.PathLike[str]) -> None:
    """Writes the file atomically."""
    description = {
        "format": FORMAT,
        "version": VERSION,
        "noise": noise_record(votes.noise),
        "n_select": votes.n_select,
        "n_estimate": votes.n_estimate,
        "run": None if votes.run is None else votes.run.to_record(),
    }
    with replacing(path) as stream, zipfile.ZipFile(stream, "w") as archive:
        _add(archive, _DESCRIPTION, json.dumps(description, indent=1).encode())
        for role in ("selection", "estimation"):
            _add(archive, f"{role}.npy", _npy_bytes(getattr(votes, role)))


def read_votes(path: str | os.PathLike[str]) -> Votes:
    """Reads and checks a file written by `write_votes`."""
    from flipproof.smoothing.votes import Votes

    path = checked_path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(archive)
            description = _read_description(archive)
            return Votes(
                selection=_read_counts(archive, "selection.npy"),
                estimation=_read_counts(archive, "estimation.npy"),
                noise=noise_from_record(description["noise"]),
                n_select=description["n_select"],
                n_estimate=description["n_estimate"],
                run=None if description.get("run") is None else Run.from_record(description["run"]),
            )
    except OSError as error:
        raise FileFormatError(f"expected a readable votes file, got {path}: {error.strerror or error}") from error
    except FlipproofError as error:
        raise FileFormatError(f"expected a votes file written by flipproof, got {path}: {error}") from error
    except Exception as error:  # whatever a damaged or hostile file makes the parsers raise
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise FileFormatError(f"expected a votes file written by flipproof, got {path} ({reason})") from error


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    member = zipfile.ZipInfo(name, _ZIP_EPOCH)
    member.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(member, content, compresslevel=1)


def _npy_bytes(counts: IntArray) -> bytes:
    small = counts.max(initial=0) < 2**32
    stream = io.BytesIO()
    npy.write_array(stream, counts.astype("<u4" if small else "<i8"), version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def _check_members(archive: zipfile.ZipFile) -> None:
    for member in archive.infolist():
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileFormatError(f"{member.filename} is compressed in a way that flipproof does not write")


def _read_description(archive: zipfile.ZipFile) -> dict[str, Any]:
    if archive.getinfo(_DESCRIPTION).file_size > _LONGEST_DESCRIPTION:
        raise FileFormatError(f"its description is longer than {_LONGEST_DESCRIPTION} bytes")
    description = json.loads(archive.read(_DESCRIPTION))
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise FileFormatError(f"its description does not say {FORMAT}")
    if type(description.get("version")) is not int or description["version"] != VERSION:
        raise FileFormatError(f"it has version {description.get('version')!r}, this flipproof reads {VERSION}")
    return description


def _read_counts(archive: zipfile.ZipFile, name: str) -> IntArray:
    """Checks the header before anything is allocated for the data."""
    size = archive.getinfo(name).file_size
    with archive.open(name) as stream:
        shape, dtype = _read_header(stream, name)
        numbers = int(shape[0]) * int(shape[1])
        if not 0 <= numbers <= _MOST_COUNTS or stream.tell() + numbers * dtype.itemsize != size:
            raise FileFormatError(f"{name} promises {numbers} counts and holds {size} bytes")
        return np.frombuffer(stream.read(numbers * dtype.itemsize), dtype).reshape(shape)


def _read_header(stream: IO[bytes], name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    try:
        version = npy.read_magic(stream)
        shape, column_major, dtype = npy.read_array_header_1_0(stream)
    except Exception as error:  # numpy hands on whatever Python's tokenizer and parser make of the header
        raise FileFormatError(f"{name} is not an array ({type(error).__name__})") from error
    if version != (1, 0) or column_major or dtype.str not in ("<u4", "<i8") or len(shape) != 2:
        raise FileFormatError(f"{name} is not a table of counts but {dtype} of shape {shape}")
    return shape, dtype
