"""A pool of workers on a Ray cluster: one function on many tasks, on all machines, even if some of them die.

Neighbouring chunks are one task there, so that the driver, which hands tasks out, keeps pace with the workers.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from flipproof.base.threads import ONE_THREAD_ENVIRONMENT
from flipproof.base.values import IntArray
from flipproof.errors import InvalidInputError
from flipproof.extras import require
from flipproof.smoothing.classifier import WorkerError
from flipproof.smoothing.run import versions
from flipproof.smoothing.voting.chunks import OUT_OF_MEMORY, Chunk, Workers, checked_address, checked_timeout
from flipproof.smoothing.voting.drawn_samples import SampleRanges
from flipproof.smoothing.voting.evaluation import Evaluation
from flipproof.smoothing.voting.vote_counts import samples_per_portion
from flipproof.smoothing.workers.pending_tasks import PendingTask, PendingTasks, opened, packed_task, packed_work
from flipproof.smoothing.workers.processes import KEEPING_MEMORY
from flipproof.smoothing.workers.ray_connection import connected
from flipproof.smoothing.workers.ray_worker import Frames, answer_on_cluster, expected_versions, flat, message_of
from flipproof.smoothing.workers.worker_main import Message, MessageKind

T = TypeVar("T")
R = TypeVar("R")

_SECONDS_PER_TASK, _MOST_CHUNKS = 2.0, 4096  # seconds at least that a task should take, chunks at most that it has
_SECONDS_PER_CPU = 0.005  # seconds; so the driver, which needs about 3 ms for a result, gets 200 per second at most
_IN_HAND = 2  # for each CPU: one task runs, one waits, so that a worker never idles until the driver has time for it
_LOOK_ROUND = 1.0  # seconds until machines that have joined or left are noticed


class RayPool(Generic[T, R]):
    """Runs one function on many tasks on a Ray cluster, with one CPU and one numerical thread for each.

    The function, with all the data it holds, is sent once to every machine and unpickled once in every process. It
    may be defined in the program itself; packages that it imports must be installed on all machines.

    Args:
        work: the function.
        address: the address of a cluster: HOST:PORT, or "auto" for the one that runs on this machine. Without an
            address, the environment variable RAY_ADDRESS counts. Without both, a cluster of this machine alone is
            started and ended with the `with` block. Where a program has called `ray.init`, its cluster is used.
        timeout: seconds that one part of a task may take; a worker that takes longer ends itself.
        parts: returns how many parts a task has.

    Example:
        >>> with RayPool(lambda number: number**2) as pool:  # doctest: +SKIP
        ...     sorted(pool.map_unordered(range(4)))
        [(0, 0), (1, 1), (2, 4), (3, 9)]
    """

    def __init__(
        self,
        work: Callable[[T], R],
        address: str | None = None,
        timeout: float | None = None,
        parts: Callable[[T], int] = lambda _: 1,
    ) -> None:
        self._address = checked_address(address)
        self._timeout, self._parts = checked_timeout(timeout), parts
        self._ray = require("ray")
        [self._content] = packed_work(work).frames
        self._submit: Callable[[Frames, float | None], Any] | None = None
        self._open = contextlib.ExitStack()
        self._asked = -_LOOK_ROUND
        self._nodes, self.cpus = 0, 0

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            # Ray prints news of machines to stdout, where a program may be writing what another one reads.
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))
            stack.enter_context(connected(self._ray, self._address))
            self._count()
            if not self.cpus:
                raise WorkerError(f"expected a Ray cluster with CPUs, got {self.places}; see ray start --address")
            path = [os.path.abspath(entry) for entry in sys.path if isinstance(entry, str)]
            parcel = self._ray.put((path, expected_versions(), bytes(self._content)))
            environment = {**KEEPING_MEMORY, **ONE_THREAD_ENVIRONMENT}
            # Ray would not say how often a task has failed: it is done again from here.
            as_remote = self._ray.remote(num_cpus=1, max_retries=0, runtime_env={"env_vars": environment})
            self._submit = functools.partial(as_remote(answer_on_cluster).remote, uuid.uuid4().hex, [parcel])
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
        machine dies is done again; a task that takes too long gets one more try. Exceptions of the work are raised
        here, with the worker's traceback as a note.

        Args:
            tasks: the arguments with which the work is called.

        Raises:
            WorkerError: workers die or hang repeatedly on the same task, or cannot do their work.
        """
        waiting, in_hand = PendingTasks(tasks), dict[Any, PendingTask[T]]()
        try:
            while self._hand_out(waiting, in_hand):
                for reference in self._finished(list(in_hand)):
                    pending = in_hand.pop(reference)
                    reply = self._reply(reference, pending)
                    if reply is None:
                        waiting.put_back([pending])
                        continue
                    result: R = opened(reply, pending.task)
                    self._hand_out(waiting, in_hand)
                    yield pending.task, result
        finally:
            if self._submit is not None:
                for reference in in_hand:
                    self._ray.cancel(reference, force=True)

    def _hand_out(self, waiting: PendingTasks[T], in_hand: dict[Any, PendingTask[T]]) -> bool:
        """Gives out tasks as long as there is room, and returns whether any are in hand."""
        if self._submit is None:
            raise InvalidInputError("expected a Ray pool inside its with block, got one outside")
        self._count()
        while len(in_hand) < max(1, _IN_HAND * self.cpus) and (pending := waiting.next()):
            pending.given = time.monotonic()
            in_hand[self._submit(flat(packed_task(pending.task)), self._time_for(pending))] = pending
        return bool(in_hand)

    def _time_for(self, pending: PendingTask[T]) -> float | None:
        return None if self._timeout is None else self._timeout * self._parts(pending.task)

    def _count(self) -> None:
        """Updates the size of the cluster, at most once in a while."""
        if time.monotonic() - self._asked >= _LOOK_ROUND:
            self._asked = time.monotonic()
            cpus = [int(node["Resources"].get("CPU", 0)) for node in self._ray.nodes() if node["Alive"]]
            self._nodes, self.cpus = sum(count > 0 for count in cpus), sum(cpus)

    def _finished(self, references: list[Any]) -> list[Any]:
        """The tasks that are done; returns after a short while even if there are none."""
        wait = functools.partial(self._ray.wait, references, fetch_local=False)
        ready, _ = wait(num_returns=1, timeout=_LOOK_ROUND)
        if ready:
            ready, _ = wait(num_returns=len(references), timeout=0)
        return list(ready)

    def _reply(self, reference: Any, pending: PendingTask[T]) -> Message | None:
        """A worker's reply to its task; None if the worker has died, or its machine with the reply."""
        errors = self._ray.exceptions
        try:
            reply = message_of(self._ray.get(reference))
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError, errors.ObjectLostError) as e:
            self._note_death(pending, e)
            return None
        except errors.RayError as error:  # the work itself is never to blame: what it raises is an answer
            reason = str(error).strip().splitlines()[-1]
            raise WorkerError(
                f"expected a Ray cluster with flipproof {versions()['flipproof']} on all machines, got: {reason}"
            ) from error
        if reply.kind is MessageKind.UNUSABLE:
            raise WorkerError(reply.value())
        return reply

    def _note_death(self, pending: PendingTask[T], error: Exception) -> None:
        """Counts a death, or a timeout if the task had its full time: Ray does not say why a worker has ended."""
        seconds = self._time_for(pending)
        if seconds is not None and time.monotonic() - pending.given >= seconds:
            pending.note_timeout(seconds)
        else:
            hint = f"; {OUT_OF_MEMORY}" if isinstance(error, self._ray.exceptions.OutOfMemoryError) else ""
            pending.note_death(f"{type(error).__name__}{hint}")


