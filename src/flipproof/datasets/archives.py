"""What is inside zip, gzip and tar files, read up to a known size: an archive may promise less than it unpacks to."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping

from flipproof.errors import FileFormatError


def gunzipped(content: bytes, size: int) -> bytes:
    """The text inside a gzip file, which has to have this size.

    Example:
        >>> gunzipped(gzip.compress(b"abc"), 3)
        b'abc'
    """
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
        return _exactly(stream.read(size + 1), size)


def unzipped(content: bytes, member: str, most: int) -> bytes:
    """A member of a zip file that holds at most so many bytes."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if member not in archive.namelist():
            raise FileFormatError(f"it has no member {member}")
        with archive.open(member) as stream:
            read = stream.read(most + 1)
    return read if len(read) <= most else _exactly(read, most)


def untarred(content: bytes, sizes: Mapping[str, int]) -> dict[str, bytes]:
    """The first bytes of some members of a gzipped tar file, as many of each as asked for."""
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(content), mode="r|gz") as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.name in sizes else None
            if stream is not None:
                found[member.name] = _exactly(stream.read(sizes[member.name]), sizes[member.name])
            if len(found) == len(sizes):
                return found
    raise FileFormatError(f"it has no member {', '.join(sorted(set(sizes) - set(found)))}")


def _exactly(read: bytes, size: int) -> bytes:
    if len(read) != size:
        got = "more" if len(read) > size else str(len(read))
        raise FileFormatError(f"it unpacks to {got} bytes instead of {size}")
    return read
