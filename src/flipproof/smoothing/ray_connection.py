"""The way to a Ray cluster: one that is there, or one of this machine alone that is started and ended again."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from typing import Any

from flipproof.errors import InvalidInputError
from flipproof.smoothing.worker_main import summary_of
from flipproof.smoothing.workers import WorkerError

_PATIENCE = 5.0  # seconds for a cluster to answer
_HTTP2_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
"""The beginning of every gRPC connection; a server answers with a frame of the same kind, 4."""


def checked_address(address: Any) -> str:
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
def connected(ray: Any, address: str) -> Iterator[None]:
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
        check_answers(address)
        if threading.current_thread() is threading.main_thread():
            stack.callback(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))  # Ray sets its own
        stack.callback(ray.shutdown)
        try:
            ray.init(**options)
        except Exception as error:  # whatever Ray raises
            hint = "" if "RAY_AUTH_MODE" in os.environ else "; if it asks for a token, set RAY_AUTH_MODE=token"
            raise WorkerError(f"expected a Ray cluster ({address}), got: {summary_of(error)}{hint}") from error
        yield


def check_answers(address: str) -> None:
    """Refuses HOST:PORT where there is no cluster; Ray itself would try for many minutes."""
    if address in ("auto", "local"):
        return
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
