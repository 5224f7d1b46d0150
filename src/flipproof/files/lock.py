"""The lock of a file, which one process can hold at a time. It ends with the process, however that ends."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows, where two processes on one file are not noticed
    fcntl = None  # type: ignore[assignment]


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
    """Whether an open file still has this name: who held its lock before may have moved it or put another there."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
