"""One line that shows the progress of long work, in a terminal or in a notebook."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from flipproof.base.pace import Clock, Pace, about, rate_words
from flipproof.base.values import checked_flag

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, TaskID

_T = TypeVar("_T")

Column = Literal["bar", "count", "samples/s", "left", "time", "elapsed", "bytes", "bytes/s", "percent", "note"]
"""What a line may show after its first words; "time" is the time left, "note" what the last update said."""

_OFTEN = 0.5
"""Seconds between two updates of a line in a notebook."""


class _Display(Protocol):
    """Where a line is shown."""

    def update(self, pace: Pace, note: str) -> None:
        """Shows what is done."""

    def say(self, sentence: str) -> None:
        """Shows a sentence that stays."""


@dataclass(frozen=True, slots=True)
class ProgressLine:
    """A progress line. Where there is neither a terminal nor a notebook, updates do nothing."""

    _pace: Pace | None = None
    _display: _Display | None = None

    def update(
        self, *, more: int | None = None, done: int | None = None, of: int | None = None, note: str = ""
    ) -> None:
        """Reports how many more are done, or how many are done altogether, and of how many."""
        if self._pace is None or self._display is None:
            return
        self._pace.step(more=more, done=done, of=of)
        if (announcement := self._pace.announcement()) is not None:
            self._display.say(announcement)
        self._display.update(self._pace, note)


@contextlib.contextmanager
def progress_line(
    words: str,
    columns: Sequence[Column],
    of: int | None = None,
    done: int = 0,
    show: bool = True,
    clock: Clock = time.monotonic,
) -> Iterator[ProgressLine]:
    """Shows a progress line inside the block; a terminal forgets it afterwards, a notebook keeps what was done.

    A line with "samples/s" also says how long everything will take, once it is known, if that is long.

    Args:
        words: what the line begins with.
        columns: what it shows after that.
        of: how many there are to do, if that is known.
        done: how many of them are done already.
        show: the `progress` argument of the function that takes long.
        clock: what tells the time.
    """
    in_terminal = sys.stderr is not None and sys.stderr.isatty()
    show_text = None if in_terminal else _notebook()
    if not checked_flag(show, "progress") or not (in_terminal or show_text):
        yield ProgressLine()
        return
    pace = Pace(of, done, "samples" if "samples/s" in columns else "", clock)
    if show_text is not None:
        notebook = _Notebook(words, columns, show_text, clock)
        yield ProgressLine(pace, notebook)
        notebook.finish(pace)
        return
    with _rich_progress(columns) as progress:
        terminal = _Terminal(progress, progress.add_task(words, total=of, completed=done, note=""))
        yield ProgressLine(pace, terminal)


def one_by_one(items: Sequence[_T], words: str, show: bool) -> Iterator[_T]:
    """Iterates over items that take long, and shows a bar with the time left."""
    with progress_line(words, ("bar", "count", "left", "time"), of=len(items), show=show) as line:
        for item in items:
            yield item
            line.update(more=1)


@dataclass(frozen=True, slots=True)
class _Terminal:
    """A live line on stderr."""

    progress: Progress
    task: TaskID

    def update(self, pace: Pace, note: str) -> None:
        self.progress.update(self.task, completed=pace.done, total=pace.of, note=note)

    def say(self, sentence: str) -> None:
        self.progress.console.print(sentence, markup=False, highlight=False)


@dataclass(slots=True)
class _Notebook:
    """A text below the cell that is replaced again and again, so that the saved notebook keeps only the last one."""

    words: str
    columns: Sequence[Column]
    show: Callable[[str], None]
    clock: Clock
    said: str = ""
    shown_at: float | None = None

    def update(self, pace: Pace, note: str) -> None:
        now = self.clock()
        if self.shown_at is None or now - self.shown_at >= _OFTEN:
            self.shown_at = now
            self.show(f"{self.said}{line_words(self.words, self.columns, pace, note)}")

    def say(self, sentence: str) -> None:
        self.said, self.shown_at = f"{sentence}\n", None

    def finish(self, pace: Pace) -> None:
        """Shows what was done, if anything was shown before."""
        if self.shown_at is not None:
            self.show(f"{self.words}: {_count(self.columns, pace)} in {about(pace.elapsed)}")


def line_words(words: str, columns: Sequence[Column], pace: Pace, note: str) -> str:
    """A progress line as plain text.

    Example:
        >>> pace = Pace(of=400, done=100)
        >>> line_words("votes", ("bar", "count", "left", "time", "note"), pace, "1 process")
        'votes: 100 of 400 (25 %), 1 process'
    """
    rate, left = pace.per_second, pace.seconds_left
    parts = [_count(columns, pace)]
    if pace.of:
        parts[0] += f" ({100 * pace.done // pace.of} %)"
    if rate is not None and "samples/s" in columns:
        parts.append(f"{rate_words(rate)} samples/s")
    if left is not None and "time" in columns:
        parts.append(f"{about(left)} left")
    return f"{words}: {', '.join([*parts, note] if note else parts)}"


def _count(columns: Sequence[Column], pace: Pace) -> str:
    """How many are done, and of how many."""
    size, unit = (1e6, " MB") if "bytes" in columns else (1, "")
    of = "" if pace.of is None else f" of {pace.of / size:,.0f}"
    return f"{pace.done / size:,.0f}{of}{unit}"


def _notebook() -> Callable[[str], None] | None:
    """What shows a text below the running cell of a notebook, in the place of the one before; None elsewhere."""
    ipython: Any = sys.modules.get("IPython")
    if ipython is None or getattr(ipython.get_ipython(), "kernel", None) is None:
        return None
    shown: list[Any] = []

    def show(text: str) -> None:
        plain = {"text/plain": text}
        if shown:
            shown[0].update(plain, raw=True)
        else:
            shown.append(ipython.display.display(plain, raw=True, display_id=True))

    return show


def _rich_progress(columns: Sequence[Column]) -> Progress:
    """A live display on stderr: the words of the line, then the columns."""
    from rich import console, progress, text  # slow to load, and needed in a terminal only

    class Rate(progress.TextColumn):
        def render(self, task: progress.Task) -> text.Text:
            words = f"{rate_words(task.speed)} samples/s" if task.speed else ""
            return text.Text(words, style="progress.data.speed")

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
    shown_on = console.Console(stderr=True)
    # An hour of steps: in the usual 30 seconds, a slow model may take no two.
    return progress.Progress(*parts, console=shown_on, transient=True, speed_estimate_period=3600)
