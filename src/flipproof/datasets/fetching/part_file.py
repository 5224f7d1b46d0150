"""The part of a download that has arrived so far. One process at a time owns it, and it outlives that process."""

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
"""Flags for `open`: never write a download through a link, and never wait for a pipe."""


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
        """Discards everything that has arrived."""
        self._stream.seek(0)
        self._stream.truncate()
        self.length = 0

    def content(self) -> bytes:
        """Everything that has arrived."""
        self._stream.seek(0)
        return self._stream.read()

    def close(self) -> None:
        """Writes everything that has arrived to disk."""
        self._stream.flush()
        os.fsync(self._stream.fileno())


@contextlib.contextmanager
def open_part(target: Path) -> Iterator[PartFile]:
    """The part file of a target, or a separate one if another process is using it.

    After an error or an interrupt the part file stays to be resumed, unless it is empty or no process would find it.
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
        # Closing the stream releases the lock: unlink first, or the file may belong to another process by then.
        if is_still_at(stream.fileno(), path) and not (resumable and part.length):
            os.unlink(path)
        with contextlib.suppress(OSError):  # writing the block already reported a full disk
            stream.close()


def _locked(path: Path) -> IO[bytes] | None:
    """The file, if no other process holds it, else None. The lock ends with the process, even if that crashes."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _CAREFULLY, 0o644)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no file")
    stream = os.fdopen(descriptor, "a+b")
    try:
        # Without locks the file is ours at once; otherwise the previous holder may have given it its final name.
        if not take_lock(descriptor) or is_still_at(descriptor, path):
            return stream
    except OSError:
        pass
    stream.close()
    return None
