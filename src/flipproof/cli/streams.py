"""What the program prints, on terminals that lack letters, on full disks, and into pipes whose reader has gone."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from flipproof.errors import FlipproofError, FlipproofWarning, OutputError


def say(line: str) -> None:
    """Prints one line about the program itself to stderr; one that cannot take it is no reason to fail."""
    with contextlib.suppress(OSError):
        print(f"flipproof: {' '.join(line.split())}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def careful_output() -> Iterator[None]:
    r"""Inside, everything can be printed: letters that stdout or stderr lack as \u escapes, warnings on one line.

    Raises:
        OutputError: stdout takes no more; what the program has done is done.
        BrokenPipeError: the reader of stdout has gone.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    before, formatted = sys.stdout, warnings.formatwarning
    warnings.formatwarning = _formatted_by(formatted)
    if before is sys.__stdout__ and isinstance(before, io.TextIOWrapper):
        sys.stdout = _checked(before)
    try:
        yield
        _flush()
    finally:
        with contextlib.suppress(OSError, FlipproofError):
            _flush()
        sys.stdout, warnings.formatwarning = before, formatted


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


class _CheckedFile(io.FileIO):
    """A file that says in our words that it takes no more, once: then everything is thrown away."""

    failed = False

    def write(self, content: Any, /) -> int:
        """Writes bytes, as files do."""
        if self.failed:
            return memoryview(content).nbytes
        try:
            return super().write(content)
        except BlockingIOError:
            raise
        except OSError as error:
            self.failed = True
            if error.errno == errno.EPIPE:
                raise
            raise OutputError(f"expected to be able to write to stdout, got: {error.strerror or error}") from error


def _checked(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """Another stream to where a stream writes, with the same settings."""
    return io.TextIOWrapper(
        io.BufferedWriter(_CheckedFile(os.dup(stream.fileno()), "w")),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _formatted_by(others: Any) -> Any:
    """How warnings look: ours like all that the program says, those of other packages as before."""

    def formatted(message: Any, category: type[Warning], *details: Any, **more: Any) -> str:
        if issubclass(category, FlipproofWarning):
            return f"flipproof: {message}\n"
        return str(others(message, category, *details, **more))

    return formatted


@contextlib.contextmanager
def interruptible(then: str) -> Iterator[None]:
    """After Ctrl-C inside, says what became of the work."""
    try:
        yield
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):
            print(f"\nflipproof: interrupted; {then}", file=sys.stderr, flush=True)
        raise
