"""What a fuzz target is: a loader, real files to begin with, and how to change them so that they stay half right."""

from __future__ import annotations

import functools
import random
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from flipproof.errors import FlipproofError

ByteMutator = Callable[[bytes], bytes]
"""Changes some bytes."""
Mutator = Callable[[bytes, random.Random, ByteMutator], bytes]
"""Changes a file, knowing what it is made of; bytes in it are left to the byte mutator."""

_LONGEST_LINE = 1_010


class UnboundedMemoryError(Exception):
    """A small file made its loader ask for more memory than there is, even though it was refused in the end."""


class BadRefusalError(Exception):
    """A refusal is not one short line of plain text."""


def in_bytes(content: bytes, rng: random.Random, mutate: ByteMutator) -> bytes:
    """For files that have no structure worth knowing."""
    return mutate(content)


@dataclass(frozen=True, slots=True)
class Target:
    """A loader under attack.

    Attributes:
        name: of the target and of its folder in the corpus.
        seeds: makes small real files.
        read: the loader, and what is done with what it loaded.
        mutate: changes a file.
        words: what such files consist of, for the dictionary of the fuzzer.
    """

    name: str
    seeds: Callable[[], Iterable[bytes]]
    read: Callable[[bytes], object]
    mutate: Mutator = in_bytes
    words: tuple[bytes, ...] = ()

    def run(self, content: bytes) -> None:
        """Gives the loader a file. Whatever is raised here is a defect of the loader."""
        try:
            self.read(content)
        except FlipproofError as error:
            _check_refusal(error)


def _check_refusal(error: FlipproofError) -> None:
    line = str(error)
    if not line or not line.isprintable() or len(line) > _LONGEST_LINE:
        raise BadRefusalError(repr(line[:2_000])) from error
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError):
            raise UnboundedMemoryError(line) from error
        cause = cause.__cause__ or cause.__context__


@functools.cache
def scratch() -> Path:
    """A folder for the files of this process; TMPDIR says where."""
    folder = tempfile.TemporaryDirectory(prefix="flipproof-fuzz-")
    _FOLDERS.append(folder)  # removed when the process ends
    return Path(folder.name)


_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


def saved(content: bytes, name: str) -> Path:
    """The content as a file of this name."""
    path = scratch() / name
    path.write_bytes(content)
    return path


def written(save: Callable[[Path], object], name: str = "seed.npz") -> bytes:
    """The content of the file that a function writes."""
    path = scratch() / name
    save(path)
    return path.read_bytes()
