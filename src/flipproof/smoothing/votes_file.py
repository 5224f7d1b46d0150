"""The votes file: counts of both roles, as a whole and by portions of the samples, ids of inputs, noise and run.

Version 1 has no ids: its inputs are numbered from 0.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import IntArray
from flipproof.errors import FileFormatError
from flipproof.files.archive import ArrayArchive, reading_archive, write_archive
from flipproof.files.strict_json import FileKind
from flipproof.noise.laws import law_from_record
from flipproof.smoothing.run import Run
from flipproof.smoothing.voting.drawn_samples import SampleRanges
from flipproof.smoothing.voting.vote_counts import ROLES, RoleCounts, VoteCounts
from flipproof.theory.scope import Scope

if TYPE_CHECKING:
    from flipproof.smoothing.votes import Votes

_TABLES = {"select": "selection", "estimate": "estimation"}
SCOPE_COUNTS = ("zeros", "nonzeros")
VOTES_FILE = FileKind("votes file", "flipproof-votes", 2, also=(1,))


def write_votes(votes: Votes, path: str | os.PathLike[str]) -> None:
    """Writes votes to a file atomically."""
    description: dict[str, Any] = {
        "noise": votes.noise.record(),
        "n_select": votes.n_select,
        "n_estimate": votes.n_estimate,
        "run": None if votes.run is None else votes.run.to_record(),
    }
    arrays = {name: compact(getattr(votes, name)) for name in (*_TABLES.values(), "ids")}
    if votes.vote_counts is not None:
        pieces = {role: getattr(votes.vote_counts, role).pieces for role in ROLES}
        description["portions"] = {role: [piece.samples.to_record() for piece in pieces[role]] for role in ROLES}
        arrays |= {f"{_TABLES[role]}_portions": compact(_stacked(pieces[role], votes)) for role in ROLES}
    if votes.scope is not None:
        description["scope"] = scope_record(votes.scope)
        arrays |= {name: compact(getattr(votes.scope, name)) for name in SCOPE_COUNTS}
    write_archive(path, VOTES_FILE, description, arrays)


def read_votes(path: str | os.PathLike[str], votes: type[Votes]) -> Votes:
    """Reads and checks a file written by `write_votes`; `votes` is the class to make."""
    with reading_archive(path, VOTES_FILE) as archive:
        description, selection = archive.description, _counts(archive, "selection")
        return votes(
            selection=selection,
            estimation=_counts(archive, "estimation"),
            noise=law_from_record(description["noise"]),
            n_select=description["n_select"],
            n_estimate=description["n_estimate"],
            run=None if description.get("run") is None else Run.from_record(description["run"]),
            vote_counts=None if description.get("portions") is None else _vote_counts(archive, description["portions"]),
            scope=None if description.get("scope") is None else _scope(archive, description["scope"]),
            ids=_counts(archive, "ids", dimensions=1) if description["version"] > 1 else np.arange(len(selection)),
        )


def _stacked(pieces: Sequence[RoleCounts], votes: Votes) -> IntArray:
    """The counts of all portions [portions, inputs, classes]."""
    return np.array([piece.counts for piece in pieces], dtype=np.int64).reshape(len(pieces), *votes.selection.shape)


def _vote_counts(archive: ArrayArchive, ranges: Mapping[str, Any]) -> VoteCounts:
    """The portions of a file, merged."""
    parts = {}
    for role in ROLES:
        counts = _counts(archive, f"{_TABLES[role]}_portions", dimensions=3)
        samples = [SampleRanges.from_record(record) for record in ranges[role]]
        if len(samples) != counts.shape[0]:
            raise FileFormatError(f"it has {len(samples)} ranges for {counts.shape[0]} portions of {role} samples")
        pieces = [RoleCounts(*piece) for piece in zip(samples, counts, strict=True)]
        nothing = RoleCounts(SampleRanges(), np.zeros(counts.shape[1:], dtype=np.int64))
        parts[role] = functools.reduce(RoleCounts.merged, pieces, nothing)
    return VoteCounts(**parts)


def scope_record(scope: Scope) -> dict[str, Any]:
    """The part of a scope that holds for all inputs, as JSON values; its counts are written as arrays."""
    closing = {"closes_gaps": True} if scope.closes_gaps else {}  # older records do not know it
    return {"fixed": list(scope.fixed), "makes_room": scope.makes_room, **closing}


def _scope(archive: ArrayArchive, record: Mapping[str, Any]) -> Scope:
    counts = {name: _counts(archive, name) for name in SCOPE_COUNTS}
    closing = record.get("closes_gaps", False)
    return Scope(**counts, fixed=tuple(record["fixed"]), makes_room=record["makes_room"], closes_gaps=closing)


def compact(counts: IntArray) -> NDArray[Any]:
    """The counts as 32-bit integers if they fit, else as 64-bit integers."""
    return counts.astype("<u4" if counts.max(initial=0) < 2**32 else "<i8")


def _counts(archive: ArrayArchive, name: str, dimensions: int = 2) -> NDArray[Any]:
    counts = archive.array(name)
    if counts.dtype.str not in ("<u4", "<i8") or counts.ndim != dimensions:
        raise FileFormatError(f"{name} is not a table of counts but {counts.dtype} of shape {counts.shape}")
    return counts
