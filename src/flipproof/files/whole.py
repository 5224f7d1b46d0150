"""Reading regular files only, writing files whole or not at all, and locking them for one process at a time."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from flipproof.errors import InvalidInputError, OutputError

MOST_BYTES = 2**34
"""No file that is read as a whole, and no array in one, may have more."""
_MOST_UNPACKED, _MOST_TIMES = 2**26, 100

_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""For `open`: a pipe that nobody writes to is not waited for."""

_TEMPORARY = (".flipproof-", ".part")
"""How the names of temporary files begin and end."""


def checked_path(path: Any) -> Path:
    """Returns the path of a file, or says what was given instead."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidInputError(f"expected the path of a file, got {path!r}")
    if "\0" in str(path):
        raise InvalidInputError(f"expected the path of a file, got {path!r}, which has a null character")
    return Path(path)


def opened(path: str | os.PathLike[str]) -> IO[bytes]:
    """Opens a file for reading. Folders, pipes and devices, which may never end, raise an `OSError`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _NO_WAIT)
    except ValueError as error:  # a NUL in the path
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT)) from error
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, "it is a pipe or a device, no file")


def read_whole(path: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """The content of a file; one with more than `most` bytes raises an `OSError`."""
    with opened(path) as stream:
        if os.fstat(stream.fileno()).st_size > most:
            raise OSError(errno.EFBIG, f"it has more than {most:,} bytes")
        return stream.read()


def is_bomb(unpacked: int, packed: int) -> bool:
    """Whether something unpacks to far more bytes than it takes: what flipproof writes does not.

    Example:
        >>> is_bomb(10**7, 10**4), is_bomb(10**9, 10**6)
        (False, True)
    """
    return unpacked > max(_MOST_UNPACKED, _MOST_TIMES * packed)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A temporary file beside `path` that takes its place on success and disappears on failure.

    Links are followed; a target that is there but is no file (a folder, a device) is refused.
    """
    given = checked_path(path)
    target = Path(os.path.realpath(given))
    if any(map(given.is_relative_to, ("/dev", "/proc"))) and not given.is_relative_to("/dev/shm"):
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
    """Removes temporary files of processes that were killed. Nobody may be writing in the folder."""
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


try:
    import fcntl
except ImportError:  # not on Windows, where two processes on one file are not noticed
    fcntl = None  # type: ignore[assignment]  # a module or nothing


def take_lock(descriptor: int) -> bool:
    """Locks an open file for this process without waiting. Returns False on a system that has no locks.

    Raises:
        BlockingIOError: another process holds the lock.
        OSError: the lock cannot be had, as on some network file systems.
    """
    if fcntl is None:
        return False
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True


def is_still_at(descriptor: int, path: Path) -> bool:
    """Whether an open file still has this name: another process may have moved or replaced it meanwhile."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
