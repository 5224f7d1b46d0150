"""A line that shows how far a run has come, and where: samples, samples per second, time left. Only in a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from flipproof.base.arguments import checked_flag


@contextlib.contextmanager
def progress_of(samples: int, seen: int, show: bool) -> Iterator[Callable[[int, str], None]]:
    """Gives a function to be told how many more samples are done, and by how many processes or machines."""
    if not checked_flag(show, "progress") or sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, places: None
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
        TextColumn("{task.fields[places]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("votes", total=samples, completed=seen, places="")
        yield lambda done, places: progress.update(task, advance=done, places=places)
