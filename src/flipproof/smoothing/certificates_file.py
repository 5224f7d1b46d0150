"""Certificates as files: the claim as JSON for people and programs, one array per fact beside it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from flipproof.errors import FileFormatError
from flipproof.smoothing.array_archive import FileKind, write_archive
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.json_file import read_json, write_json
from flipproof.smoothing.noise_record import noise_record

CERTIFICATES_FILE = FileKind("certificates file", "flipproof-certificates", 1)


def certificates_record(certificates: Certificates) -> dict[str, Any]:
    """What is claimed, under which law, from which evidence; without the inputs one by one."""
    votes = certificates.votes
    return {
        "claim": _claim(certificates),
        "noise": noise_record(certificates.noise),
        "alpha": certificates.alpha,
        "rule": str(certificates.rule),
        "simultaneous": certificates.simultaneous,
        "inputs": len(certificates),
        "classes": votes.classes,
        "n_select": votes.n_select,
        "n_estimate": votes.n_estimate,
        "abstained": int(certificates.abstained.sum()),
        "run": None if votes.run is None else votes.run.to_record(),
    }


def write_certificates(certificates: Certificates, path: Path) -> None:
    """Writes PATH, a JSON file, and the arrays of `to_columns` beside it with the ending npz."""
    columns = {name: column for name, column in certificates.to_columns().items() if name not in ("input", "reason")}
    write_archive(path.with_suffix(".npz"), CERTIFICATES_FILE, {}, columns)
    arrays = {"arrays_sha256": hashlib.sha256(path.with_suffix(".npz").read_bytes()).hexdigest()}
    write_json(path, CERTIFICATES_FILE, certificates_record(certificates) | arrays)


def read_certificates_record(path: Path) -> dict[str, Any]:
    """What `write_certificates` wrote to PATH."""
    record = read_json(path, CERTIFICATES_FILE)
    for name in ("alpha", "rule", "simultaneous"):
        if name not in record:
            raise FileFormatError(f"expected {path} to say {name}, got nothing")
    return record


def _claim(certificates: Certificates) -> str:
    over = "for all inputs at once" if certificates.simultaneous else "for each input by itself"
    return (
        f"With probability at least 1 - {certificates.alpha:g} over the random samples, {over}: no change of the "
        "observed input within a certified combination of radii turns the prediction of the smoothed classifier. "
        "max_add, max_delete and the like are the largest radii of one kind when nothing of another kind is changed."
    )
