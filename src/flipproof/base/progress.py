"""One line that shows the progress of long work, in a terminal only."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from flipproof.base.values import checked_flag

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, TaskID

_T = TypeVar("_T")

Column = Literal["bar", "count", "samples/s", "left", "time", "elapsed", "bytes", "bytes/s", "percent", "note"]
"""What a line may show after its first words; "time" is the time left, "note" what the last update said."""


@dataclass(frozen=True, slots=True)
class ProgressLine:
    """A progress line in a terminal. Without a terminal, updates do nothing."""

    _shown: tuple[Progress, TaskID] | None = None

    def update(
        self, *, more: int | None = None, done: int | None = None, of: int | None = None, note: str = ""
    ) -> None:
        """Reports how many more are done, or how many are done altogether, and of how many."""
        if self._shown is not None:
            progress, task = self._shown
            progress.update(task, advance=more, completed=done, total=of, note=note)


@contextlib.contextmanager
def progress_line(
    words: str, columns: Sequence[Column], of: int | None = None, done: int = 0, show: bool = True
) -> Iterator[ProgressLine]:
    """Shows a progress line inside the block, and removes it afterwards.

    Args:
        words: what the line begins with.
        columns: what it shows after that.
        of: how many there are to do, if that is known.
        done: how many of them are done already.
        show: the `progress` argument of the function that takes long.
    """
    if not checked_flag(show, "progress") or sys.stderr is None or not sys.stderr.isatty():
        yield ProgressLine()
        return
    with _rich_progress(columns) as progress:
        yield ProgressLine((progress, progress.add_task(words, total=of, completed=done, note="")))


def one_by_one(items: Sequence[_T], words: str, show: bool) -> Iterator[_T]:
    """Iterates over items that take long, and shows a bar with the time left."""
    with progress_line(words, ("bar", "count", "left", "time"), of=len(items), show=show) as line:
        for item in items:
            yield item
            line.update(more=1)


def _rich_progress(columns: Sequence[Column]) -> Progress:
    """A live display on stderr: the words of the line, then the columns."""
    from rich import console, progress, text  # slow to load, and needed in a terminal only

    class Rate(progress.TextColumn):
        def render(self, task: progress.Task) -> text.Text:
            return text.Text(f"{task.speed:,.0f} samples/s" if task.speed else "", style="progress.data.speed")

    known: dict[Column, ProgressColumn] = {
        "bar": progress.BarColumn(),
        "count": progress.MofNCompleteColumn(),
        "samples/s": Rate(""),
        "left": progress.TextColumn("left"),
        "time": progress.TimeRemainingColumn(),
        "elapsed": progress.TimeElapsedColumn(),
        "bytes": progress.DownloadColumn(),
        "bytes/s": progress.TransferSpeedColumn(),
        "percent": progress.TaskProgressColumn(),
        "note": progress.TextColumn("{task.fields[note]}"),
    }
    parts = (progress.TextColumn("{task.description}"), *(known[column] for column in columns))
    return progress.Progress(*parts, console=console.Console(stderr=True), transient=True)
