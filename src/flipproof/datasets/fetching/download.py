"""Downloads that survive interruptions: a part file grows, can be resumed, and gets its final name once checked."""

from __future__ import annotations

import contextlib
import errno
import http.client
import os
import re
import ssl
import stat
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from flipproof.base.progress import progress_line
from flipproof.datasets.fetching.data_file import DataFile, MissingDataError
from flipproof.errors import FileFormatError, FlipproofError
from flipproof.files.whole import cannot_write, is_still_at, take_lock

_ATTEMPTS = 3


def download(file: DataFile, folder: Path) -> Path:
    """Fetches a file from the first of its homes that has it, and returns its path.

    An interrupted download is resumed. The file gets its name only after its checksum proved right; a wrong file is
    removed. Several processes may download at once: one uses the part file that can be resumed later, the others use
    separate part files.
    """
    target = folder / file.name
    with open_part(target) as part:
        _fetch(file, part, folder)
        try:
            part.close()
            os.replace(part.path, target)
        except OSError as error:
            raise cannot_write(target, error) from error
    return target


def _fetch(file: DataFile, part: PartFile, folder: Path) -> None:
    """Tries one home after the other, and retries a home as long as it delivers bytes."""
    failure: tuple[Exception, str]
    with progress_line(file.name, ("bar", "bytes", "bytes/s", "time"), done=part.length) as line:
        for url in file.urls:
            for _ in range(_ATTEMPTS):
                before = part.length
                try:
                    transfer(url, part, file.size, lambda there, of: line.update(done=there, of=of))
                    file.check(part.content())
                    return
                except FileFormatError as error:
                    failure = error, url
                    part.clear()
                    if not before:  # else the resumed bytes may have been wrong: start over
                        break
                except (OSError, http.client.HTTPException, ValueError) as error:
                    failure = error, url
                    if part.length <= before:
                        break
    raise _refusal(file, folder, part, failure)


def _refusal(file: DataFile, folder: Path, part: PartFile, failure: tuple[Exception, str]) -> FlipproofError:
    """The one-line error that says what went wrong and what to do."""
    by_hand = f"put a copy ({file.pin}) into {folder}"
    error, url = failure
    if isinstance(error, FileFormatError):
        return FileFormatError(f"{error}, from {url}; nothing of it was kept; try again later, or {by_hand}")
    again = "try again to resume, or " if part.length and part.resumable else ""
    reason = " ".join(str(getattr(error, "reason", None) or error or type(error).__name__).split())
    return MissingDataError(f"expected to download {file.name}, got: {reason} ({url}); {again}{by_hand}")


Report = Callable[[int, int | None], None]
"""Receives the number of bytes that have arrived, and the total if it is known."""

_BLOCK = 2**16
_SECONDS = 30.0  # the longest time without a byte
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def transfer(url: str, part: PartFile, most: int, report: Report) -> None:
    """Adds the missing bytes to the part; starts again from zero if the server cannot resume.

    Raises:
        OSError: the server cannot be reached, refuses, or stops in the middle.
        FileFormatError: there are more than `most` bytes.
    """
    if part.length >= most:
        return  # nothing is missing; the checksum decides whether it is right
    if not _safe(url):
        raise OSError(f"expected an https address, got {url}")
    request = urllib.request.Request(url, headers={"User-Agent": "flipproof", "Accept-Encoding": "identity"})
    if part.length:
        request.add_header("Range", f"bytes={part.length}-")
    try:
        # it always checks certificates, whatever the rest of the process does, and restricts redirections
        checking = urllib.request.HTTPSHandler(context=ssl.create_default_context())
        answer = urllib.request.build_opener(_SafeRedirects, checking).open(request, timeout=_SECONDS)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and part.length:
            return  # the server says that nothing is missing
        raise OSError(f"HTTP status {error.code}") from None
    with answer:
        resumes = str(answer.headers.get("Content-Range")).startswith(f"bytes {part.length}-")
        if answer.status != 206 or not resumes:
            part.clear()
        _copy(answer, part, most, report)


def _copy(answer: Any, part: PartFile, most: int, report: Report) -> None:
    promised = answer.headers.get("Content-Length")
    end = part.length + int(promised) if promised and re.fullmatch(r"[0-9]{1,18}", promised) else None
    if end is not None and end > most:
        raise FileFormatError(f"expected at most {most} bytes, got {end}")
    report(part.length, end)
    while block := answer.read(_BLOCK):
        if part.length + len(block) > most:
            raise FileFormatError(f"expected at most {most} bytes, got more")
        part.write(block)
        report(part.length, end)
    if end is not None and part.length < end:
        raise OSError(f"the connection ended after {part.length} of {end} bytes")


def _safe(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname if parts.port != 0 else None  # raises for an invalid port
    except ValueError:
        return False
    return host is not None and (parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK))


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirections, but not away from https."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if not _safe(newurl) or (req.type == "https" and urlsplit(newurl).scheme != "https"):
            fp.close()
            raise OSError(f"expected an https address, got a redirection to {newurl}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_CAREFULLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Flags for `open`: never write a download through a link, and never wait for a pipe."""


class PartFile:
    """A growing file that can be written to, cleared and read back."""

    def __init__(self, path: Path, stream: IO[bytes], resumable: bool) -> None:
        self.path, self.resumable = path, resumable
        self._stream = stream
        self.length = stream.seek(0, os.SEEK_END)

    def write(self, block: bytes) -> None:
        """Adds a block at the end."""
        try:
            self._stream.write(block)
            self._stream.flush()
        except OSError as error:
            raise cannot_write(self.path, error) from error
        self.length += len(block)

    def clear(self) -> None:
        """Discards everything that has arrived."""
        self._stream.seek(0)
        self._stream.truncate()
        self.length = 0

    def content(self) -> bytes:
        """Everything that has arrived."""
        self._stream.seek(0)
        return self._stream.read()

    def close(self) -> None:
        """Writes everything that has arrived to disk."""
        self._stream.flush()
        os.fsync(self._stream.fileno())


@contextlib.contextmanager
def open_part(target: Path) -> Iterator[PartFile]:
    """The part file of a target, or a separate one if another process is using it.

    After an error or an interrupt the part file stays to be resumed, unless it is empty or no process would find it.
    """
    path = target.with_name(f".{target.name}.part")
    try:
        stream = _locked(path)
        resumable = stream is not None
        if stream is None:
            handle, name = tempfile.mkstemp(prefix=f".{target.name}-", suffix=".part", dir=target.parent)
            stream, path = os.fdopen(handle, "w+b"), Path(name)
            os.chmod(path, 0o644)
    except OSError as error:
        raise cannot_write(path, error) from error
    part = PartFile(path, stream, resumable)
    try:
        yield part
    finally:
        # Closing the stream releases the lock: unlink first, or the file may belong to another process by then.
        if is_still_at(stream.fileno(), path) and not (resumable and part.length):
            os.unlink(path)
        with contextlib.suppress(OSError):  # writing the block already reported a full disk
            stream.close()


def _locked(path: Path) -> IO[bytes] | None:
    """The file, if no other process holds it, else None. The lock ends with the process, even if that crashes."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _CAREFULLY, 0o644)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no file")
    stream = os.fdopen(descriptor, "a+b")
    try:
        # Without locks the file is ours at once; otherwise the previous holder may have given it its final name.
        if not take_lock(descriptor) or is_still_at(descriptor, path):
            return stream
    except OSError:
        pass
    stream.close()
    return None
