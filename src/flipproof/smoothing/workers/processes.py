"""Worker processes: one function on many tasks, several at a time, surviving workers that die."""

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
from dataclasses import dataclass
from typing import IO, Any, Generic, Self, TypeVar, cast

import cloudpickle

from flipproof.base.threads import ONE_THREAD_ENVIRONMENT
from flipproof.errors import InvalidInputError
from flipproof.smoothing.classifier import WorkerError
from flipproof.smoothing.voting.chunks import OUT_OF_MEMORY, checked_timeout
from flipproof.smoothing.workers.worker_main import PROTOCOL, Failure, Kind, Message, messages, summary_of

T = TypeVar("T")
R = TypeVar("R")

_IN_HAND = 2  # one task runs, one waits, so that a worker never idles until the parent has time for it
_DEATHS = 3
_TIMEOUTS = 2  # a task that took too long is given to one other worker
_GRACE = 2.0  # seconds between SIGTERM and SIGKILL
_LOOK_ROUND = 0.5  # seconds until a death is noticed whose pipe is held open by a process that the worker has forked
START = 300.0  # seconds that a worker may take to be ready, or as many as a task if that is more: it imports a lot

# What a task frees, the next one needs again: glibc should keep it. Handing it back to the system and having it zeroed
# anew for every chunk took a third of the time of a graph neural network.
KEEPING_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(32 * 2**20),
    "MALLOC_TRIM_THRESHOLD_": str(512 * 2**20),
    "MALLOC_TOP_PAD_": str(64 * 2**20),
}

