"""One worker process from its parent's side: it is started with one numerical thread, and gets messages by pipes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import IO, Any, Generic, TypeVar, cast

from flipproof.base.threads import ONE_THREAD_ENVIRONMENT
from flipproof.smoothing.classifier import WorkerError
from flipproof.smoothing.voting.chunks import OUT_OF_MEMORY
from flipproof.smoothing.workers.pending_tasks import PendingTask, packed_task
from flipproof.smoothing.workers.worker_main import Message, messages

T = TypeVar("T")

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
