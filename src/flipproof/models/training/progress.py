"""A line that shows how training goes: epoch, losses, accuracy. Only in a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from flipproof.base.arguments import checked_flag

if TYPE_CHECKING:
    from flipproof.models.training.settings import History
    from flipproof.run_folder.task import TrainingSettings


@contextlib.contextmanager
def training_progress(settings: TrainingSettings, show: bool) -> Iterator[Callable[[History], None]]:
    """Gives a function to be told the history after every epoch."""
    if not checked_flag(show, "progress") or sys.stderr is None or not sys.stderr.isatty():
        yield lambda history: None
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("training {task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=settings.epochs)
        yield lambda history: progress.update(task, advance=1, description=_words(history, settings))


def _words(history: History, settings: TrainingSettings) -> str:
    waited = history.epochs - 1 - history.best_epoch
    return (
        f"epoch {history.epochs}, loss {history.loss[-1]:.3f}, validation {history.validation_loss[-1]:.3f}, "
        f"accuracy {history.validation_accuracy[-1]:.3f}, waited {waited}/{settings.patience}"
    )
