"""A pool of worker processes: one function on many tasks, several at a time, even if some workers die."""

from __future__ import annotations

import contextlib
import enum
import math
import numbers
import selectors
import signal
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Self, TypeVar

from flipproof.errors import InvalidInputError
from flipproof.smoothing.classifier import WorkerError
from flipproof.smoothing.voting.chunks import checked_timeout
from flipproof.smoothing.workers.pending_tasks import (
    DEATHS,
    LOOK_ROUND,
    PendingTask,
    PendingTasks,
    Watch,
    opened,
    packed_work,
)
from flipproof.smoothing.workers.worker_main import Message, MessageKind
from flipproof.smoothing.workers.worker_process import START, WorkerProcess, end_all

T = TypeVar("T")
R = TypeVar("R")

_IN_HAND = 2  # one task runs, one waits, so that a worker never idles until the parent has time for it


class _State(enum.Enum):
    NEW = "not opened"
    IDLE = "idle"
    BUSY = "busy"
    CLOSED = "closed"


class WorkerPool(Generic[T, R]):
    """Runs one function on many tasks in child processes with one numerical thread each.

    The children never import the program that started them, so a script needs no `if __name__ == "__main__"`.
    They are started when there are tasks for them, replaced when they die, and end with the `with` block.

    Args:
        work: the function.
        workers: how many processes.
        timeout: seconds that a task may take. A worker that takes longer is killed, and its task given to another one.
            The time counts from the moment the worker begins the task; to get ready, it has at least some minutes.

    Example:
        >>> with WorkerPool(lambda number: number**2, workers=2) as pool:
        ...     sorted(pool.map_unordered(range(4)))
        [(0, 0), (1, 1), (2, 4), (3, 9)]
    """

    def __init__(self, work: Callable[[T], R], workers: int, timeout: float | None = None) -> None:
        self._limit = _checked_workers(workers)
        self._timeout = checked_timeout(timeout)
        self._watch = Watch()
        self._work = packed_work(work)
        self._workers: list[WorkerProcess[T]] = []
        self._failed_starts = 0
        self._state = _State.NEW

    def __enter__(self) -> Self:
        self._expect(_State.NEW)
        self._state = _State.IDLE
        return self

    def __exit__(self, *_: object) -> None:
        self._state = _State.CLOSED
        end_all(self._workers)
        self._workers.clear()

    @property
    def places(self) -> str:
        """Where the work is done, in words."""
        return "1 process" if self._limit == 1 else f"{self._limit} processes"

    def map_unordered(self, tasks: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Yields each task with its result, in the order in which they finish.

        Tasks are drawn from the iterable as workers have room for them, two per worker. A task whose worker dies
        is done again; a task that takes too long gets one more try. Exceptions of the work are raised here, with the
        child's traceback as a note.

        Args:
            tasks: the arguments with which the work is called; do not change them while they are in hand.

        Raises:
            WorkerError: workers die or hang repeatedly, on the same task or before they are ready.
        """
        self._expect(_State.IDLE)
        self._state = _State.BUSY
        waiting = PendingTasks(tasks)
        try:
            while self._hand_out(waiting):
                self._wait()
                for worker in tuple(self._workers):
                    for pending, reply in self._attend_to(worker, waiting):
                        result: R = opened(reply, pending.task)
                        self._hand_out(waiting)
                        yield pending.task, result
        finally:
            self._drop_unfinished()

    def _expect(self, state: _State) -> None:
        if self._state is not state:
            raise InvalidInputError(
                f"expected a worker pool that is {state.value}, got one that is {self._state.value}"
            )

    def _hand_out(self, waiting: PendingTasks[T]) -> bool:
        """Gives out tasks as long as there is room, and returns whether any are in hand."""
        self._expect(_State.BUSY)
        while self._has_room() and (pending := waiting.next()):
            self._freest().take(pending, self._watch.seconds())
        return any(worker.in_hand for worker in self._workers)

    def _has_room(self) -> bool:
        return len(self._workers) < self._limit or any(len(worker.in_hand) < _IN_HAND for worker in self._workers)

    def _freest(self) -> WorkerProcess[T]:
        """The worker with the fewest tasks; a new worker if all are busy and there is room for one more."""
        idle = any(not worker.in_hand for worker in self._workers)
        if not idle and len(self._workers) < self._limit:
            with _interrupts_held_back():
                self._workers.append(WorkerProcess(self._work, self._watch.seconds()))
        return min(self._workers, key=lambda worker: len(worker.in_hand))

    def _wait(self) -> None:
        """Sleeps until a worker replies or can take more of its messages, but only for a short while."""
        with selectors.PollSelector() as selector:
            for worker in self._workers:
                selector.register(worker.replies, selectors.EVENT_READ)
                if worker.outgoing:
                    selector.register(worker.requests, selectors.EVENT_WRITE)
            selector.select(LOOK_ROUND)

    def _attend_to(self, worker: WorkerProcess[T], waiting: PendingTasks[T]) -> list[tuple[PendingTask[T], Message]]:
        """Returns the tasks that a worker has finished, and removes the worker if it has died or takes too long."""
        exited = worker.has_exited()  # asked first: then all that it sent before it died can be read
        worker.flush()
        finished, now = [], self._watch.seconds()
        for message in worker.received():
            worker.began = now  # it begins its next task
            if message.kind is MessageKind.UNUSABLE:
                raise WorkerError(f"expected a classifier that workers can unpickle, got: {message.value()}")
            if message.kind is MessageKind.READY:
                worker.ready, self._failed_starts = True, 0
            else:
                finished.append((worker.in_hand.popleft(), message))
        if exited or worker.hung_up:
            self._bury(worker, waiting)
        elif worker.in_hand and now - worker.began > self._time_for(worker):
            worker.overdue = True
            worker.kill()
            self._bury(worker, waiting)
        return finished

    def _time_for(self, worker: WorkerProcess[T]) -> float:
        """The seconds within which a worker must reply."""
        if self._timeout is None:
            return math.inf
        return self._timeout if worker.ready else max(self._timeout, START)

    def _bury(self, worker: WorkerProcess[T], waiting: PendingTasks[T]) -> None:
        """Takes back the tasks of a dead worker. It answers in order, so the first of them was running when it died."""
        last_exit = worker.exit()
        self._workers.remove(worker)
        if not worker.ready:
            self._failed_starts += 1
            if self._failed_starts == DEATHS:
                raise WorkerError(
                    f"expected workers to start, got {DEATHS} in a row that died before they were ready; "
                    f"last exit: {last_exit}"
                )
        elif worker.overdue:
            worker.in_hand[0].note_timeout(self._time_for(worker))
        elif worker.in_hand:
            worker.in_hand[0].note_death(last_exit)
        waiting.put_back(worker.in_hand)

    def _drop_unfinished(self) -> None:
        """Ends workers that are still busy when a run is left early; the next run starts new ones."""
        end_all([worker for worker in self._workers if worker.in_hand])
        self._workers = [worker for worker in self._workers if not worker.in_hand]
        if self._state is _State.BUSY:
            self._state = _State.IDLE


def _checked_workers(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise InvalidInputError(f"expected workers to be a positive integer, got {value!r}")
    return int(value)


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Delays Ctrl-C until a new child is known here; the child inherits the block until it ignores the signal."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
