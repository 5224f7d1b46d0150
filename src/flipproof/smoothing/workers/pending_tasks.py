"""Tasks for workers that may die or hang: how often each was tried, how it is sent, and what comes back."""

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
    """A task and how many workers have died or taken too long while they were at it."""

    task: T
    deaths: int = 0
    timeouts: int = 0
    given: float = 0.0  # when it was given out, where nobody knows when it was begun

    def note_death(self, last_exit: str) -> None:
        """One more worker has died; too many cannot be a coincidence."""
        self.deaths += 1
        if self.deaths == DEATHS:
            raise WorkerError(
                f"expected workers to survive their tasks, got one that died {DEATHS} times on {brief(self.task)}; "
                f"last exit: {last_exit}"
            )

    def note_timeout(self, seconds: float) -> None:
        """One more worker has taken longer than so many seconds; another one gets a chance."""
        self.timeouts += 1
        if self.timeouts == _TIMEOUTS:
            raise WorkerError(
                f"expected a worker to take at most {seconds:g} seconds for {brief(self.task)}, got {_TIMEOUTS} that "
                "took longer and were stopped; raise the time-out (timeout=..., --timeout) if the classifier is slow, "
                "and see why it hangs if it is not"
            )


class Watch:
    """Seconds that have passed under the eyes of this process.

    A step of the clock since the last look counts for a second at most: while this process was stopped (Ctrl-Z), or the
    whole machine slept, nobody could work.
    """

    def __init__(self) -> None:
        self._looked, self._seconds = time.monotonic(), 0.0

    def seconds(self) -> float:
        """So many until now."""
        now = time.monotonic()
        self._seconds += min(now - self._looked, 2 * LOOK_ROUND)
        self._looked = now
        return self._seconds


class PendingTasks(Generic[T]):
    """What is still to be given out: jobs that have to be done again, then new ones, drawn when they are needed."""

    def __init__(self, tasks: Iterable[T]) -> None:
        self._tasks = iter(tasks)
        self._again: deque[PendingTask[T]] = deque()

    def next(self) -> PendingTask[T] | None:
        """The next job, or None when there are no more."""
        if self._again:
            return self._again.popleft()
        for task in self._tasks:
            return PendingTask(task)
        return None

    def put_back(self, jobs: Iterable[PendingTask[T]]) -> None:
        """Keeps tasks that are to be done again."""
        self._again.extend(jobs)


def packed_work(work: Callable[[T], R]) -> Message:
    """The work as one frame, arrays included: workers that start later get it as it is now, not as it has become."""
    try:
        return Message(MessageKind.REQUEST, (memoryview(cloudpickle.dumps(work, protocol=PROTOCOL)),))
    except Exception as error:  # whatever the methods of a foreign class raise
        raise InvalidInputError(
            f"expected a classifier that can be sent to worker processes, got {brief(work)}: {summary_of(error)}; "
            "use workers=1 without a timeout"
        ) from error


def packed_task(task: Any) -> Message:
    """A task on its way to a worker."""
    try:
        return Message.of(MessageKind.REQUEST, task)
    except Exception as error:  # whatever the methods of a foreign class raise
        raise InvalidInputError(
            f"expected tasks that can be sent to worker processes, got {brief(task)}: {summary_of(error)}"
        ) from error


def opened(reply: Message, task: Any) -> Any:
    """The result in a reply; raises what the work raised."""
    try:
        content = reply.value()
    except Exception as error:  # whatever the methods of a foreign class raise
        raise WorkerError(
            f"expected a result that can be unpickled, got one of {brief(task)} that cannot: {summary_of(error)}"
        ) from error
    if reply.kind is MessageKind.ERROR:
        raise _error_of(content, task)
    return content


def _error_of(failure: Failure, task: Any) -> BaseException:
    error = failure.error() or WorkerError(f"expected a result of {brief(task)}, got {failure.summary}")
    error.add_note(f"Raised in a worker process:\n{failure.traceback}")
    return error


def brief(value: Any) -> str:
    """A repr that fits in a line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else f"{text[:197]}..."
