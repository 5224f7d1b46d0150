"""Checkpoints: the identity of a run and the vote counts in it."""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Iterator

import numpy as np

from flipproof.smoothing.voting.checkpoint import Checkpoint, peek_identity
from flipproof.smoothing.voting.vote_counts import VoteCounts
from fuzz.mutators import in_json
from fuzz.target import ByteMutator, Target, saved, scratch

_IDENTITY = {"seed": 0, "noise": {"p_plus": 0.1, "p_minus": 0.2, "categories": 2}}
_FRAME = struct.Struct("<4sQI")


def _seeds() -> Iterator[bytes]:
    parts = (
        VoteCounts.of("estimate", range(10), [[9, 1], [4, 6]]),
        VoteCounts.of("estimate", range(10, 20), [[8, 2], [5, 5]]),
        VoteCounts.of("select", range(300), [[300, 0], [4, 290]]),
    )
    path = scratch() / "seed.ckpt"
    for count in range(len(parts) + 1):
        path.unlink(missing_ok=True)
        with Checkpoint.open(path, _IDENTITY) as checkpoint:
            for part in parts[:count]:
                checkpoint.add(part)
        yield path.read_bytes()


def _read(content: bytes) -> None:
    path = saved(content, "run.ckpt")
    peek_identity(path)
    with Checkpoint.open(path, _IDENTITY) as checkpoint:
        if checkpoint.vote_counts is not None:
            checkpoint.add(
                VoteCounts.of("select", range(2**39, 2**39 + 1), np.zeros(checkpoint.vote_counts.shape, np.int64))
            )
    with Checkpoint.open(path, _IDENTITY):
        pass  # what was written is read again


def _in_records(content: bytes, rng: random.Random, mutate: ByteMutator) -> bytes:
    """Another record in the journal, with the right length and checksum."""
    head, *bodies = _parts(content)
    if rng.random() < 0.1 or not bodies:
        return mutate(content)
    place = rng.randrange(len(bodies))
    choice = rng.random()
    if choice < 0.1:
        bodies.insert(place, bodies[place])
    elif choice < 0.2:
        bodies.pop(place)
    else:
        bodies[place] = _in_body(bodies[place], rng, mutate)
    return head + b"".join(_FRAME.pack(b"\xf1\x1aFP", len(body), zlib.crc32(body)) + body for body in bodies)


def _parts(content: bytes) -> list[bytes]:
    """The first line, and the bodies of the records."""
    line, end, rest = content.partition(b"\n")
    parts = [line + end]
    while len(rest) >= _FRAME.size:
        length = _FRAME.unpack(rest[: _FRAME.size])[1]
        parts.append(rest[_FRAME.size : _FRAME.size + length])
        rest = rest[_FRAME.size + length :]
    return parts


def _in_body(body: bytes, rng: random.Random, mutate: ByteMutator) -> bytes:
    """Another description or other counts."""
    line, end, packed = body.partition(b"\n")
    if not end or rng.random() < 0.5:
        changed = in_json(line, rng, mutate)
        return changed.replace(b"\n", b" ") + end + packed if end else changed
    try:
        counts = zlib.decompressobj().decompress(packed, 2**16)
    except zlib.error:
        return line + end + mutate(packed)
    packed = zlib.compress(mutate(counts), 1)
    try:
        header = json.loads(line)
        header["roles"][rng.choice(list(header["roles"]))]["bytes"] = len(packed)
        line = json.dumps(header).encode()
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    return line + end + packed


_WORDS = (b"flipproof-checkpoint 1\n", b"samples", b"dtype", b"shape", b"sources", b"versions")
TARGET = Target("checkpoint", _seeds, _read, _in_records, _WORDS)
