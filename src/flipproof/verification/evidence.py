"""Checks the evidence: the run folder must be consistent in itself and with the certificates in it."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flipproof.errors import FileFormatError
from flipproof.verification.certificate import StatedCertificate
from flipproof.verification.plain_files import Array, refusing
from flipproof.verification.run_files import (
    INPUTS,
    RECORD,
    TABLES,
    VOTES,
    WEIGHTS,
    InputsFile,
    VotesFile,
    read_inputs,
    read_run,
    read_votes,
)
from flipproof.verification.statements import ROLES, joined, laws, wrong_hash

OWN = "certificates.json"
"""The certificates that `run.json` records; the folder may hold other certificates."""

STALE = "votes were added since these certificates were made; run flipproof certify, and check the new ones"

_NEAR = 1e-12


def missing(path: Path) -> tuple[str, ...]:
    """The names of the run's files that are missing beside a certificate."""
    return tuple(name for name in (RECORD, VOTES, WEIGHTS, INPUTS) if not path.with_name(name).exists())


def objections(certificate: StatedCertificate) -> Iterator[str]:
    """Every inconsistency, in words; empty if all files are present and consistent."""
    absent = missing(certificate.path)
    yield from (f"{name} is missing" for name in absent)
    if absent:
        return
    folder = certificate.path.parent
    try:
        run = read_run(folder)
        votes = read_votes(folder)
        inputs = read_inputs(folder, votes.tables["ids"].shape[0], run["dataset"]["classes"])
    except FileFormatError as error:
        yield str(error)
        return
    evidence = _Evidence(folder, run, votes, inputs)
    try:
        with refusing(folder):
            yield from evidence.about_files()
            yield from evidence.about_votes()
            yield from evidence.about_inputs()
            yield from evidence.about_certificate(certificate)
    except FileFormatError as error:
        yield str(error)


