"""The part of a download that has arrived. It belongs to one process at a time and outlives it."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from flipproof.files.whole import cannot_write, is_still_at, take_lock

_CAREFULLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""For `open`: what is downloaded is not written through a link, and a pipe is not waited for."""


class PartFile:
    """A growing file that can be written to, cleared and read back."""

    def __init__(self, path: Path, stream: IO[bytes], resumable: bool) -> None:
        self.path, self.resumable = path, resumable
        self._stream = stream
        self.length = stream.seek(0, os.SEEK_END)

    def write(self, block: bytes) -> None:
        """Adds a block at the end."""
        try:
            self._stream.write(block)
            self._stream.flush()
        except OSError as error:
            raise cannot_write(self.path, error) from error
        self.length += len(block)

    def clear(self) -> None:
        """Forgets everything that has arrived."""
        self._stream.seek(0)
        self._stream.truncate()
        self.length = 0

    def content(self) -> bytes:
        """Everything that has arrived."""
        self._stream.seek(0)
        return self._stream.read()

    def close(self) -> None:
        """Makes what has arrived durable."""
        self._stream.flush()
        os.fsync(self._stream.fileno())


@contextlib.contextmanager
def open_part(target: Path) -> Iterator[PartFile]:
    """The part file of a target; where another process works on it, one of this process's own.

    It stays after an error or an interrupt, to be resumed, unless nothing is in it or nobody else would find it.
    """
    path = target.with_name(f".{target.name}.part")
    try:
        stream = _locked(path)
        resumable = stream is not None
        if stream is None:
            handle, name = tempfile.mkstemp(prefix=f".{target.name}-", suffix=".part", dir=target.parent)
            stream, path = os.fdopen(handle, "w+b"), Path(name)
            os.chmod(path, 0o644)
    except OSError as error:
        raise cannot_write(path, error) from error
    part = PartFile(path, stream, resumable)
    try:
        yield part
    finally:
        # The lock goes with the stream: unlink before, or a file that is another's by now may be hit.
        if is_still_at(stream.fileno(), path) and not (resumable and part.length):
            os.unlink(path)
        with contextlib.suppress(OSError):  # a full disk was reported when the block was written
            stream.close()


def _locked(path: Path) -> IO[bytes] | None:
    """The file, if no other process holds it. The lock ends with the process, however that ends."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _CAREFULLY, 0o644)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no file")
    stream = os.fdopen(descriptor, "a+b")
    try:
        # Without locks it is this process's at once; else the holder before may have given it its final name.
        if not take_lock(descriptor) or is_still_at(descriptor, path):
            return stream
    except OSError:
        pass
    stream.close()
    return None
