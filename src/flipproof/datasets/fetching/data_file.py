"""A file of a dataset: its name, its sha256 and its public homes. Contents that do not match are refused."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

from flipproof.datasets.fetching.archives import unzipped
from flipproof.errors import FileFormatError, FlipproofError
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
