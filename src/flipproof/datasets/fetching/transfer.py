"""One https request for a file or the rest of it. Plain http is allowed to this machine only."""

from __future__ import annotations

import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import IO, Any
from urllib.parse import urlsplit

from flipproof.datasets.fetching.part_file import PartFile
from flipproof.errors import FileFormatError

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
        answer = _opener().open(request, timeout=_SECONDS)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and part.length:
            return  # the server says that nothing is missing
        raise OSError(f"HTTP status {error.code}") from None
    with answer:
        if not _resumes(answer, part.length):
            part.clear()
        _copy(answer, part, most, report)


def _opener() -> urllib.request.OpenerDirector:
    """An opener that always checks certificates, whatever the rest of the process does, and restricts redirections."""
    return urllib.request.build_opener(
        _SafeRedirects, urllib.request.HTTPSHandler(context=ssl.create_default_context())
    )


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


def _resumes(answer: Any, start: int) -> bool:
    """Whether the answer continues where the part ends."""
    return answer.status == 206 and str(answer.headers.get("Content-Range")).startswith(f"bytes {start}-")


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
