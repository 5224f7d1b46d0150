"""Tasks for workers that may die or hang: how often each was tried, how it is sent, and how its result is read."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import cloudpickle

from flipproof.errors import InvalidInputError
from flipproof.smoothing.classifier import WorkerError
from flipproof.smoothing.workers.worker_main import PROTOCOL, Failure, Message, MessageKind, summary_of

T = TypeVar("T")
R = TypeVar("R")

DEATHS = 3
_TIMEOUTS = 2  # a task that took too long is given to one other worker
LOOK_ROUND = 0.5  # seconds until a death is noticed whose pipe is held open by a process that the worker has forked


@dataclass(slots=True, eq=False)
class PendingTask(Generic[T]):
    """A task, and how many workers have died or taken too long during it."""

    task: T
    deaths: int = 0
    timeouts: int = 0
    given: float = 0.0  # when it was given out, for a pool that does not know when a task begins

    def note_death(self, last_exit: str) -> None:
        """Counts one more worker that has died. Too many deaths are no coincidence: then this raises an error."""
        self.deaths += 1
        if self.deaths == DEATHS:
            raise WorkerError(
                f"expected workers to survive their tasks, got one that died {DEATHS} times on {brief(self.task)}; "
                f"last exit: {last_exit}"
            )

    def note_timeout(self, seconds: float) -> None:
        """Counts one more worker that took too long. One other worker gets a try before this raises an error."""
        self.timeouts += 1
        if self.timeouts == _TIMEOUTS:
            raise WorkerError(
                f"expected a worker to take at most {seconds:g} seconds for {brief(self.task)}, got {_TIMEOUTS} that "
                "took longer and were stopped; raise the time-out (timeout=..., --timeout) if the classifier is slow, "
                "and see why it hangs if it is not"
            )


class Watch:
    """A clock that stands still while this process is stopped (Ctrl-Z) or the whole machine sleeps.

    The time between two readings counts for at most a second.
    """

    def __init__(self) -> None:
        self._looked, self._seconds = time.monotonic(), 0.0

    def seconds(self) -> float:
        """The seconds until now."""
        now = time.monotonic()
        self._seconds += min(now - self._looked, 2 * LOOK_ROUND)
        self._looked = now
        return self._seconds


class PendingTasks(Generic[T]):
    """Tasks to give out: first those that must be done again, then new ones, drawn when they are needed."""

    def __init__(self, tasks: Iterable[T]) -> None:
        self._tasks = iter(tasks)
        self._again: deque[PendingTask[T]] = deque()

    def next(self) -> PendingTask[T] | None:
        """The next task, or None if there are no more."""
        if self._again:
            return self._again.popleft()
        for task in self._tasks:
            return PendingTask(task)
        return None

    def put_back(self, tasks: Iterable[PendingTask[T]]) -> None:
        """Takes back tasks that must be done again."""
        self._again.extend(tasks)


def packed_work(work: Callable[[T], R]) -> Message:
    """The work as one frame, arrays included, so that workers that start later get it as it is now."""
    try:
        return Message(MessageKind.REQUEST, (memoryview(cloudpickle.dumps(work, protocol=PROTOCOL)),))
    except Exception as error:  # whatever the methods of a foreign class raise
        raise InvalidInputError(
            f"expected a classifier that can be sent to worker processes, got {brief(work)}: {summary_of(error)}; "
            "use workers=1 without a timeout"
        ) from error


def packed_task(task: object) -> Message:
    """The message that carries a task to a worker."""
    try:
        return Message.of(MessageKind.REQUEST, task)
    except Exception as error:  # whatever the methods of a foreign class raise
        raise InvalidInputError(
            f"expected tasks that can be sent to worker processes, got {brief(task)}: {summary_of(error)}"
        ) from error


def opened(reply: Message, task: object) -> Any:
    """The result in a reply; an exception of the work is raised again."""
    try:
        content = reply.value()
    except Exception as error:  # whatever the methods of a foreign class raise
        raise WorkerError(
            f"expected a result that can be unpickled, got one of {brief(task)} that cannot: {summary_of(error)}"
        ) from error
    if reply.kind is MessageKind.ERROR:
        raise _error_of(content, task)
    return content


def _error_of(failure: Failure, task: object) -> BaseException:
    error = failure.error() or WorkerError(f"expected a result of {brief(task)}, got {failure.summary}")
    error.add_note(f"Raised in a worker process:\n{failure.traceback}")
    return error


def brief(value: object) -> str:
    """A repr that fits in a line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else f"{text[:197]}..."
