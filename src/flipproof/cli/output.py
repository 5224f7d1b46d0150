"""Where the program prints: terminals that are narrow or lack letters, full disks, broken pipes.

It imports nothing heavy, because `--help` goes through it.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from flipproof.errors import FlipproofError, FlipproofWarning, InvalidInputError, OutputError


def columns_that_fit(cell: int) -> int:
    """The number of columns of `cell` characters that fit in the terminal, from 2 to 13; in a file, 13."""
    if sys.stdout is None or not sys.stdout.isatty():
        return 13
    return max(2, min(13, (shutil.get_terminal_size().columns - 17) // (cell + 3)))


def up_to(count: int, name: str) -> range:
    """The counts from 0 to a number from the command line."""
    if count < 0:
        raise InvalidInputError(f"expected {name} to be a non-negative integer, got {count}")
    return range(1 + count)


def print_table(title: str, deletes: Iterable[int], rows: Iterable[tuple[int, Sequence[str]]]) -> None:
    """A table over additions (down) and deletions (across) with a title above."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("add \\ delete", style="bold", justify="right")
    for count in deletes:
        table.add_column(str(count), justify="right")
    for add, cells in rows:
        table.add_row(str(add), *cells)
    out = Console(highlight=False, width=100_000)  # a number must never be cut to fit
    out.print(title, style="bold")
    out.print(table)


def say(line: str) -> None:
    """Prints one line about the program to stderr; an error in doing so is ignored."""
    with contextlib.suppress(OSError):
        print(f"flipproof: {' '.join(line.split())}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def careful_output() -> Iterator[None]:
    r"""A context in which printing never fails on a letter, and warnings take one line.

    Letters that stdout or stderr lack become \u escapes.

    Raises:
        OutputError: if stdout takes no more; the work of the program is done all the same.
        BrokenPipeError: if nobody reads stdout any more.
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
    """A file that raises `OutputError` once when it takes no more, and ignores what is written afterwards."""

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
    """A second stream to the same file, with the same settings, that checks what it writes."""
    return io.TextIOWrapper(
        io.BufferedWriter(_CheckedFile(os.dup(stream.fileno()), "w")),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _formatted_by(others: Any) -> Any:
    """Formats our warnings like the other lines of the program, and those of other packages as before."""

    def formatted(message: Any, category: type[Warning], *details: Any, **more: Any) -> str:
        if issubclass(category, FlipproofWarning):
            return f"flipproof: {message}\n"
        return str(others(message, category, *details, **more))

    return formatted


@contextlib.contextmanager
def interruptible(then: str) -> Iterator[None]:
    """A context that tells the user after Ctrl-C what became of the work."""
    try:
        yield
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):
            print(f"\nflipproof: interrupted; {then}", file=sys.stderr, flush=True)
        raise
