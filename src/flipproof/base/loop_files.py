"""Compiled loops on disk: one file for each, written and readable only by the user whose program runs them.

numba's own cache unpickles, and thereby runs, whatever it finds, and lets every error of the disk through; processes
that write at once may mix up their files. Here a file is read only if it belongs to this user alone and has the
checksum with which it was written. Whatever is wrong, the loop is compiled in memory instead.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import pickle
import stat
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, NullCache
from numba.core.serialize import dumps

from flipproof.errors import FlipproofWarning, reason_of

_DIGEST = hashlib.sha256().digest_size
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_OLD = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_ADVICE = "make room there, delete the folder, or set NUMBA_CACHE_DIR to another one of your own"
_NOWHERE = "expected a folder to keep compiled loops in, got none that can be written to"


def loop_cache(function: Callable[..., object], stamp: str) -> Any:
    """What numba is to ask for the compiled versions of a function, as they were made from sources with this stamp."""
    try:
        return _KeptLoop(function, stamp)
    except RuntimeError:  # a read-only installation without a home
        return _LoopWithoutFolder()


class _KeptLoop(NullCache):
    """The versions of one function in a folder of this user, below the one that numba would use."""

    def __init__(self, function: Callable[..., object], stamp: str) -> None:
        made: Any = FunctionCache  # which numba has not annotated
        self._numba = made(function)
        self._folder = Path(self._numba.cache_path) / f"flipproof-{_user()}"
        self._numba._cache_file = _LoopFiles(self._folder, self._numba._impl.filename_base, stamp)

    @property
    def cache_path(self) -> str:
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with self._compiling_in_memory():
            return self._numba.load_overload(sig, target_context)

    def save_overload(self, sig: Any, cres: Any) -> None:
        with self._compiling_in_memory():
            self._numba.save_overload(sig, cres)

    @contextlib.contextmanager
    def _compiling_in_memory(self) -> Iterator[None]:
        """Says what is wrong with the files and goes on, whatever the disk, pickle or numba raise."""
        try:
            yield
        except Exception as error:
            _say_once(f"expected to keep compiled loops in {self._folder}, got: {_reason(error)}", _ADVICE)


class _LoopWithoutFolder(NullCache):
    """A function that is compiled anew in every process, because there is nowhere to keep it."""

    def load_overload(self, sig: Any, target_context: Any) -> None:
        _say_once(_NOWHERE, "set NUMBA_CACHE_DIR to a folder of your own")


class _LoopFiles:
    """One file for each version of a function: what it is (a hash), the checksum of the rest, and the rest."""

    def __init__(self, folder: Path, name: str, stamp: str) -> None:
        self._folder, self._name, self._stamp = folder, name, stamp

    def load(self, key: Any) -> Any:
        """The version for a key, or None if there is none of these sources."""
        _check_private(self._folder)
        try:
            content = _read(self._path(key))
        except FileNotFoundError:
            return None
        kind, checksum, rest = content[:_DIGEST], content[_DIGEST : 2 * _DIGEST], content[2 * _DIGEST :]
        if len(content) > 2 * _DIGEST and kind != self._kind(key):
            return None
        if checksum != hashlib.sha256(rest).digest():
            raise OSError(errno.EIO, f"{self._path(key).name} is damaged")
        written_for, version = pickle.loads(rest)
        return version if written_for == key else None

    def save(self, key: Any, version: Any) -> None:
        """Writes a version, whole or not at all."""
        with contextlib.suppress(FileExistsError):
            self._folder.mkdir(mode=0o700)
        _check_private(self._folder)
        rest: bytes = dumps((key, version))  # type: ignore[no-untyped-call]
        _write(self._path(key), self._kind(key) + hashlib.sha256(rest).digest() + rest)

    def _path(self, key: Any) -> Path:
        signature, machine, _ = key
        version = hashlib.sha256(repr((str(signature), machine)).encode()).hexdigest()
        return self._folder / f"{self._name}.{version[:16]}.nbk"

    def _kind(self, key: Any) -> bytes:
        signature, *others = key
        return hashlib.sha256(repr((numba.__version__, self._stamp, str(signature), others)).encode()).digest()


def _read(path: Path) -> bytes:
    with os.fdopen(os.open(path, _OLD), "rb") as stream:
        _check_owner(os.fstat(stream.fileno()), stat.S_ISREG)
        return stream.read()


def _write(path: Path, content: bytes) -> None:
    temporary = path.with_suffix(f".{uuid.uuid4().hex[:16]}.part")
    try:
        with os.fdopen(os.open(temporary, _NEW, 0o600), "wb") as stream:
            stream.write(content)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _user() -> int | None:
    """The number of this user; None on Windows, which has other rights, and where such folders are a user's own."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def _check_private(folder: Path) -> None:
    """Refuses a folder into which somebody else could have put something; one that is not there yet is fine."""
    with contextlib.suppress(FileNotFoundError):
        _check_owner(os.lstat(folder), stat.S_ISDIR)


def _check_owner(status: os.stat_result, is_kind: Callable[[int], bool]) -> None:
    if not is_kind(status.st_mode):
        raise OSError(errno.EINVAL, "it is a link or something else that does not belong there")
    if _user() is None:
        return
    if status.st_uid != _user():
        raise PermissionError(errno.EPERM, "it belongs to another user")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(errno.EPERM, "others may write to it")


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else reason_of(error)


_SAID: list[str] = []
"""What this process has said: once is enough, as it is the same for all loops."""


def _say_once(problem: str, advice: str) -> None:
    if not _SAID:
        _SAID.append(f"{problem}; they are compiled anew in memory; {advice}")
        warnings.warn(_SAID[0], FlipproofWarning, stacklevel=3)
