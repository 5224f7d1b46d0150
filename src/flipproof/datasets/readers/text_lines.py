"""The lines of a user's own text file. A file may hold anything, so the length of a line is checked before use."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from flipproof.errors import FileFormatError, FlipproofError
from flipproof.files.whole import checked_path, opened

_MOST_BYTES = 2**29
_LONGEST_LINE = 2**24
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@contextlib.contextmanager
def reading_lines(path: str | os.PathLike[str], noun: str) -> Iterator[Iterator[str]]:
    """The lines of a UTF-8 file; any problem found here or in the block is a `FileFormatError` with the path."""
    path = checked_path(path)
    check_file(path, noun)
    try:
        with opened(path) as stream:
            size = os.fstat(stream.fileno()).st_size
            if size > _MOST_BYTES:
                raise FileFormatError(f"it has {size:,} bytes, more than {_MOST_BYTES:,}")
            yield _lines(stream)
    except OSError as error:
        raise FileFormatError(f"expected a readable {noun}, got {path}: {error.strerror or error}") from error
    except FlipproofError as error:
        raise FileFormatError(f"expected a {noun}, got {path}: {error}") from error


def check_file(path: Path, noun: str) -> None:
    """Refuses a path without a regular file: reading a pipe, for example, might never end."""
    try:
        there = path.exists()
    except (OSError, ValueError):  # too long, or with a character that no path may have
        there = False
    if not there:
        raise FileFormatError(f"expected a readable {noun}, got {path}: {os.strerror(errno.ENOENT)}")
    if not path.is_file():
        raise FileFormatError(f"expected a readable {noun}, got {path}, which is no file")


def _lines(stream: IO[bytes]) -> Iterator[str]:
    """The lines of a stream, including their line ends."""
    number = 0
    while line := stream.readline(_LONGEST_LINE + 1):
        number += 1
        if len(line) > _LONGEST_LINE:
            raise FileFormatError(f"line {number} is longer than {_LONGEST_LINE:,} bytes")
        if b"\0" in line:
            raise FileFormatError(f"line {number} has a NUL byte, as no text in UTF-8 has")
        try:
            yield (line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line).decode("utf-8")
        except UnicodeDecodeError as error:
            raise FileFormatError(f"line {number} is not UTF-8") from error
