"""Checkpoints: files of the votes of a run. They survive a kill at any moment; their samples are never drawn again."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import time
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from flipproof.errors import FileFormatError, FlipproofError, InvalidInputError, OutputError, reason_of
from flipproof.files.whole import cannot_write, checked_path, is_still_at, opened, replacing, take_lock
from flipproof.smoothing.fingerprint.identity import run_differences
from flipproof.smoothing.run import versions
from flipproof.smoothing.voting.checkpoint_records import (
    FIRST_LINE,
    began_with,
    framed,
    identity_record,
    read_identity,
    read_vote_counts,
    vote_counts_record,
)
from flipproof.smoothing.voting.drawn_samples import Source, merged_sources
from flipproof.smoothing.voting.vote_counts import VoteCounts

COMPACT_ABOVE = 64 * 2**20
"""A journal may grow to this many bytes (or to four times its content) before it is rewritten."""

_NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)  # some network file systems have none
_SECONDS_BETWEEN_SYNCS = 1.0


class CheckpointMismatchError(InvalidInputError):
    """A checkpoint belongs to another run than the one that opens it."""


class Checkpoint:
    """The samples that a run has seen and their votes, in memory and on disk.

    Nothing is lost when the process is killed. When the machine stops, votes may be lost that were added since the
    last time the file was synced to the disk: `add` syncs once a second has passed since, `close` always.

    Example:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = Path(folder.name) / "run.ckpt"
        >>> with Checkpoint.open(path, {"seed": 0}) as checkpoint:
        ...     checkpoint.add(VoteCounts.of("estimate", range(0, 10), [[9, 1]]))
        >>> with Checkpoint.open(path, {"seed": 0}) as checkpoint:
        ...     checkpoint.vote_counts.estimate.samples.missing(range(0, 30))
        (range(10, 30),)
        >>> Checkpoint.open(path, {"seed": 7})
        Traceback (most recent call last):
            ...
        flipproof.smoothing.voting.checkpoint.CheckpointMismatchError: expected the checkpoint ... seed 0 instead of 7
        >>> folder.cleanup()
    """

    def __init__(self, path: Path, descriptor: int, identity: bytes) -> None:
        """Use `Checkpoint.open`."""
        self._path = path
        self._descriptor: int | None = descriptor
        self._identity = identity
        self._vote_counts: VoteCounts | None = None
        self._sources: tuple[Source, ...] = ()
        self._size = self._compacted = 0
        self._synced = time.monotonic()

    @classmethod
    def open(cls, path: str | os.PathLike[str], identity: Mapping[str, Any]) -> Checkpoint:
        """Makes the file, or continues with the votes in it; nobody else can open it until it is closed.

        Anything that a crash left behind the last whole record is dropped.

        Args:
            path: the path of the file. The file need not exist, but its folder must.
            identity: everything that the votes depend on, as JSON values. An existing file must have the same identity.

        Raises:
            CheckpointMismatchError: the file belongs to another run; the message says what differs.
            FileFormatError: the file is something else, or damaged in a way that no crash explains.
            OutputError: the file cannot be written, or another process is writing it.
        """
        body = identity_record(identity)
        target = Path(os.path.realpath(checked_path(path)))
        is_new = not target.exists()
        checkpoint = cls(target, _open_locked(target), body)
        try:
            checkpoint._restore()
        except BaseException:
            if is_new and os.fstat(checkpoint._opened()).st_size == 0:
                with contextlib.suppress(OSError):
                    os.unlink(target)
            checkpoint._let_go()
            raise
        _OPEN.add(checkpoint)
        return checkpoint

    @property
    def vote_counts(self) -> VoteCounts | None:
        """All votes added so far, by this process or an earlier one; None if there are none."""
        return self._vote_counts

    @property
    def sources(self) -> tuple[Source, ...]:
        """Which of these samples were drawn with which versions."""
        return self._sources

    def add(self, vote_counts: VoteCounts, drawn_with: Mapping[str, str] | None = None) -> None:
        """Adds the votes of further samples, in memory and on disk, or raises and changes neither.

        Args:
            vote_counts: the votes.
            drawn_with: the versions that they were drawn with; by default the versions of this process.
        """
        merged = vote_counts if self._vote_counts is None else self._vote_counts.merged(vote_counts)
        if not vote_counts:
            return
        source = Source(
            versions() if drawn_with is None else drawn_with, vote_counts.select.samples, vote_counts.estimate.samples
        )
        sources = merged_sources((*self._sources, source))
        record = framed(vote_counts_record(vote_counts, (source,)))
        if self._size + len(record) > max(COMPACT_ABOVE, 4 * self._compacted):
            self._rewrite(merged, sources)
        else:
            self._append(record, merged, sources)

    def close(self) -> None:
        """Syncs the file to the disk, and lets other processes open it."""
        if self._descriptor is None:
            return
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise cannot_write(self._path, error) from error
        finally:
            self._let_go()

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _restore(self) -> None:
        """Takes over the votes in the file, and rewrites the file unless it is tidy already."""
        with open(self._opened(), "rb", closefd=False) as stream:
            vote_counts, sources, tidy = self._read(stream)
            end = stream.tell()
        if tidy:
            self._vote_counts, self._sources, self._size, self._compacted = vote_counts, sources, end, end
        else:
            self._rewrite(vote_counts, sources)

    def _read(self, stream: IO[bytes]) -> tuple[VoteCounts | None, tuple[Source, ...], bool]:
        """The sum of all vote counts, its sources, and whether the file is tidy: one record per portion, no more."""
        with _refusing(self._path):
            found = read_identity(stream)
            if found is None:
                return None, (), False
            differences = run_differences(found, json.loads(self._identity), lambda: began_with(stream))
        if differences:
            raise CheckpointMismatchError(
                f"expected the checkpoint of this run, got {self._path.name} of another: {differences}"
            )
        with _refusing(self._path):
            vote_counts, sources, records = read_vote_counts(stream)
            portions = 0 if vote_counts is None else sum(1 for _ in vote_counts.pieces())
            return vote_counts, sources, records == portions and stream.tell() == os.fstat(stream.fileno()).st_size

    def _append(self, record: bytes, merged: VoteCounts, sources: tuple[Source, ...]) -> None:
        """Adds a record to the file. If anything stops the write half-way, the next write begins at the same place."""
        descriptor = self._opened()
        try:
            os.lseek(descriptor, self._size, os.SEEK_SET)
            _write_all(descriptor, record)
            self._sync_now_and_then(descriptor)
            self._vote_counts, self._sources, self._size = merged, sources, self._size + len(record)
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, self._size)
            if isinstance(error, OSError):
                raise cannot_write(self._path, error) from error
            raise

    def _sync_now_and_then(self, descriptor: int) -> None:
        now = time.monotonic()
        if now - self._synced >= _SECONDS_BETWEEN_SYNCS:
            os.fsync(descriptor)
            self._synced = now

    def _rewrite(self, vote_counts: VoteCounts | None, sources: tuple[Source, ...]) -> None:
        """Replaces the file by a new one, which is locked before it takes the old one's place."""
        old = self._opened()
        pieces = () if vote_counts is None else vote_counts.pieces()
        content = b"".join(
            [FIRST_LINE, framed(self._identity), *(framed(vote_counts_record(piece, sources)) for piece in pieces)]
        )
        with contextlib.ExitStack() as on_failure:
            with replacing(self._path) as stream:
                stream.write(content)
                new = os.dup(stream.fileno())  # shares the lock with the stream and outlives it
                on_failure.callback(os.close, new)
                _lock(new, self._path)
            on_failure.pop_all()
        self._descriptor, self._size, self._compacted = new, len(content), len(content)
        self._vote_counts, self._sources = vote_counts, sources
        self._synced = time.monotonic()
        os.close(old)

    def _opened(self) -> int:
        if self._descriptor is None:
            raise InvalidInputError("expected an open checkpoint, got one that is closed")
        return self._descriptor

    def _let_go(self) -> None:
        _OPEN.discard(self)
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)


