"""The records of a checkpoint file: a line of text, then the identity of the run, then vote counts and their sources.

Each record has a length and a checksum, so that a record that a crash has cut off is noticed.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Mapping
from typing import IO, Any

from flipproof.errors import FileFormatError, InvalidInputError
from flipproof.files.strict_json import json_value
from flipproof.smoothing.voting.drawn_samples import (
    Source,
    check_sources,
    merged_sources,
    merged_versions,
    sources_from_record,
)
from flipproof.smoothing.voting.vote_counts import VoteCounts

FIRST_LINE = b"flipproof-checkpoint 1\n"
_FRAME = struct.Struct("<4sQI")  # mark, length of the body, CRC-32 of the body
_MARK = b"\xf1\x1aFP"  # is not ASCII, so no description of a run contains it
_LONGEST_IDENTITY = 2**24


def framed(body: bytes) -> bytes:
    """A record: the mark, the length and the checksum of a body, then the body."""
    return _FRAME.pack(_MARK, len(body), zlib.crc32(body)) + body


def _read_body(stream: IO[bytes]) -> bytes | None:
    """The body of the next record. If it is cut off or damaged, None, and the stream stays where the record begins."""
    begin, size = stream.tell(), os.fstat(stream.fileno()).st_size
    head = stream.read(_FRAME.size)
    if len(head) == _FRAME.size:
        mark, length, checksum = _FRAME.unpack(head)
        if mark == _MARK and length <= size - stream.tell():
            body = stream.read(length)
            if len(body) == length and zlib.crc32(body) == checksum:
                return body
    stream.seek(begin)
    return None


def read_identity(stream: IO[bytes]) -> dict[str, Any] | None:
    """The identity of the run that the file belongs to; None if a crash has cut the file off before its end."""
    line = stream.read(len(FIRST_LINE))
    if line != FIRST_LINE:
        if FIRST_LINE.startswith(line):
            return None
        raise FileFormatError(f"it begins with {line!r}, this flipproof reads {FIRST_LINE!r}")
    body = _read_body(stream)
    if body is None:
        rest = stream.read(_LONGEST_IDENTITY)
        if len(rest) == _LONGEST_IDENTITY or _MARK in rest[_FRAME.size :]:
            raise FileFormatError("its description is damaged, and votes follow")
        return None
    identity = json_value(body)
    if not isinstance(identity, dict):
        raise FileFormatError("its description is no mapping")
    return identity


def vote_counts_record(vote_counts: VoteCounts, sources: tuple[Source, ...]) -> bytes:
    """Vote counts as a record, with the sources that have drawn their samples."""
    select, estimate = vote_counts.select.samples, vote_counts.estimate.samples
    contributing = filter(None, (source.within(select, estimate) for source in sources))
    return vote_counts.to_bytes(sources=[source.to_record() for source in contributing])


def _sources_of(body: bytes, vote_counts: VoteCounts) -> tuple[Source, ...]:
    """The sources of one record; older records have none, so the versions of their samples are unknown."""
    header = json_value(body.partition(b"\n")[0])
    if "sources" not in header:
        return (Source({}, vote_counts.select.samples, vote_counts.estimate.samples),)
    sources = sources_from_record(header["sources"])
    check_sources(sources, vote_counts.select.samples, vote_counts.estimate.samples)
    return sources


def began_with(stream: IO[bytes]) -> str | None:
    """The version of flipproof that drew the samples of the first record; None if the record does not say."""
    body = _read_body(stream)
    return None if body is None else merged_versions(_sources_of(body, VoteCounts.from_bytes(body))).get("flipproof")


def read_vote_counts(stream: IO[bytes]) -> tuple[VoteCounts | None, tuple[Source, ...], int]:
    """The sum, the sources and the number of all whole records; the stream stops where the first damaged one begins."""
    total: VoteCounts | None = None
    sources: tuple[Source, ...] = ()
    records = 0
    while (body := _read_body(stream)) is not None:
        vote_counts = VoteCounts.from_bytes(body)
        total = vote_counts if total is None else total.merged(vote_counts)
        sources = merged_sources((*sources, *_sources_of(body, vote_counts)))
        records += 1
    return total, sources, records


def identity_record(identity: Mapping[str, Any]) -> bytes:
    """Everything that the votes of a run depend on, as the body of a record. Other than JSON values are refused."""
    if not isinstance(identity, Mapping) or not all(isinstance(key, str) for key in identity):
        raise InvalidInputError(f"expected an identity that maps names to JSON values, got {identity!r}")
    try:
        return json.dumps(dict(identity), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"expected an identity of JSON values, got: {error}") from error
