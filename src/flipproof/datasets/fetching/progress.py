"""A line that shows how far a download has come. Only in a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress_of(name: str, seen: int) -> Iterator[Callable[[int, int | None], None]]:
    """Gives a function to be told how many bytes are there, and of how many."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda there, of: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn(name), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=None, completed=seen)
        yield lambda there, of: progress.update(task, completed=there, total=of)
