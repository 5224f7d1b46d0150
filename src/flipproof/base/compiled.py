"""How the loops of this package are compiled: once, without holding the interpreter lock, and kept on disk.

Each compiled loop is one file, written and readable only by the user whose program runs it. numba's own cache
unpickles, and thereby runs, whatever it finds, and lets every error of the disk through; processes that write at once
may mix up their files. Here a file is read only if it belongs to this user alone and has the checksum with which it was
written. Whatever is wrong, the loop is compiled in memory instead.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import pickle
import stat
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba import config, njit, types
from numba.core.caching import FunctionCache, NullCache
from numba.core.cgutils import create_struct_proxy
from numba.core.serialize import dumps
from numba.extending import intrinsic

from flipproof.base.own_imports import source_of, with_imports
from flipproof.errors import FlipproofError, FlipproofWarning, reason_of

if getattr(config, "DISABLE_JIT", False):  # Python's integers do not wrap around: there would be other noise, or none
    raise FlipproofError("expected loops that numba may compile, got NUMBA_DISABLE_JIT=1; unset it")

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compiles a function of arrays and numbers when it is first called."""
    return _compiled(function, forceinline=False)  # which numba would otherwise take over from a caller


def inlined(function: F) -> F:
    """Compiles a function that is inlined into the loops that call it, and makes no arrays.

    A call would keep the loop around it from being vectorised, and counting references to the arrays it is given took a
    tenth of the time.
    """
    return _compiled(function, forceinline=True, _nrt=False)


def _compiled(function: F, **options: bool) -> F:
    compiler: Any = njit  # whose declared options lack one of ours
    made = compiler(function, nogil=True, **options)
    made._cache = loop_cache(function, loop_stamp(function.__module__))
    return cast("F", made)


@functools.cache
def loop_stamp(module: str) -> str:
    """A hash of the sources that the compiled loops of a module are made of: its own, and all of ours that it imports.

    What is kept of a function holds copies of what it calls, and of constants, from other files. By itself numba looks
    only at the file of the function, and at its time: noise could come from a mixture of two versions. Files that are
    installed from an archive, or written after a clock was set back, may differ and yet have the same time and size.
    """
    ours = sorted(with_imports([module]))
    if not ours:  # somebody else's loop, which may use anything of ours
        return source_stamp()
    contents = [(name, source_of(name)) for name in ours]
    return hashlib.sha256(repr(contents).encode()).hexdigest()


@functools.cache
def source_stamp() -> str:
    """A hash of all files of this package."""
    package, contents = Path(__file__).parents[1], hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        contents.update(f"{file.relative_to(package)} {file.stat().st_size}\n".encode() + file.read_bytes())
    return contents.hexdigest()


def _data_address(_: Any, array: Any) -> Any:
    def instruction(context: Any, builder: Any, __: Any, arguments: Any) -> Any:
        proxy: Any = create_struct_proxy(array)  # type: ignore[no-untyped-call]  # numba has no types there
        data = proxy(context, builder, value=arguments[0]).data
        return builder.ptrtoint(data, context.get_value_type(types.uint64))

    return types.uint64(array), instruction


data_address: Any = intrinsic(_data_address)
"""Where the numbers of an array begin. `array.ctypes.data` would count a reference, which is slow in a loop.

An address does not keep an array alive: a loop that uses one must also use the array by its name later on.
"""


def _never_inlined(_: Any) -> Any:
    def instruction(context: Any, builder: Any, __: Any, ___: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), instruction


never_inlined: Any = intrinsic(_never_inlined)
"""Keeps the function in which it is called apart from its callers, so that it has the registers to itself."""


def _fetch_ahead(_: Any, address: Any) -> Any:
    def instruction(context: Any, builder: Any, __: Any, arguments: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        fetch = builder.module.globals.get("llvm.prefetch.p0i8") or ir.Function(
            builder.module, kind, "llvm.prefetch.p0i8"
        )
        first, (reading, keep, data) = builder.inttoptr(arguments[0], byte), (number(0), number(3), number(1))
        for line in range(0, 256, 64):
            builder.call(fetch, [builder.gep(first, [number(line)]), reading, keep, data])
        return context.get_dummy_value()

    return types.void(types.uint64), instruction


fetch_ahead: Any = intrinsic(_fetch_ahead)
"""Asks for the 256 bytes from an address on, which are read a little later; the address need not exist."""


def _lowest_bit(_: Any, bits: Any) -> Any:
    def instruction(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), instruction


lowest_bit: Any = intrinsic(_lowest_bit)
"""The place of the lowest set bit of a 64-bit word; undefined if no bit is set. For compiled loops only."""


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
