"""The checker of certificates, which reads all files of a run by itself."""

from __future__ import annotations

import random
from collections.abc import Iterator

import flipproof as fp
from fuzz.mutators import in_json, in_zip
from fuzz.target import ByteMutator, Target
from fuzz.targets.run_folder import run_folder

_FILES = ("certificates.json", "certificates.npz", "votes.npz", "run.json")
_WORDS = (
    b"flipproof-certificates",
    b"promise",
    b"samples",
    b"ranges",
    b"noise",
    b"p_plus",
    b"1/3",
    b"hashes",
    b"portions",
)


def _seeds() -> Iterator[bytes]:
    for name in _FILES:
        yield (run_folder() / name).read_bytes()


def _name_of(content: bytes) -> str:
    """Which of the files this is, or was."""
    if content[:2] == b"PK":
        return "certificates.npz" if b"p_lower" in content else "votes.npz"
    return "run.json" if b"flipproof-run" in content[:200] else "certificates.json"


def _mutate(content: bytes, rng: random.Random, mutate: ByteMutator) -> bytes:
    return (in_zip if content[:2] == b"PK" else in_json)(content, rng, mutate)


def _read(content: bytes) -> None:
    folder, name = run_folder(), _name_of(content)
    right = (folder / name).read_bytes()
    (folder / name).write_bytes(content)
    try:
        check = fp.verify(folder)
        list(check.others())
        check.certified_at({axis.name: 1 for axis in check.certificate.axes[:2]})
    finally:
        (folder / name).write_bytes(right)


TARGET = Target("verification", _seeds, _read, _mutate, _WORDS)
