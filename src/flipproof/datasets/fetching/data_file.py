"""A file that a dataset is made of: its name, its sha256 and its public homes. What does not match is refused."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

from flipproof.datasets.fetching.archives import unzipped
from flipproof.errors import FileFormatError, FlipproofError
from flipproof.files.whole import opened

_SHOWN = 16


class MissingDataError(FlipproofError):
    """A dataset is neither in the folders that flipproof looks in nor to be had from its public home."""


@dataclass(frozen=True, slots=True)
class Member:
    """A text inside an archive. Line ends are compared as LF, since copies differ in them."""

    name: str
    size: int
    sha256: str

    def read(self, archive: bytes) -> bytes:
        """The text, unpacked from the content of a zip file and checked."""
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
        size: its length in bytes; where the archive itself is not pinned, the most it may have.
        sha256: of the whole file, or None where its members are pinned instead.
        urls: public homes, tried in this order; none: it is not downloaded in this form.
        members: texts inside a zip file that have to be what they were.

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
        """How a person can tell the right file: its sha256, or what has to be inside."""
        if self.sha256 is not None:
            return f"sha256 {self.sha256}"
        return f"with {self.members[0].name} of sha256 {self.members[0].sha256}"

    def check(self, content: bytes) -> None:
        """Refuses what is not this file."""
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
        """The content of the file at this path, checked. What is used later is what was checked."""
        try:
            with opened(path) as stream:
                content = stream.read(self.size + 1)
        except OSError as error:
            raise FileFormatError(f"expected a readable file, got {path}: {error.strerror or error}") from error
        self.check(content)
        return content
