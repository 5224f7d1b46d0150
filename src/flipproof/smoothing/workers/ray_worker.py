"""The code that runs in the workers of a Ray cluster, and the form in which Ray carries messages to them and back."""

from __future__ import annotations

import contextlib
import faulthandler
import pickle
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from flipproof.base.compiled import source_stamp
from flipproof.base.threads import single_threaded
from flipproof.extras import require
from flipproof.smoothing.run import STREAM_VERSION, versions
from flipproof.smoothing.workers.processes import START
from flipproof.smoothing.workers.worker_main import Message, MessageKind, answer, make_ready, summary_of

Frames = tuple[int, list[bytes]]
"""A message as Ray carries it: its kind and its frames."""

_LATEST: dict[str, Callable[[Any], Any]] = {}
"""The work of the latest pool that this process has worked for, by the name of the pool."""
_FOR_GOOD = contextlib.ExitStack()


def flat(message: Message) -> Frames:
    """A message in the form in which Ray carries it."""
    return int(message.kind), [bytes(frame) for frame in message.frames]


def message_of(carried: Frames) -> Message:
    """The message that Ray has carried."""
    kind, frames = carried
    return Message(MessageKind(kind), tuple(map(memoryview, frames)))


def answer_on_cluster(pool: str, parcel: list[Any], request: Frames, seconds: float | None) -> Frames:
    """Answers one task; for the first task of a pool, it unpacks the pool's work before.

    Args:
        pool: the name of the pool.
        parcel: a list with the reference to what all workers need: the path of modules, `expected_versions` and the
            pickled work. Because it is in a list, Ray fetches it only when it is needed.
        request: the task.
        seconds: how long the task may take before this process ends itself. Unpacking the work may take some minutes.
    """
    if pool not in _LATEST:
        _LATEST.clear()
        path, expected, content = require("ray").get(parcel[0])
        sys.path.extend(entry for entry in path if entry not in sys.path)
        with _at_most(None if seconds is None else max(seconds, START)):
            problem = _unpacked(pool, content)
        if problem := _difference(expected) or problem:
            _LATEST.clear()
            return flat(Message.of(MessageKind.UNUSABLE, problem))
    with _at_most(seconds):
        return flat(answer(_LATEST[pool], message_of(request)))


@contextlib.contextmanager
def _at_most(seconds: float | None) -> Iterator[None]:
    """Ends this process if the block takes longer, and says in its log where it hangs.

    Only the worker knows when a task begins, as Ray may let it wait. The interpreter's own watchdog needs no lock of
    Python, so it also ends foreign code that never lets other threads run.
    """
    if seconds is not None:
        faulthandler.dump_traceback_later(min(seconds, threading.TIMEOUT_MAX), exit=True, file=2)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _unpacked(pool: str, content: bytes) -> str | None:
    try:
        _LATEST[pool] = pickle.loads(content)
    except BaseException as error:
        return f"expected a classifier that workers can unpickle, got: {summary_of(error)}"
    _FOR_GOOD.enter_context(single_threaded())  # after unpickling, which loads the libraries to be limited
    make_ready(_LATEST[pool])
    return None


def expected_versions() -> dict[str, str]:
    """The versions, on this machine, of everything that votes depend on."""
    return {**versions(), "noise stream": str(STREAM_VERSION), "source of flipproof": source_stamp()[:12]}


def _difference(expected: dict[str, str]) -> str | None:
    """Says so if a version differs from the expected one: votes state their versions, so all machines must agree."""
    for name, here in expected_versions().items():
        if (wanted := expected.get(name, here)) != here:
            return f"expected {name} {wanted} on all machines, got {here} on {socket.gethostname()}"
    return None