@dataclass(frozen=True, slots=True, eq=False)
class _Evidence:
    """The files of a run."""

    folder: Path
    run: Mapping[str, Any]
    votes: VotesFile
    inputs: InputsFile

    def about_files(self) -> Iterator[str]:
        """Objections unless the files are the ones that `run.json` records."""
        for name, stated in self._hashes().items():
            yield from wrong_hash(self.folder / name, stated)

    def _hashes(self) -> dict[str, str]:
        training = self.run["training"]
        return {
            VOTES: self.run["votes"]["sha256"],
            WEIGHTS: training["weights_sha256"],
            INPUTS: training["inputs_sha256"],
        }

    def about_votes(self) -> Iterator[str]:
        """Objections unless the votes cover all inputs and the first samples without gaps, under the requested law."""
        task, training, known, record, run = (
            *(self.run[name] for name in ("task", "training", "votes")), self.votes.record, self.votes.run
        )  # fmt: skip
        identity, ids = run["identity"], self.votes.tables["ids"].numbers
        pairs = {
            "noise": (laws(task["noise"]), laws(identity["noise"])),
            "noise of its votes": (laws(task["noise"]), laws(record["noise"])),
            "seed": (task["seed"], identity["seed"]),
            "model": (training["model"], identity["model"]),
            "version of fingerprints": (training.get("fingerprints", 1), identity.get("fingerprints", 1)),
            "set of own files": (training["files"], identity["files"]),
            "number of classes": (self.run["dataset"]["classes"], identity["classes"]),
            "set of versions": (known["versions"], run["versions"]),
            **{f"number of {role} samples": (known[f"n_{role}"], record[f"n_{role}"]) for role in ROLES},
        }
        yield from (f"{RECORD} and {VOTES} have another {name}" for name, (one, two) in pairs.items() if one != two)
        if self.votes.tables["estimation"].shape[1] != identity["classes"]:
            yield f"{VOTES} has votes for another number of classes"
        for role in ROLES:
            whole = [[0, record[f"n_{role}"]]] if record[f"n_{role}"] else []
            if not run[role] == whole == joined([pair for each in record["portions"][role] for pair in each]):
                yield f"{VOTES} has other {role} samples than the first {record[f'n_{role}']:,}"
        if identity["targets"] is not None or any(number != index for index, number in enumerate(ids)):
            yield f"{VOTES} has votes on some inputs only"
        for role, table in TABLES.items():
            if any(sum(self.votes.tables[table].row(row)) != record[f"n_{role}"] for row in range(len(ids))):
                yield f"{VOTES} has not as many {table} votes as samples"
        most = record["n_select"] + record["n_estimate"]
        if not run["drawn"] <= known["drawn"] <= most or run["seconds"] > known["seconds"] + _NEAR:
            yield f"{RECORD} has other numbers of samples that were drawn, or seconds that it took"

    def about_inputs(self) -> Iterator[str]:
        """Objections unless the stated accuracy of the base classifier follows from its predictions."""
        stated, found = self.run["training"]["base_accuracy"], self.inputs.base_accuracy()
        if (stated is None) != (found is None) or (found is not None and abs(stated - found) > _NEAR):
            yield f"{RECORD} has another base accuracy than {INPUTS}"

    def about_certificate(self, certificate: StatedCertificate) -> Iterator[str]:
        """Objections unless the certificates were made from these votes."""
        record = certificate.record
        if self._is_older(certificate):
            yield STALE
            return
        if certificate.path.name == OWN:
            yield from self._about_own(certificate)
        else:
            known = {name: self._hashes()[file] for name, file in _NAMES.items()} | {"record": record_digest(self.run)}
            yield from (
                f"{_NAMES.get(name, RECORD)} has another sha256 than is stated"
                for name, each in known.items()
                if record["hashes"].get(name, each) != each
            )
        if certificate.promise.simultaneous and certificate.promise.claims < len(self.votes.tables["ids"].numbers):
            yield "alpha is shared by fewer claims than there are inputs, though all were voted on"
        facts = {"space": record["space"], "identity": record["identity"], "set of versions": record["versions"]}
        facts |= {"sources": record["samples"]["sources"], "sampling_error": record["promise"]["sampling_error"]}
        facts |= {role: record["samples"][role]["ranges"] for role in ROLES}
        found = {**self.votes.run, "set of versions": self.votes.run["versions"]}
        yield from (f"{VOTES} has another {_WORDS.get(name, name)}" for name in facts if facts[name] != found[name])
        if record["scope"] != self.votes.record["scope"]:
            yield f"{VOTES} has another scope"
        yield from self._about_rows(certificate)

    def _is_older(self, certificate: StatedCertificate) -> bool:
        """Whether a certificate was made from an earlier, smaller set of these votes."""
        samples, run = certificate.record["samples"], self.votes.run
        counts = tuple(self.votes.record[f"n_{role}"] for role in ROLES)
        fewer = (certificate.n_select, certificate.n_estimate)
        first = all(samples[role]["ranges"] == ([[0, n]] if n else []) for role, n in zip(ROLES, fewer, strict=True))
        same = certificate.record["identity"] == run["identity"]
        return same and first and fewer != counts and all(one <= two for one, two in zip(fewer, counts, strict=True))

    def _about_own(self, certificate: StatedCertificate) -> Iterator[str]:
        """Objections unless `run.json` records the promise and the certificates record the content of `run.json`."""
        promise, hashes = certificate.record["promise"], certificate.record["hashes"]
        for name, asked in self.run["certificates"].items():
            if promise[name] != asked:
                yield f"{RECORD} has another {name}"
        for name, file in _NAMES.items():
            if hashes.get(name) != self._hashes()[file]:
                yield f"the sha256 of {file} is stated otherwise, or not at all"
        if hashes.get("record") != record_digest(self.run):
            yield f"{RECORD} says something else about the task, the data, the training or the votes"
        if list(certificate.ids) != list(self.votes.tables["ids"].numbers):
            yield f"{VOTES} has votes on other inputs"

    def _about_rows(self, certificate: StatedCertificate) -> Iterator[str]:
        """Objections unless every row belongs to its input."""
        rows = certificate.ids
        if max(rows, default=-1) >= self.votes.tables["ids"].shape[0]:
            yield f"{VOTES} has no such inputs"
            return
        for name in (*TABLES.values(), "zeros", "nonzeros"):
            if name in certificate.columns and not _same_rows(certificate.columns[name], self.votes.tables[name], rows):
                yield f"{VOTES} has other {name}" + (" votes" if name in TABLES.values() else "")


_NAMES = {"votes": VOTES, "weights": WEIGHTS, "inputs": INPUTS}
"""The names under which file hashes are recorded."""
_WORDS = {
    "select": "range of selection samples", "estimate": "range of estimation samples",
    "sampling_error": "sampling error",
}  # fmt: skip


def _same_rows(some: Array, every: Array, rows: Any) -> bool:
    if some.shape[1:] != every.shape[1:]:
        return False
    return all(array("q", some.row(index)) == array("q", every.row(row)) for index, row in enumerate(rows))


def record_digest(run: Mapping[str, Any]) -> str:
    """A hash of the task, dataset, training and votes that `run.json` records.

    Example:
        >>> record_digest({"task": {"seed": 0}}) == record_digest({"task": {"seed": 1}})
        False
    """
    said = {name: run.get(name) for name in ("task", "dataset", "training", "votes")}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
