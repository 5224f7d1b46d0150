"""Workers on a Ray cluster: one function on many tasks, on all machines that there are, surviving those that die."""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import os
import pickle
import signal
import socket
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from flipproof.errors import InvalidInputError
from flipproof.extras import MissingExtraError
from flipproof.smoothing.evaluation import Evaluation
from flipproof.smoothing.plan import Chunk
from flipproof.smoothing.run import STREAM_VERSION, versions
from flipproof.smoothing.sample_ranges import SampleRanges
from flipproof.smoothing.threads import ONE_THREAD_ENVIRONMENT, single_threaded
from flipproof.smoothing.worker_main import Failure, Kind, Message, summary_of
from flipproof.smoothing.workers import KEEPING_MEMORY, Job, Jobs, WorkerError, opened, packed_task, packed_work
from flipproof.theory.arrays import IntArray
from flipproof.theory.radii import checked_count

T = TypeVar("T")
R = TypeVar("R")

Frames = tuple[int, list[bytes]]
"""A message as Ray carries it: its kind and its frames."""

_IN_HAND = 2  # for each CPU: one task runs, one waits, so that a worker never idles until the driver has time for it
_LOOK_ROUND = 1.0  # seconds until machines that have joined or left are noticed
_SPAN, _LONGEST_SPAN = 2.0, 4096  # seconds at least that a task should take, chunks at most that it has
_SPAN_PER_CPU = 0.005  # seconds; so the driver, which needs about 3 ms for a result, gets 200 per second at most
_PATIENCE = 5.0  # seconds for a cluster to answer
_HTTP2_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
"""The beginning of every gRPC connection; a server answers with a frame of the same kind, 4."""


def check_workers(workers: Any, address: Any = None) -> None:
    """Refuses a number of processes that is none, and an address without a cluster to be used."""
    if workers == "ray":
        _checked_address(address)
        _required_ray()
    elif checked_count(workers, "workers") < 1:
        raise InvalidInputError(f"expected workers to be at least 1, got {workers}")
    elif address is not None:
        raise InvalidInputError(f"expected an address only together with workers='ray', got {address!r}")


