"""A file of a dataset: its name, sha256, public homes and folders, and how it is unpacked. Other contents are refused.

An archive may unpack to more than it declares, so readers of zip, gzip and tar files are told its size.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import os
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from flipproof.errors import FileFormatError, FlipproofError, reason_of
from flipproof.files.archive import plain_member
from flipproof.files.whole import opened

_SHOWN = 16


class MissingDataError(FlipproofError):
    """A dataset is not in the folders that flipproof searches, and was not obtained from its public home."""


@dataclass(frozen=True, slots=True)
class Member:
    """A text inside an archive. Its checksum treats all line ends as LF, since copies differ in them."""

    name: str
    size: int
    sha256: str

    def read(self, archive: bytes) -> bytes:
        """Unpacks the text from the content of a zip file and checks it."""
        text = unzipped(archive, self.name, 2 * self.size).replace(b"\r\n", b"\n")
        got = hashlib.sha256(text).hexdigest()
        if got != self.sha256:
            raise FileFormatError(f"expected {self.name} with sha256 {self.sha256[:_SHOWN]}, got {got[:_SHOWN]}")
        return text


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a dataset.

    Attributes:
        name: the name of the file in the data folder.
        size: the length in bytes; for an archive without a sha256, the largest length allowed.
        sha256: the checksum of the whole file, or None if its members have checksums instead.
        urls: public homes, tried in this order; without any, the file cannot be downloaded.
        members: texts inside a zip file that must match their checksums.

    Example:
        >>> file = DataFile("abc.txt", 3, hashlib.sha256(b"abc").hexdigest())
        >>> file.check(b"abc")
        >>> file.check(b"abd")
        Traceback (most recent call last):
        flipproof.errors.FileFormatError: expected abc.txt with sha256 ba7816bf8f01cfea, got a52d159f262b2c6d
    """

    name: str
    size: int
    sha256: str | None
    urls: tuple[str, ...] = ()
    members: tuple[Member, ...] = ()

    @property
    def pin(self) -> str:
        """How a person can recognise the right file: its sha256, or the members it must contain."""
        if self.sha256 is not None:
            return f"sha256 {self.sha256}"
        return f"with {self.members[0].name} of sha256 {self.members[0].sha256}"

    def check(self, content: bytes) -> None:
        """Refuses content that does not match this file."""
        if len(content) > self.size:
            raise FileFormatError(f"expected {self.name} of at most {self.size} bytes, got more")
        if self.sha256 is not None:
            got = hashlib.sha256(content).hexdigest()
            if got != self.sha256:
                raise FileFormatError(f"expected {self.name} with sha256 {self.sha256[:_SHOWN]}, got {got[:_SHOWN]}")
            return
        try:
            for member in self.members:
                member.read(content)
        except FileFormatError as error:
            raise FileFormatError(f"expected {self.name} as it was published, got another: {error}") from error

    def read(self, path: str | os.PathLike[str]) -> bytes:
        """Reads and checks the file at this path; callers use exactly the content that was checked."""
        try:
            with opened(path) as stream:
                content = stream.read(self.size + 1)
        except OSError as error:
            raise FileFormatError(f"expected a readable file, got {path}: {error.strerror or error}") from error
        self.check(content)
        return content


VARIABLE = "FLIPPROOF_DATA"


def folders() -> tuple[Path, ...]:
    """The folders that are searched for files, in this order."""
    given = os.environ.get(VARIABLE)
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):  # the XDG standard ignores relative paths
        cache = os.path.join(os.path.expanduser("~"), ".cache")
    # Without a home, "~" stays unexpanded: never write into a folder of that name.
    found = [Path(given)] if given else []
    return (*found, Path(cache) / "flipproof") if os.path.isabs(cache) else tuple(found)


def find(name: str) -> Path | None:
    """The path of a file in the first folder that has it, or None."""
    return next((folder / name for folder in folders() if (folder / name).is_file()), None)


def folder_to_write() -> Path:
    """The first folder that can be written to; it is created if it does not exist."""
    for folder in folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    tried = " or ".join(map(str, folders())) or "no folder at all"
    raise MissingDataError(f"expected a folder to write data to, got {tried}; name one in {VARIABLE}")


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
