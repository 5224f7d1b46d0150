"""The lines of a user's own text file. They may hold anything, so lengths are checked before they are kept."""

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
    """The lines of a file in UTF-8; whatever is wrong, found here or inside, is a `FileFormatError` with the path."""
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
    """Refuses a path where there is no file, or something that is none: a pipe would never end."""
    try:
        there = path.exists()
    except (OSError, ValueError):  # too long, or with a character that no path has
        there = False
    if not there:
        raise FileFormatError(f"expected a readable {noun}, got {path}: {os.strerror(errno.ENOENT)}")
    if not path.is_file():
        raise FileFormatError(f"expected a readable {noun}, got {path}, which is no file")


def _lines(stream: IO[bytes]) -> Iterator[str]:
    """Lines with their ends."""
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
