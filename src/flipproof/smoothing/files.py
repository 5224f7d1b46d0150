"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from flipproof.errors import InvalidInputError, OutputError

_TEMPORARY = (".flipproof-", ".part")
"""How the names of temporary files begin and end."""


def checked_path(path: Any) -> Path:
    """Returns the path of a file, or says what was given instead."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidInputError(f"expected the path of a file, got {path!r}")
    return Path(path)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A temporary file beside `path` that takes its place on success and disappears on failure.

    Links are followed; a target that is there but is no file (a folder, a device) is refused.
    """
    given = checked_path(path)
    target = Path(os.path.realpath(given))
    if given.is_relative_to("/dev") or given.is_relative_to("/proc"):
        raise OutputError(f"expected a file to write, got {given}, which is something else")
    if target.exists() and not target.is_file():
        raise OutputError(f"expected a file to write, got {target}, which is something else")
    try:
        handle, name = tempfile.mkstemp(prefix=_TEMPORARY[0], suffix=_TEMPORARY[1], dir=target.parent)
    except OSError as error:
        raise cannot_write(target, error) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        if isinstance(error, OSError):
            raise cannot_write(target, error) from error
        raise
    _sync_folder(target.parent)


def remove_leftovers(folder: Path) -> None:
    """Takes away the temporary files of processes that were killed. Nobody may be writing in the folder."""
    for leftover in folder.glob("*".join(_TEMPORARY)):
        with contextlib.suppress(OSError):
            leftover.unlink()


def make_folder(path: Path) -> None:
    """Makes a folder, and those it is in, if it is not there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(target: Path, error: OSError) -> OutputError:
    """The one line that says why a file cannot be written."""
    return OutputError(f"expected to be able to write {target}, got: {error.strerror or error}")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Makes the rename itself durable; not every file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