# The child moves its pipes out of the way before anything else, so that whatever the work or its imports print or read
# goes to stderr and comes from nowhere. A closed stderr is replaced by the null device, which then gets its number.
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
            The time counts from when the worker begins with the task; to get ready, it has some minutes at least.

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
        self._workers: list[_Worker[T]] = []
        self._failed_starts = 0
        self._state = _State.NEW

    def __enter__(self) -> Self:
        self._expect(_State.NEW)
        self._state = _State.IDLE
        return self

    def __exit__(self, *_: object) -> None:
        self._state = _State.CLOSED
        _end(self._workers)
        self._workers.clear()

    @property
    def places(self) -> str:
        """Where the work is done, in words."""
        return "1 process" if self._limit == 1 else f"{self._limit} processes"

    def map_unordered(self, tasks: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Yields each task with its result, in the order in which they finish.

        Tasks are drawn from the iterable as workers have room for them, two per worker. A task whose worker dies
        is done again, and one that takes too long is done once more. What the work raises is raised here, with the
        child's traceback as a note.

        Args:
            tasks: what the work is called with; not to be changed while they are in hand.

        Raises:
            WorkerError: workers die or hang again and again, on the same task or before they are ready.
        """
        self._expect(_State.IDLE)
        self._state = _State.BUSY
        jobs = Jobs(tasks)
        try:
            while self._hand_out(jobs):
                self._wait()
                for worker in tuple(self._workers):
                    for job, reply in self._attend_to(worker, jobs):
                        result: R = opened(reply, job.task)
                        self._hand_out(jobs)
                        yield job.task, result
        finally:
            self._drop_unfinished()

    def _expect(self, state: _State) -> None:
        if self._state is not state:
            raise InvalidInputError(
                f"expected a worker pool that is {state.value}, got one that is {self._state.value}"
            )

    def _hand_out(self, jobs: Jobs[T]) -> bool:
        """Gives out jobs as long as there is room, and returns whether any are in hand."""
        self._expect(_State.BUSY)
        while self._has_room() and (job := jobs.next()):
            self._freest().take(job, self._watch.seconds())
        return any(worker.in_hand for worker in self._workers)

    def _has_room(self) -> bool:
        return len(self._workers) < self._limit or any(len(worker.in_hand) < _IN_HAND for worker in self._workers)

    def _freest(self) -> _Worker[T]:
        """The worker with the fewest jobs; a new one rather than one that would have to wait with it."""
        idle = any(not worker.in_hand for worker in self._workers)
        if not idle and len(self._workers) < self._limit:
            with _interrupts_held_back():
                self._workers.append(_Worker(self._work, self._watch.seconds()))
        return min(self._workers, key=lambda worker: len(worker.in_hand))

    def _wait(self) -> None:
        """Sleeps until a worker says something or has room for what it is to be told, or for a short while."""
        with selectors.PollSelector() as selector:
            for worker in self._workers:
                selector.register(worker.replies, selectors.EVENT_READ)
                if worker.outgoing:
                    selector.register(worker.requests, selectors.EVENT_WRITE)
            selector.select(_LOOK_ROUND)

    def _attend_to(self, worker: _Worker[T], jobs: Jobs[T]) -> list[tuple[Job[T], Message]]:
        """Hears a worker out and buries it if it has died or takes too long; returns the jobs it has finished."""
        exited = worker.has_exited()  # asked first: what it said before it died is then all there to be read
        worker.flush()
        finished, now = [], self._watch.seconds()
        for message in worker.received():
            worker.began = now  # with what comes next
            if message.kind is Kind.UNUSABLE:
                raise WorkerError(f"expected a classifier that workers can unpickle, got: {message.value()}")
            if message.kind is Kind.READY:
                worker.ready, self._failed_starts = True, 0
            else:
                finished.append((worker.in_hand.popleft(), message))
        if exited or worker.hung_up:
            self._bury(worker, jobs)
        elif worker.in_hand and now - worker.began > self._time_for(worker):
            worker.overdue = True
            worker.kill()
            self._bury(worker, jobs)
        return finished

    def _time_for(self, worker: _Worker[T]) -> float:
        """Seconds until a worker must say something."""
        if self._timeout is None:
            return math.inf
        return self._timeout if worker.ready else max(self._timeout, START)

    def _bury(self, worker: _Worker[T], jobs: Jobs[T]) -> None:
        """Takes back the jobs of a dead worker. Jobs are answered in order, so it was at the first one when it died."""
        last_exit = worker.exit()
        self._workers.remove(worker)
        if not worker.ready:
            self._failed_starts += 1
            if self._failed_starts == _DEATHS:
                raise WorkerError(
                    f"expected workers to start, got {_DEATHS} in a row that died before they were ready; "
                    f"last exit: {last_exit}"
                )
        elif worker.overdue:
            worker.in_hand[0].note_timeout(self._time_for(worker))
        elif worker.in_hand:
            worker.in_hand[0].note_death(last_exit)
        jobs.put_back(worker.in_hand)

    def _drop_unfinished(self) -> None:
        """Ends the workers that are still at work when a run is left early; the next run starts others."""
        _end([worker for worker in self._workers if worker.in_hand])
        self._workers = [worker for worker in self._workers if not worker.in_hand]
        if self._state is _State.BUSY:
            self._state = _State.IDLE


@dataclass(slots=True, eq=False)
class Job(Generic[T]):
    """A task and how many workers have died or taken too long while they were at it."""

    task: T
    deaths: int = 0
    timeouts: int = 0
    given: float = 0.0  # when it was given out, where nobody knows when it was begun

    def note_death(self, last_exit: str) -> None:
        """One more worker has died; too many cannot be a coincidence."""
        self.deaths += 1
        if self.deaths == _DEATHS:
            raise WorkerError(
                f"expected workers to survive their tasks, got one that died {_DEATHS} times on {brief(self.task)}; "
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
        self._seconds += min(now - self._looked, 2 * _LOOK_ROUND)
        self._looked = now
        return self._seconds


class Jobs(Generic[T]):
    """What is still to be given out: jobs that have to be done again, then new ones, drawn when they are needed."""

    def __init__(self, tasks: Iterable[T]) -> None:
        self._tasks = iter(tasks)
        self._again: deque[Job[T]] = deque()

    def next(self) -> Job[T] | None:
        """The next job, or None when there are no more."""
        if self._again:
            return self._again.popleft()
        for task in self._tasks:
            return Job(task)
        return None

    def put_back(self, jobs: Iterable[Job[T]]) -> None:
        """Jobs to be done again."""
        self._again.extend(jobs)


class _Worker(Generic[T]):
    """One child process, seen from the parent. Its pipes never block the parent, however slow the child is."""

    def __init__(self, work: Message, now: float) -> None:
        self._process = _started()
        self._pipes = (cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout))
        self.requests, self.replies = (pipe.fileno() for pipe in self._pipes)
        for descriptor in (self.requests, self.replies):
            os.set_blocking(descriptor, False)
        self.in_hand: deque[Job[T]] = deque()
        self.outgoing: deque[memoryview] = deque(work.parts())
        self._incoming = messages(self.replies)
        self.began = now  # with its first job, or to get ready
        self.ready = False
        self.hung_up = False
        self.overdue = False

    def take(self, job: Job[T], now: float) -> None:
        """Sends a job on its way."""
        if self.ready and not self.in_hand:
            self.began = now
        self.in_hand.append(job)
        self.outgoing.extend(packed_task(job.task).parts())
        self.flush()

    def flush(self) -> None:
        """Writes as much as the pipe takes now."""
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
        """Asks the process to end: a closed pipe is enough unless it is deep in foreign code."""
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
        """How a worker ended that has closed its pipe, in words."""
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


def _checked_workers(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise InvalidInputError(f"expected workers to be a positive integer, got {value!r}")
    return int(value)


def _started() -> subprocess.Popen[bytes]:
    path = ascii([entry for entry in sys.path if isinstance(entry, str)])
    # -P: no other folder in front of the path while the first modules are imported.
    command = [sys.executable, "-P", "-c", _BOOTSTRAP.format(path=path)]
    environment = {**KEEPING_MEMORY, **os.environ, **ONE_THREAD_ENVIRONMENT}
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment)
    except OSError as error:
        raise WorkerError(f"expected to be able to start a worker process, got: {error.strerror or error}") from error


def _end(workers: Sequence[_Worker[Any]]) -> None:
    """Ends processes and waits for them; those that do not end within the grace are killed, also after a Ctrl-C."""
    try:
        for worker in workers:
            worker.hang_up()
        deadline = time.monotonic() + _GRACE
        for worker in workers:
            worker.has_ended_by(deadline)
    finally:
        for worker in workers:
            worker.kill()


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Delays Ctrl-C until a new child is known here; the child inherits the block until it ignores the signal."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def packed_work(work: Callable[[T], R]) -> Message:
    """The work as one frame, arrays included: workers that start later get it as it is now, not as it has become."""
    try:
        return Message(Kind.REQUEST, (memoryview(cloudpickle.dumps(work, protocol=PROTOCOL)),))
    except Exception as error:  # whatever the methods of a foreign class raise
        raise InvalidInputError(
            f"expected a classifier that can be sent to worker processes, got {brief(work)}: {summary_of(error)}; "
            "use workers=1 without a timeout"
        ) from error


def packed_task(task: Any) -> Message:
    """A task on its way to a worker."""
    try:
        return Message.of(Kind.REQUEST, task)
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
    if reply.kind is Kind.ERROR:
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