@dataclass(frozen=True, slots=True, eq=False)
class GroupEvaluation:
    """Evaluates the chunks of a group one after the other in one worker, and adds up their counts there.

    Returns the counts, in parts if not all chunks have the same outputs, and the mean number of seconds per chunk.
    """

    evaluation: Evaluation

    def __repr__(self) -> str:
        return repr(self.evaluation)

    def compile(self) -> None:
        """Compiles all loops that the evaluation needs."""
        self.evaluation.compile()

    def __call__(self, group: Chunk) -> tuple[list[tuple[Chunk, IntArray]], float]:
        """Counts of neighbouring chunks, and seconds per chunk."""
        start, parts = time.perf_counter(), list[tuple[Chunk, IntArray]]()
        chunks = list(self.evaluation.plan.chunks(group.role, group.samples, SampleRanges()))
        for chunk in chunks:
            counts = self.evaluation(chunk)
            if parts and parts[-1][1].shape == counts.shape:
                before, sums = parts.pop()
                chunk, counts = _joined(before, chunk), sums + counts
            parts.append((chunk, counts))
        return parts, (time.perf_counter() - start) / len(chunks)


class ChunkGroups:
    """Puts neighbouring chunks together, as many as take a worker some seconds, so that the driver keeps pace.

    A task costs the driver the same, however long it is. `learn` says how long a chunk takes. A group lies within one
    portion of the samples; `samples` has the number of samples of each role, which fixes the length of portions.

    Example:
        >>> chunks = [Chunk("estimate", range(start, start + 10)) for start in range(0, 50, 10)]
        >>> groups = ChunkGroups(chunks, {"estimate": 3000})
        >>> run = iter(groups)
        >>> str(next(run))
        'estimate samples 0 to 9'
        >>> groups.learn(0.1, cpus=8)
        >>> [str(group) for group in run]
        ['estimate samples 10 to 29', 'estimate samples 30 to 49']
    """

    def __init__(self, chunks: Iterable[Chunk], samples: Mapping[str, int]) -> None:
        self._chunks, self._size = chunks, 1
        self._portion = {role: samples_per_portion(count) for role, count in samples.items()}

    def learn(self, seconds: float, cpus: int) -> None:
        """Fits the size of groups to the seconds that a chunk took on one of the CPUs.

        Groups double at most: the first chunks may not be typical.
        """
        wanted = max(_SECONDS_PER_TASK, _SECONDS_PER_CPU * cpus)
        self._size = max(1, min(2 * self._size, int(wanted / max(seconds, 1e-9)), _MOST_CHUNKS))

    def __iter__(self) -> Iterator[Chunk]:
        group, size = None, 0
        for chunk in self._chunks:
            if group is None or (size < self._size and self._adjoin(group, chunk)):
                group, size = chunk if group is None else _joined(group, chunk), size + 1
            else:
                yield group
                group, size = chunk, 1
        if group is not None:
            yield group

    def _adjoin(self, one: Chunk, other: Chunk) -> bool:
        portion = self._portion[one.role]
        neighbours = (one.role, one.samples.stop) == (other.role, other.samples.start)
        return neighbours and one.samples.start // portion == other.samples.start // portion


def _joined(one: Chunk, other: Chunk) -> Chunk:
    return Chunk(one.role, range(one.samples.start, other.samples.stop))


def on_cluster(
    evaluation: Evaluation, chunks: Iterable[Chunk], samples: Mapping[str, int], workers: Workers
) -> Iterator[tuple[Chunk, IntArray, str]]:
    """The counts of chunks that are evaluated in groups on a Ray cluster; `samples` has how many each role wants."""
    groups = ChunkGroups(chunks, samples)
    with RayPool(GroupEvaluation(evaluation), workers.address, workers.timeout, evaluation.plan.count) as cluster:
        for _, (parts, seconds) in cluster.map_unordered(groups):
            groups.learn(seconds, cluster.cpus)
            yield from ((chunk, counts, cluster.places) for chunk, counts in parts)
