"""Worker processes, which get messages by pipes, and their pool: one function on many tasks, even if some die."""

from __future__ import annotations

import contextlib
import enum
import math
import numbers
import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any, Generic, Self, TypeVar, cast

from flipproof.base.threads import ONE_THREAD_ENVIRONMENT
from flipproof.errors import InvalidInputError
from flipproof.smoothing.classifier import WorkerError
from flipproof.smoothing.voting.chunks import OUT_OF_MEMORY, checked_timeout
from flipproof.smoothing.workers.pending_tasks import (
    DEATHS,
    LOOK_ROUND,
    PendingTask,
    PendingTasks,
    Watch,
    opened,
    packed_task,
    packed_work,
)
from flipproof.smoothing.workers.worker_main import Message, MessageKind, messages

T = TypeVar("T")
R = TypeVar("R")

_GRACE = 2.0  # seconds between SIGTERM and SIGKILL
START = 300.0  # seconds that a worker, which imports a lot, may take to be ready; or the timeout of a task if longer

# The next task needs the memory that a task frees, so glibc should keep it. Returning it to the system and having it
# zeroed again for every chunk took a third of the time of a graph neural network.
KEEPING_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(32 * 2**20),
    "MALLOC_TRIM_THRESHOLD_": str(512 * 2**20),
    "MALLOC_TOP_PAD_": str(64 * 2**20),
}


# The child moves its pipes to other descriptors before anything else. Whatever the work or its imports print then goes
# to stderr, and they can read nothing. A closed stderr is replaced by the null device, which then gets its number.
_BOOTSTRAP = """
import os, sys
null = os.open(os.devnull, os.O_RDWR)
requests, replies = os.dup(0), os.dup(1)
os.dup2(null, 0)
os.dup2(2, 1)
sys.path[:] = {path}
from flipproof.smoothing.workers.worker_main import main
main(requests, replies)
"""

_IN_HAND = 2  # one task runs, one waits, so that a worker never idles until the parent has time for it


class WorkerProcess(Generic[T]):
    """One child process from its parent's side. Its pipes never block the parent, however slow the child is."""

    def __init__(self, work: Message, now: float) -> None:
        self._process = _started()
        self._pipes = (cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout))
        self.requests, self.replies = (pipe.fileno() for pipe in self._pipes)
        for descriptor in (self.requests, self.replies):
            os.set_blocking(descriptor, False)
        self.in_hand: deque[PendingTask[T]] = deque()
        self.outgoing: deque[memoryview] = deque(work.parts())
        self._incoming = messages(self.replies)
        self.began = now  # its first task, or its preparation
        self.ready = False
        self.hung_up = False
        self.overdue = False

    def take(self, pending: PendingTask[T], now: float) -> None:
        """Sends a task to the child."""
        if self.ready and not self.in_hand:
            self.began = now
        self.in_hand.append(pending)
        self.outgoing.extend(packed_task(pending.task).parts())
        self.flush()

    def flush(self) -> None:
        """Writes as much to the pipe as it takes now."""
        try:
            while self.outgoing:
                rest = self.outgoing[0][os.write(self.requests, self.outgoing[0]) :]
                if rest:
                    self.outgoing[0] = rest
                else:
                    self.outgoing.popleft()
        except BlockingIOError:
            return
        except BrokenPipeError:  # it has died, which is noticed on reading
            self.outgoing.clear()

    def received(self) -> Iterator[Message]:
        """The messages that have arrived in full."""
        for message in self._incoming:
            if message is None:
                return
            yield message
        self.hung_up = True

    def has_exited(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def hang_up(self) -> None:
        """Closes the pipes, which ends the process, and terminates it in case foreign code keeps it busy."""
        for pipe in self._pipes:
            pipe.close()
        self._process.terminate()

    def has_ended_by(self, deadline: float) -> bool:
        """Whether the process ends before a time of the monotonic clock."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, deadline - time.monotonic()))
        return self.has_exited()

    def kill(self) -> None:
        """Ends the process for certain."""
        self._process.kill()
        self._process.wait()

    def exit(self) -> str:
        """The exit of a worker that has closed its pipe, in words."""
        if not self.has_ended_by(time.monotonic() + _GRACE):
            self.kill()
        for pipe in self._pipes:
            pipe.close()
        status = self._process.returncode
        if self.overdue:
            return "none; it took too long and was stopped"
        if status == -signal.SIGKILL:
            return f"signal 9, which the system sends when memory runs out; {OUT_OF_MEMORY}"
        return f"signal {-status}" if status < 0 else f"status {status}"


def _started() -> subprocess.Popen[bytes]:
    path = ascii([entry for entry in sys.path if isinstance(entry, str)])
    # -P: no other folder in front of the path while the first modules are imported.
    command = [sys.executable, "-P", "-c", _BOOTSTRAP.format(path=path)]
    environment = {**KEEPING_MEMORY, **os.environ, **ONE_THREAD_ENVIRONMENT}
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment)
    except OSError as error:
        raise WorkerError(f"expected to be able to start a worker process, got: {error.strerror or error}") from error


def end_all(workers: Sequence[WorkerProcess[Any]]) -> None:
    """Ends processes and waits for them. Processes that do not end in time are killed, even after a Ctrl-C."""
    try:
        for worker in workers:
            worker.hang_up()
        deadline = time.monotonic() + _GRACE
        for worker in workers:
            worker.has_ended_by(deadline)
    finally:
        for worker in workers:
            worker.kill()


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
