"""A line that shows how many nodes are proved or refuted. Only in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

from flipproof.base.arguments import checked_flag

_T = TypeVar("_T")


def one_by_one(items: Sequence[_T], words: str, show: bool) -> Iterator[_T]:
    """Goes through items that take long, and shows how far it has come and how much time is left."""
    if not checked_flag(show, "progress") or sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(words), BarColumn(), MofNCompleteColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield from progress.track(items)
