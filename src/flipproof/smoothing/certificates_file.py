"""Certificates as files: the claim as JSON for people and programs, and one array per fact in an npz beside it.

docs/certificates.md describes every field, docs/certificates.schema.json gives their types.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipproof.errors import FileFormatError
from flipproof.files.archive import write_archive
from flipproof.files.strict_json import FileKind, read_json, write_json
from flipproof.smoothing.votes_file import SCOPE_COUNTS, compact, scope_record
from flipproof.smoothing.voting.drawn_samples import SampleRanges
from flipproof.statistics.bounds import splits_alpha
from flipproof.theory.search import SEARCH_LIMIT

if TYPE_CHECKING:
    from flipproof.smoothing.certificates import Certificates

CERTIFICATES_FILE = FileKind("certificates file", "flipproof-certificates", 4)


_GAPS_CLOSE = (
    "An input is a sequence of entries: `add` inserts one anywhere, `delete` deletes one anywhere, and the gaps close."
)
_NOT_CHECKED = "It was not checked that the classifier always gives the same label to the same noisy input."


_NOT_NOTED: dict[str, Any] = {"engine version": None, "code": None, "files": {}, "checked": False}
"""What the identity of older votes lacks, with the values that are written for them."""


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
        "scope": None if votes.scope is None else scope_record(votes.scope),
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
    """Writes a JSON file, and the arrays in an npz file of the same name beside it.

    Args:
        certificates: the certificates to write.
        path: the path of the JSON file.
        hashes: the sha256 of further files that the certificates rest on, by name.
    """
    arrays = {name: column for name, column in certificates.to_columns().items() if name != "reason"}
    votes = certificates.votes
    arrays |= {
        "input": compact(votes.ids),
        "selection": compact(votes.selection),
        "estimation": compact(votes.estimation),
    }
    if votes.scope is not None:
        arrays |= {name: compact(getattr(votes.scope, name)) for name in SCOPE_COUNTS}
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
    axes, scope = certificates.bounded.axis_names, certificates.votes.scope
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
