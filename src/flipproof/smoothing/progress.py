"""A line that shows how far a run has come: samples, samples per second, time left. Only in a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress_of(samples: int, seen: int, show: bool) -> Iterator[Callable[[int], None]]:
    """Gives a function to be told how many more samples are done."""
    if not show or sys.stderr is None or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(TextColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.0f} samples/s" if task.speed else "", style="progress.data.speed")

    columns = (
        TextColumn("votes"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(""),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("votes", total=samples, completed=seen)
        yield lambda done: progress.advance(task, done)