class RayPool(Generic[T, R]):
    """Runs one function on many tasks on a Ray cluster, with one CPU and one numerical thread for each.

    The function, with all the data it holds, is sent once to every machine and unpickled once in every process. It
    may be defined in the program itself; packages that it imports must be installed on all machines.

    Args:
        work: the function.
        address: of a cluster: HOST:PORT, or "auto" for the one that runs on this machine. If there is none, it is
            that of the environment variable RAY_ADDRESS. If there is none either, a cluster of this machine alone is
            started and ended with the `with` block. Where a program has called `ray.init`, that cluster is used.

    Example:
        >>> with RayPool(lambda number: number**2) as pool:  # doctest: +SKIP
        ...     sorted(pool.map_unordered(range(4)))
        [(0, 0), (1, 1), (2, 4), (3, 9)]
    """

    def __init__(self, work: Callable[[T], R], address: str | None = None) -> None:
        self._address = _checked_address(address)
        self._ray = _required_ray()
        [self._content] = packed_work(work).frames
        self._submit: Callable[[Frames], Any] | None = None
        self._open = contextlib.ExitStack()
        self._asked = -_LOOK_ROUND
        self._nodes, self.cpus = 0, 0

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            # Ray prints news of machines to stdout, where a program may be writing what another one reads.
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))
            stack.enter_context(_connected(self._ray, self._address))
            self._count()
            if not self.cpus:
                raise WorkerError(f"expected a Ray cluster with CPUs, got {self.places}; see ray start --address")
            path = [os.path.abspath(entry) for entry in sys.path if isinstance(entry, str)]
            parcel = self._ray.put((path, _expected_versions(), bytes(self._content)))
            environment = {**KEEPING_MEMORY, **ONE_THREAD_ENVIRONMENT}
            # Ray would not say how often a task has failed: it is done again from here. In a list, the parcel is only
            # fetched when it is needed.
            remote = self._ray.remote(num_cpus=1, max_retries=0, runtime_env={"env_vars": environment})(_answer)
            self._submit = functools.partial(remote.remote, uuid.uuid4().hex, [parcel])
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._submit = None
        self._open.close()

    @property
    def places(self) -> str:
        """Where the work is done, in words."""
        counts = {"node": self._nodes, "CPU": self.cpus}
        return ", ".join(f"{count} {name if count == 1 else f'{name}s'}" for name, count in counts.items())

    def map_unordered(self, tasks: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Yields each task with its result, in the order in which they finish.

        Tasks are drawn from the iterable as the cluster has room for them, two for each CPU. A task whose worker or
        machine dies is done again. What the work raises is raised here, with the worker's traceback as a note.

        Args:
            tasks: what the work is called with.

        Raises:
            WorkerError: workers die again and again on the same task, or cannot do their work.
        """
        jobs, in_hand = Jobs(tasks), dict[Any, Job[T]]()
        try:
            while self._hand_out(jobs, in_hand):
                for reference in self._finished(list(in_hand)):
                    job = in_hand.pop(reference)
                    reply = self._reply(reference, job)
                    if reply is None:
                        jobs.put_back([job])
                        continue
                    result: R = opened(reply, job.task)
                    self._hand_out(jobs, in_hand)
                    yield job.task, result
        finally:
            if self._submit is not None:
                for reference in in_hand:
                    self._ray.cancel(reference, force=True)

    def _hand_out(self, jobs: Jobs[T], in_hand: dict[Any, Job[T]]) -> bool:
        """Gives out jobs as long as there is room, and returns whether any are in hand."""
        if self._submit is None:
            raise InvalidInputError("expected a Ray pool inside its with block, got one outside")
        self._count()
        while len(in_hand) < max(1, _IN_HAND * self.cpus) and (job := jobs.next()):
            in_hand[self._submit(_flat(packed_task(job.task)))] = job
        return bool(in_hand)

    def _count(self) -> None:
        """Looks how large the cluster is, now and then."""
        if time.monotonic() - self._asked >= _LOOK_ROUND:
            self._asked = time.monotonic()
            cpus = [int(node["Resources"].get("CPU", 0)) for node in self._ray.nodes() if node["Alive"]]
            self._nodes, self.cpus = sum(count > 0 for count in cpus), sum(cpus)

    def _finished(self, references: list[Any]) -> list[Any]:
        """What is done, after a short while at the latest."""
        wait = functools.partial(self._ray.wait, references, fetch_local=False)
        ready, _ = wait(num_returns=1, timeout=_LOOK_ROUND)
        if ready:
            ready, _ = wait(num_returns=len(references), timeout=0)
        return list(ready)

    def _reply(self, reference: Any, job: Job[T]) -> Message | None:
        """What a worker says about its job; None if it has died, or its answer with its machine."""
        errors = self._ray.exceptions
        try:
            kind, frames = self._ray.get(reference)
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError, errors.ObjectLostError) as e:
            job.note_death(type(e).__name__)
            return None
        except errors.RayError as error:  # the work itself is never to blame: what it raises is an answer
            reason = str(error).strip().splitlines()[-1]
            raise WorkerError(
                f"expected a Ray cluster with flipproof {versions()['flipproof']} on all machines, got: {reason}"
            ) from error
        reply = Message(Kind(kind), tuple(map(memoryview, frames)))
        if reply.kind is Kind.UNUSABLE:
            raise WorkerError(reply.value())
        return reply


@dataclass(frozen=True, slots=True, eq=False)
class SpanEvaluation:
    """Evaluates the chunks of a span one after the other, and adds up their counts where they are.

    Returns the counts, in parts if not all chunks have the same outputs, and the seconds that each chunk took.
    """

    evaluation: Evaluation

    def __repr__(self) -> str:
        return repr(self.evaluation)

    def __call__(self, span: Chunk) -> tuple[list[tuple[Chunk, IntArray]], float]:
        """Counts of neighbouring chunks, and seconds per chunk."""
        start, parts = time.perf_counter(), list[tuple[Chunk, IntArray]]()
        chunks = list(self.evaluation.plan.chunks(span.role, span.samples, SampleRanges()))
        for chunk in chunks:
            counts = self.evaluation(chunk)
            if parts and parts[-1][1].shape == counts.shape:
                before, sums = parts.pop()
                chunk, counts = _joined(before, chunk), sums + counts
            parts.append((chunk, counts))
        return parts, (time.perf_counter() - start) / len(chunks)


class Spans:
    """Neighbouring chunks put together, as many as take a worker some seconds, so that the driver keeps pace.

    What a task costs the driver does not depend on how long it is. `learn` tells how long a chunk takes.

    Example:
        >>> spans = Spans(Chunk("estimate", range(start, start + 10)) for start in range(0, 50, 10))
        >>> run = iter(spans)
        >>> str(next(run))
        'estimate samples 0 to 9'
        >>> spans.learn(0.1, cpus=8)
        >>> [str(span) for span in run]
        ['estimate samples 10 to 29', 'estimate samples 30 to 49']
    """

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self._chunks, self._size = chunks, 1

    def learn(self, seconds: float, cpus: int) -> None:
        """A chunk took so long, on one of so many CPUs. Spans double at most: the first chunks may not be typical."""
        wanted = max(_SPAN, _SPAN_PER_CPU * cpus)
        self._size = max(1, min(2 * self._size, int(wanted / max(seconds, 1e-9)), _LONGEST_SPAN))

    def __iter__(self) -> Iterator[Chunk]:
        span, size = None, 0
        for chunk in self._chunks:
            if span is None or (size < self._size and _adjoin(span, chunk)):
                span, size = chunk if span is None else _joined(span, chunk), size + 1
            else:
                yield span
                span, size = chunk, 1
        if span is not None:
            yield span


def _adjoin(one: Chunk, other: Chunk) -> bool:
    return (one.role, one.samples.stop) == (other.role, other.samples.start)


def _joined(one: Chunk, other: Chunk) -> Chunk:
    return Chunk(one.role, range(one.samples.start, other.samples.stop))


# What runs in the workers


_LATEST: dict[str, Callable[[Any], Any]] = {}
"""The work of the latest pool that this process has worked for, by the name of the pool."""
_FOR_GOOD = contextlib.ExitStack()


def _answer(pool: str, parcel: list[Any], request: Frames) -> Frames:
    """The answer to one task, and the work unpacked if this is the first."""
    if pool not in _LATEST:
        _LATEST.clear()
        path, expected, content = importlib.import_module("ray").get(parcel[0])
        sys.path.extend(entry for entry in path if entry not in sys.path)
        problem = _unpacked(pool, content)
        if problem := _difference(expected) or problem:
            _LATEST.clear()
            return _flat(Message.of(Kind.UNUSABLE, problem))
    try:
        kind, frames = request
        task = Message(Kind(kind), tuple(map(memoryview, frames))).value()
        return _flat(Message.of(Kind.RESULT, _LATEST[pool](task)))
    except BaseException as error:  # SystemExit too: what it means is for the driver to decide
        return _flat(Message.of(Kind.ERROR, Failure.of(error)))


def _unpacked(pool: str, content: bytes) -> str | None:
    try:
        _LATEST[pool] = pickle.loads(content)
    except BaseException as error:
        return f"expected a classifier that workers can unpickle, got: {summary_of(error)}"
    _FOR_GOOD.enter_context(single_threaded())  # after unpickling, which loads the libraries to be limited
    return None


def _flat(message: Message) -> Frames:
    return int(message.kind), [bytes(frame) for frame in message.frames]


def _expected_versions() -> dict[str, str]:
    return {**versions(), "noise stream": str(STREAM_VERSION)}


def _difference(expected: dict[str, str]) -> str | None:
    """Votes say with which versions they were drawn, so all machines must have the same."""
    for name, here in _expected_versions().items():
        if (wanted := expected.get(name, here)) != here:
            return f"expected {name} {wanted} on all machines, got {here} on {socket.gethostname()}"
    return None


# The cluster


def _required_ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise MissingExtraError(
            f'expected ray to be installed, got "{error}": pip install "flipproof[cluster]"'
        ) from error


def _checked_address(address: Any) -> str:
    """Where the cluster is: HOST:PORT, "auto", or "local" for one of our own."""
    if address in (None, "auto"):
        address = os.environ.get("RAY_ADDRESS") or address or "local"
    host, _, port = address.rpartition(":") if isinstance(address, str) else ("", "", "")
    if address in ("auto", "local") or (host and "/" not in host and port.isdecimal() and int(port) < 2**16):
        return str(address)
    raise InvalidInputError(
        f"expected the address of a Ray cluster to be HOST:PORT or 'auto', on one of its machines, got {address!r}"
    )


@contextlib.contextmanager
def _connected(ray: Any, address: str) -> Iterator[None]:
    """Inside, there is a cluster; afterwards, everything is as before. Also after a Ctrl-C on the way."""
    if ray.is_initialized():
        used = ray.get_runtime_context().gcs_address
        if address not in ("auto", "local", used):
            raise InvalidInputError(f"expected the Ray cluster that this program uses already, {used}, got {address}")
        yield
        return
    options = {"address": address, "log_to_driver": False, "logging_level": logging.CRITICAL}
    with contextlib.ExitStack() as stack:
        if address == "local":
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            # Not in TMPDIR: the names of Ray's sockets must be short.
            short = "/tmp" if os.path.isdir("/tmp") else None
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="fp-", dir=short, ignore_cleanup_errors=True)
            )
            options |= {"_temp_dir": folder, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        elif address != "auto":
            _check_answers(address)
        if threading.current_thread() is threading.main_thread():
            stack.callback(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))  # Ray sets its own
        stack.callback(ray.shutdown)
        try:
            ray.init(**options)
        except Exception as error:  # whatever Ray raises
            hint = "" if "RAY_AUTH_MODE" in os.environ else "; if it asks for a token, set RAY_AUTH_MODE=token"
            raise WorkerError(f"expected a Ray cluster ({address}), got: {summary_of(error)}{hint}") from error
        yield


def _check_answers(address: str) -> None:
    """Ray itself would try for many minutes."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _PATIENCE) as connection:
            if os.environ.get("RAY_USE_TLS", "0") != "0":
                return
            connection.sendall(_HTTP2_HELLO)
            answer = connection.recv(9)
    except OSError as error:
        raise InvalidInputError(f"expected a Ray cluster at {address}, got: {error.strerror or error}") from error
    if answer[3:4] != b"\x04":
        raise InvalidInputError(f"expected a Ray cluster at {address}, got something else that listens there")
