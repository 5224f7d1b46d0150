"""Result files: votes, and certificates as JSON for people and programs with one array per fact in an npz beside it.

A votes file has the counts of both roles, as a whole and by portions of the samples, ids of inputs, noise and run,
and the names of inputs and classes if there are any: texts in UTF-8, one name on each line.
Version 1 has no ids: its inputs are numbered from 0. docs/certificates.md describes every field of certificates,
docs/certificates.schema.json gives their types.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import IntArray
from flipproof.errors import FileFormatError
from flipproof.files.archive import ArrayArchive, reading_archive, write_archive
from flipproof.files.strict_json import FileKind, read_json, write_json
from flipproof.noise.laws import law_from_record
from flipproof.smoothing.columns import LABEL_NAME, NAME
from flipproof.smoothing.names import names_as_array, names_from_array
from flipproof.smoothing.run import Run
from flipproof.smoothing.voting.drawn_samples import SampleRanges
from flipproof.smoothing.voting.vote_counts import ROLES, RoleCounts, VoteCounts
from flipproof.statistics.bounds import splits_alpha
from flipproof.theory.scope import Scope
from flipproof.theory.search import SEARCH_LIMIT

if TYPE_CHECKING:
    from flipproof.smoothing.certificates import Certificates
    from flipproof.smoothing.votes import Votes

VOTES_FILE = FileKind("votes file", "flipproof-votes", 2, also=(1,))
CERTIFICATES_FILE = FileKind("certificates file", "flipproof-certificates", 4)
_TABLES = {"select": "selection", "estimate": "estimation"}
_SCOPE_COUNTS = ("zeros", "nonzeros")
_NAMES = ("input_names", "class_names")
_GAPS_CLOSE = (
    "An input is a sequence of entries: `add` inserts one anywhere, `delete` deletes one anywhere, and the gaps close."
)
_NOT_CHECKED = "It was not checked that the classifier always gives the same label to the same noisy input."
_NOT_NOTED: dict[str, Any] = {"engine version": None, "code": None, "files": {}, "checked": False}
"""What the identity of older votes lacks, with the values that are written for them."""


def write_votes(votes: Votes, path: str | os.PathLike[str]) -> None:
    """Writes votes to a file atomically."""
    description: dict[str, Any] = {
        "noise": votes.noise.record(),
        "n_select": votes.n_select,
        "n_estimate": votes.n_estimate,
        "run": None if votes.run is None else votes.run.to_record(),
    }
    arrays = {name: _compact(getattr(votes, name)) for name in (*_TABLES.values(), "ids")}
    if votes.vote_counts is not None:
        pieces = {role: getattr(votes.vote_counts, role).pieces for role in ROLES}
        description["portions"] = {role: [piece.samples.to_record() for piece in pieces[role]] for role in ROLES}
        arrays |= {f"{_TABLES[role]}_portions": _compact(_stacked(pieces[role], votes)) for role in ROLES}
    if votes.scope is not None:
        description["scope"] = _scope_record(votes.scope)
        arrays |= {name: _compact(getattr(votes.scope, name)) for name in _SCOPE_COUNTS}
    named = {name: getattr(votes, name) for name in _NAMES}
    arrays |= {name: names_as_array(names) for name, names in named.items() if names is not None}
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
            **{name: names_from_array(archive.array(name), name) for name in _NAMES if archive.has(name)},
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


def _scope_record(scope: Scope) -> dict[str, Any]:
    """The part of a scope that holds for all inputs, as JSON values; its counts are written as arrays."""
    closing = {"closes_gaps": True} if scope.closes_gaps else {}  # older records do not know it
    return {"fixed": list(scope.fixed), "makes_room": scope.makes_room, **closing}


def _scope(archive: ArrayArchive, record: Mapping[str, Any]) -> Scope:
    counts = {name: _counts(archive, name) for name in _SCOPE_COUNTS}
    closing = record.get("closes_gaps", False)
    return Scope(**counts, fixed=tuple(record["fixed"]), makes_room=record["makes_room"], closes_gaps=closing)


def _compact(counts: IntArray) -> NDArray[Any]:
    """The counts as 32-bit integers if they fit, else as 64-bit integers."""
    return counts.astype("<u4" if counts.max(initial=0) < 2**32 else "<i8")


def _counts(archive: ArrayArchive, name: str, dimensions: int = 2) -> NDArray[Any]:
    counts = archive.array(name)
    if counts.dtype.str not in ("<u4", "<i8") or counts.ndim != dimensions:
        raise FileFormatError(f"{name} is not a table of counts but {counts.dtype} of shape {counts.shape}")
    return counts


def certificates_record(certificates: Certificates) -> dict[str, Any]:
    """The claim, the law of the noise and the evidence, as JSON values; nothing about single inputs."""
    votes, run = certificates.votes, certificates.votes.run
    identity: Mapping[str, Any] = {} if run is None else run.identity
    return {
        "claim": _claim(certificates),
        "inputs": len(certificates),
        "classes": votes.classes,
        "abstained": int(certificates.abstained.sum()),
        "noise": certificates.noise.exact_record(),
        "space": None if run is None or not run.space else dict(run.space),
        "scope": None if votes.scope is None else _scope_record(votes.scope),
        "promise": _promise(certificates),
        "samples": {
            "seed": identity.get("seed"),
            "select": _samples(votes.n_select, None if run is None else run.select),
            "estimate": _samples(votes.n_estimate, None if run is None else run.estimate),
            "sources": None if run is None else [source.to_record() for source in run.sources],
        },
        "radius_limit": SEARCH_LIMIT,
        "versions": None if run is None else dict(run.versions),
        "identity": None if run is None else {**_NOT_NOTED, **run.identity},
        "hashes": {"model": identity.get("model"), "data": identity.get("data")},
    }


def write_certificates(certificates: Certificates, path: Path, hashes: Mapping[str, str] | None = None) -> None:
    """Writes a JSON file, with the sha256 of further files that the certificates rest on, and an npz beside it."""
    texts = ("reason", NAME, LABEL_NAME)
    arrays = {name: column for name, column in certificates.to_columns().items() if name not in texts}
    votes = certificates.votes
    arrays |= {
        "input": _compact(votes.ids),
        "selection": _compact(votes.selection),
        "estimation": _compact(votes.estimation),
    }
    if votes.scope is not None:
        arrays |= {name: _compact(getattr(votes.scope, name)) for name in _SCOPE_COUNTS}
    write_archive(path.with_suffix(".npz"), CERTIFICATES_FILE, {}, arrays)
    record = certificates_record(certificates)
    arrays_hash = {"arrays": hashlib.sha256(path.with_suffix(".npz").read_bytes()).hexdigest()}
    write_json(path, CERTIFICATES_FILE, record | {"hashes": record["hashes"] | arrays_hash | dict(hashes or {})})


def read_promise(path: Path) -> dict[str, Any]:
    """The promise of the certificates in a file and their numbers of samples, by which two files can be told apart."""
    record = read_json(path, CERTIFICATES_FILE)
    try:
        promise, samples = record["promise"], record["samples"]
        counts = {f"n_{role}": samples[role]["count"] for role in ("select", "estimate")}
        return {name: promise[name] for name in ("alpha", "rule", "simultaneous")} | counts
    except (KeyError, TypeError, IndexError):
        raise FileFormatError(f"expected {path} to say what is promised, got something else") from None


def _promise(certificates: Certificates) -> dict[str, Any]:
    """Alpha, and the parts of it that the bounds may spend."""
    budget, split = certificates.budget, splits_alpha(certificates.rule, certificates.votes.classes)
    return {
        "alpha": budget.alpha,
        "rule": str(certificates.rule),
        "simultaneous": certificates.simultaneous,
        "claims": budget.claims,
        "sampling_error": budget.sampling_error,
        "for_lower": budget.for_lower if split else budget.per_claim,
        "for_upper": budget.for_upper if split else 0.0,
    }


def _samples(count: int, ranges: SampleRanges | None) -> dict[str, Any]:
    return {"count": count, "ranges": None if ranges is None else ranges.to_record()}


def _claim(certificates: Certificates) -> str:
    over = "for all inputs at once" if certificates.simultaneous else "for each input by itself"
    axes, scope = certificates.axis_names, certificates.votes.scope
    fixed = "all that gets no noise" if scope is None else ", ".join(("the model", *scope.fixed))
    run = certificates.votes.run
    unchecked = "" if run is None or run.checked else f" {_NOT_CHECKED}"
    closing = f" {_GAPS_CLOSE}" if scope is not None and scope.closes_gaps else ""
    return (
        f"With probability at least 1 - {certificates.alpha:g} over the random samples, {over}: unless the input "
        f"abstained, the smoothed classifier predicts `label`. It does so after any changes of one kind, up to "
        f"`max_KIND` of them, where KIND is one of {', '.join(axes)}, and after any changes of all kinds together, up "
        f"to `max_any` of them, as long as these stay the same: {fixed}. The smoothed classifier predicts the label "
        f"that the classifier gives most probably to a noisy copy, as `noise` describes it.{closing}{unchecked}"
    )
