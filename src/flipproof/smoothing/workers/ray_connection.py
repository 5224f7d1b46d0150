"""Connections to a Ray cluster: to a running one, or to one of this machine alone that is started and ended again."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any, NoReturn

from flipproof.errors import InvalidInputError
from flipproof.smoothing.classifier import WorkerError
from flipproof.smoothing.workers.worker_main import summary_of

_PATIENCE = 4.0  # seconds for a cluster to answer, so that a user learns within five seconds that it does not
_PING = b"flipping"
_HTTP2_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5) + b"\0\0\x08\x06" + bytes(5) + _PING
"""The beginning of every gRPC connection, and a ping; a server answers with a frame of the same kind, 4, ..."""
_HTTP2_PONG = b"\0\0\x08\x06\x01" + bytes(4) + _PING
"""... and then with this."""
_ENOUGH = 10_000  # bytes; a server returns the ping before it sends more than this
_ENDINGS = ("SIGTERM", "SIGHUP")


@contextlib.contextmanager
def connected(ray: Any, address: str) -> Iterator[None]:
    """Connects to a cluster for the block. Afterwards, even after a Ctrl-C, everything is as before."""
    if ray.is_initialized():
        used = ray.get_runtime_context().gcs_address
        if address not in ("auto", "local", used):
            raise InvalidInputError(f"expected the Ray cluster that this program already uses, {used}, got {address}")
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
        check_answers(address)
        handlers = stack.enter_context(_handlers())
        stack.callback(ray.shutdown)
        try:
            ray.init(**options)
        except Exception as error:  # whatever Ray raises
            hint = "" if "RAY_AUTH_MODE" in os.environ else "; if it asks for a token, set RAY_AUTH_MODE=token"
            raise WorkerError(f"expected a Ray cluster ({address}), got: {summary_of(error)}{hint}") from error
        _install(handlers)  # Ray has set its own handler for SIGTERM
        yield


@contextlib.contextmanager
def _handlers() -> Iterator[dict[int, Any]]:
    """Handles signals that end a program: it leaves its `with` blocks, so that no process of Ray survives it.

    If the program handles or ignores a signal itself, it continues to do so. Afterwards, everything is as before.
    """
    here = threading.current_thread() is threading.main_thread()  # other threads may not set handlers
    signals = [getattr(signal, name) for name in _ENDINGS if here and hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in signals}
    inside = {number: _leave if handler is signal.SIG_DFL else handler for number, handler in before.items()}
    try:
        _install(inside)
        yield inside
    finally:
        _install(before)


def _install(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        if handler is not None:  # a handler that was not set from Python cannot be set again
            signal.signal(number, handler)


def _leave(number: int, _: object) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # a second signal would leave processes of Ray behind
    raise SystemExit(128 + number)


def check_answers(address: str) -> None:
    """Refuses HOST:PORT if no cluster answers there; Ray itself would try for many minutes."""
    if address in ("auto", "local"):
        return
    host, _, port = address.rpartition(":")
    deadline = time.monotonic() + _PATIENCE
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _PATIENCE) as connection:
            if os.environ.get("RAY_USE_TLS", "0") != "0":
                return
            connection.sendall(_HTTP2_HELLO)
            answered = _speaks_http2(connection, deadline)
    except OSError as error:
        raise InvalidInputError(f"expected a Ray cluster at {address}, got: {error.strerror or error}") from error
    if not answered:
        raise InvalidInputError(f"expected a Ray cluster at {address}, got something else that listens there")


def _speaks_http2(connection: socket.socket, deadline: float) -> bool:
    """Whether the other side greets and returns the ping; its silence is an `OSError`."""
    answer = b""
    while _HTTP2_PONG not in answer and len(answer) < _ENOUGH:
        connection.settimeout(max(0.001, deadline - time.monotonic()))
        received = connection.recv(_ENOUGH)
        answer += received
        if not received or answer[3:4] not in (b"", b"\x04"):
            return False
    return _HTTP2_PONG in answer
