"""The child's side of a worker pool, and the messages that both sides send: a kind and the frames of one pickle."""

from __future__ import annotations

import contextlib
import enum
import functools
import io
import os
import pickle
import queue
import signal
import struct
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import cloudpickle

from flipproof.base.threads import single_threaded
from flipproof.errors import FlipproofError, FlipproofWarning

PROTOCOL = 5
_HEADER = struct.Struct("<II")  # kind, number of frames; then the size of each frame as 8 bytes, then the frames


class MessageKind(enum.IntEnum):
    """The kinds of messages."""

    REQUEST = 0  # to the child: the work once, then tasks
    READY = 1  # the child has unpacked the work
    UNUSABLE = 2  # the child cannot unpickle the work: the reason in words
    RESULT = 3
    ERROR = 4  # the work raised: a Failure


@dataclass(frozen=True, slots=True)
class Message:
    """A value in transit. Large buffers (arrays) are frames of their own and are never copied into the pickle."""

    kind: MessageKind
    frames: tuple[memoryview, ...]

    @classmethod
    def of(cls, kind: MessageKind, value: object) -> Message:
        """The message that carries a value."""
        buffers: list[pickle.PickleBuffer] = []
        # cloudpickle also sends what is defined in __main__, which the other side cannot import.
        body = cloudpickle.dumps(value, protocol=PROTOCOL, buffer_callback=buffers.append)
        return cls(kind, (memoryview(body), *(buffer.raw() for buffer in buffers)))

    def value(self) -> Any:
        """The value that was sent."""
        return pickle.loads(self.frames[0], buffers=self.frames[1:])

    def parts(self) -> Iterator[memoryview]:
        """The bytes to write, in order."""
        sizes = [len(frame) for frame in self.frames]
        yield memoryview(_HEADER.pack(self.kind, len(sizes)) + struct.pack(f"<{len(sizes)}Q", *sizes))
        yield from self.frames


def messages(descriptor: int) -> Iterator[Message | None]:
    """Messages until the other side closes the pipe; None whenever a non-blocking descriptor has no more for now."""
    try:
        while True:
            header = bytearray(_HEADER.size)
            yield from _filling(descriptor, header)
            kind, count = _HEADER.unpack(header)
            table = bytearray(8 * count)
            yield from _filling(descriptor, table)
            frames = [bytearray(size) for size in struct.unpack(f"<{count}Q", table)]
            for frame in frames:
                yield from _filling(descriptor, frame)
            yield Message(MessageKind(kind), tuple(map(memoryview, frames)))
    except EOFError:
        return


def _filling(descriptor: int, target: bytearray) -> Iterator[None]:
    rest = memoryview(target)
    while rest:
        try:
            count = os.readv(descriptor, [rest])
        except BlockingIOError:
            yield None
            continue
        if not count:
            raise EOFError
        rest = rest[count:]


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception of the work: pickled if possible, and in words in any case."""

    pickled: bytes | None
    summary: str
    traceback: str

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """The failure that describes an exception."""
        return cls(_portable(error), summary_of(error), "".join(traceback.format_exception(error)))

    def error(self) -> BaseException | None:
        """The exception itself; None if it cannot be unpickled here."""
        if self.pickled is None:
            return None
        try:
            error: BaseException = pickle.loads(self.pickled)()
        except Exception:  # for example a class that only the child can import; the words remain
            return None
        return error


def summary_of(error: BaseException) -> str:
    """An exception on one line."""
    return " ".join("".join(traceback.format_exception_only(error)).split())


def _portable(error: BaseException) -> bytes | None:
    """Bytes that give back an exception of the same type and text, or None if there are no such bytes."""
    try:
        pickled: bytes = cloudpickle.dumps(_recipe(error), protocol=PROTOCOL)
        copy = pickle.loads(pickled)()
        same = type(copy) is type(error) and str(copy) == str(error)
    except Exception:  # whatever the methods of a foreign class raise
        return None
    return pickled if same else None


def _recipe(error: BaseException) -> Callable[[], BaseException]:
    if not isinstance(error, FlipproofError):
        return functools.partial(_itself, error)
    attributes = {name: value for name, value in vars(error).items() if _can_be_pickled(value)}
    return functools.partial(_rebuilt, type(error), error.args, attributes)


def _itself(error: BaseException) -> BaseException:
    return error


def _rebuilt(kind: type[FlipproofError], args: tuple[Any, ...], attributes: dict[str, Any]) -> FlipproofError:
    """The error without a call of `__init__`, which might write the message a second time."""
    error = kind.__new__(kind, *args)
    error.args = args
    vars(error).update(attributes)
    return error


def _can_be_pickled(value: object) -> bool:
    try:
        pickle.loads(cloudpickle.dumps(value, protocol=PROTOCOL))
    except Exception:  # whatever the methods of a foreign class raise
        return False
    return True


def main(requests: int, replies: int) -> None:
    """Reads the work, then answers one task after the other until the parent closes the pipe.

    Args:
        requests: the descriptor of the pipe from the parent; it is not the stdin that the work reads.
        replies: the descriptor of the pipe to the parent; it is not the stdout that the work prints to.
    """
    _leave_interrupts_to_the_parent()
    if isinstance(sys.stdout, io.TextIOWrapper):  # otherwise lines in its buffer would be lost when the process ends
        sys.stdout.reconfigure(line_buffering=True)
    warnings.simplefilter("ignore", FlipproofWarning)  # the parent compiles the same loops first, and has said it
    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, inbox), daemon=True).start()
    try:
        work = inbox.get().value()
    except BaseException as error:
        _send(replies, Message.of(MessageKind.UNUSABLE, summary_of(error)))
        return
    with single_threaded():  # after unpickling, which loads the libraries to be limited
        make_ready(work)
        _send(replies, Message.of(MessageKind.READY, None))
        while True:
            _send(replies, answer(work, inbox.get()))


def make_ready(work: object) -> None:
    """Lets the work load its compiled loops, so that its first task does not pay for that."""
    if hasattr(work, "compile"):
        work.compile()


def _leave_interrupts_to_the_parent() -> None:
    """Ignores Ctrl-C, and unblocks the signal that the parent blocked while this process started."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _listen(requests: int, inbox: queue.SimpleQueue[Message]) -> NoReturn:
    """Takes messages off the pipe, also while a task runs, so that the end of the parent ends this process at once.

    Not PR_SET_PDEATHSIG: that exists on Linux only and fires when the *thread* that started the process ends, which
    may be long before its pool does. The pipe closes exactly when the parent closes it or dies, however it dies.
    (Foreign code that never lets other threads run delays the end until it returns; a closing pool sends SIGTERM too.)
    """
    try:
        for message in messages(requests):
            if message is not None:
                inbox.put(message)
    except BaseException:  # for example too little memory: nobody else would notice that this thread has ended
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def answer(work: Callable[[Any], Any], request: Message) -> Message:
    """The work's answer to a task: its result, or its failure."""
    try:
        return Message.of(MessageKind.RESULT, work(request.value()))
    except BaseException as error:  # SystemExit too: what it means is for the other side to decide
        return Message.of(MessageKind.ERROR, Failure.of(error))


def _send(replies: int, message: Message) -> None:
    with contextlib.suppress(BrokenPipeError):  # the parent is gone, and so will be this process
        for part in message.parts():
            while part:
                part = part[os.write(replies, part) :]