def peek_identity(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The identity of the run that a checkpoint belongs to, without locking or changing the file.

    None if there is no such file, or a folder in its place, or a file that a crash has cut off before its identity was
    written. Anything else that is no checkpoint is refused with a `FileFormatError`.
    """
    target = checked_path(path)
    with _refusing(target):
        try:
            with opened(target) as stream:
                return read_identity(stream)
        except (FileNotFoundError, IsADirectoryError):
            return None


_OPEN: weakref.WeakSet[Checkpoint] = weakref.WeakSet()


def _let_go_of_all() -> None:
    """Closes all checkpoints in a process that the user forks: it would keep the lock of a parent that was killed."""
    for checkpoint in tuple(_OPEN):
        checkpoint._let_go()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_of_all)


def _open_locked(target: Path) -> int:
    """The descriptor of the locked file; a new file is empty."""
    if target.exists() and not target.is_file():
        raise OutputError(f"expected a file to write, got {target}, which is something else")
    while True:
        try:
            descriptor = os.open(target, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            raise cannot_write(target, error) from error
        try:
            _lock(descriptor, target)
            if is_still_at(descriptor, target):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _lock(descriptor: int, target: Path) -> None:
    try:
        take_lock(descriptor)
    except BlockingIOError:
        raise OutputError(f"expected {target} to be free, got a checkpoint that another process is writing") from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise cannot_write(target, error) from error


def _write_all(descriptor: int, content: bytes) -> None:
    """Writes everything: at once, unless the system takes only a part (more than 2 GiB, or an almost full disk)."""
    written = os.write(descriptor, content)
    while written < len(content):
        written += os.write(descriptor, memoryview(content)[written:])


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turns every exception that a damaged or hostile file causes in the parsers into an error of one line."""
    try:
        yield
    except OSError as error:
        raise FileFormatError(f"expected a readable checkpoint, got {path}: {error.strerror or error}") from error
    except FlipproofError as error:
        raise FileFormatError(f"expected a checkpoint written by flipproof, got {path}: {error}") from error
    except Exception as error:
        raise FileFormatError(f"expected a checkpoint written by flipproof, got {path} ({reason_of(error)})") from error
