"""Readers of zip, gzip and tar files with known sizes: an archive may unpack to more than it declares."""

from __future__ import annotations

import contextlib
import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterator, Mapping

from flipproof.errors import FileFormatError, reason_of
from flipproof.files.archive import plain_member

_MOST_UNTARRED = 2**28
_BLOCK, _AT_ONCE = 512, 2**20


def gunzipped(content: bytes, size: int) -> bytes:
    """The text inside a gzip file, which must have exactly this size.

    Example:
        >>> gunzipped(gzip.compress(b"abc"), 3)
        b'abc'
    """
    with _unpacking("gzip"), gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
        return _exactly(stream.read(size + 1), size)


def unzipped(content: bytes, member: str, most: int) -> bytes:
    """A member of a zip file, which may hold at most `most` bytes."""
    with _unpacking("zip"), zipfile.ZipFile(io.BytesIO(content)) as archive:
        if member not in archive.namelist():
            raise FileFormatError(f"it has no member {member}")
        with archive.open(plain_member(archive, member)) as stream:
            read = stream.read(most + 1)
    return read if len(read) <= most else _exactly(read, most)


def untarred(content: bytes, sizes: Mapping[str, int]) -> dict[str, bytes]:
    """The first bytes of some members of a gzipped tar file; `sizes` gives the number of bytes for each."""
    found: dict[str, bytes] = {}
    with _unpacking("tar"), gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
        left = _MOST_UNTARRED
        while len(found) < len(sizes) and (header := stream.read(_BLOCK)).strip(b"\0"):
            member = tarfile.TarInfo.frombuf(header, "utf-8", "strict")
            padded = -(-member.size // _BLOCK) * _BLOCK
            left -= _BLOCK + padded
            if padded < 0 or left < 0:
                raise FileFormatError(f"it unpacks to more than {_MOST_UNTARRED:,} bytes")
            wanted = sizes.get(member.name, 0)
            if member.name in sizes:
                found[member.name] = _exactly(stream.read(min(wanted, member.size)), wanted)
            _skip(stream, padded - min(wanted, member.size))
    if len(found) < len(sizes):
        raise FileFormatError(f"it has no member {', '.join(sorted(set(sizes) - set(found)))}")
    return found


def _skip(stream: gzip.GzipFile, count: int) -> None:
    while count > 0 and (block := stream.read(min(count, _AT_ONCE))):
        count -= len(block)


@contextlib.contextmanager
def _unpacking(kind: str) -> Iterator[None]:
    """Turns any error that a damaged or hostile archive causes into a `FileFormatError`."""
    try:
        yield
    except FileFormatError:
        raise
    except Exception as error:
        raise FileFormatError(f"it is no {kind} file ({reason_of(error)})") from error


def _exactly(read: bytes, size: int) -> bytes:
    if len(read) != size:
        got = "more" if len(read) > size else str(len(read))
        raise FileFormatError(f"it unpacks to {got} bytes instead of {size}")
    return read
