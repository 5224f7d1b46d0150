"""Reads the files of a run folder, and checks that they fit each other and the certificates in it."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flipproof.errors import FileFormatError
from flipproof.verification.certificate import StatedCertificate, check_array
from flipproof.verification.limits import check_time
from flipproof.verification.plain_files import Archive, Array, read_record, reading_archive, refusing
from flipproof.verification.schema import check_form, schema_of
from flipproof.verification.statements import ROLES, joined, laws, wrong_hash

RECORD, VOTES, WEIGHTS, INPUTS = "run.json", "votes.npz", "weights.safetensors", "inputs.npz"
TABLES = {"select": "selection", "estimate": "estimation"}
Ranges = Sequence[Sequence[int]]
_LABELS, _SPLIT = ("labels", "base_label"), ("train", "validation", "test")
_COUNTS, _NUMBERS = ("I", "q"), ("q",)
_NAMED, _LONGEST_NAME = ("input_names", "class_names"), 200
"""Names of the rows and of the columns of votes, which a file may have."""


@dataclass(frozen=True, slots=True, eq=False)
class VotesFile:
    """The content of `votes.npz`, whose portions have all been summed."""

    record: Mapping[str, Any]
    tables: Mapping[str, Array]

    @property
    def run(self) -> Mapping[str, Any]:
        """How the votes were drawn."""
        run: Mapping[str, Any] = self.record["run"]
        return run


def read_run(folder: Path) -> dict[str, Any]:
    """Reads `run.json` of a finished run."""
    record = read_record(folder / RECORD)
    with refusing(folder / RECORD):
        check_form(record, schema_of("run"))
    return record


def read_votes(folder: Path) -> VotesFile:
    """Reads `votes.npz` and refuses it unless its portions match its samples and add up to its votes."""
    with reading_archive(folder / VOTES) as archive:
        record = archive.description()
        if record.get("format") == "flipproof-votes" and record.get("version") == 1:
            raise FileFormatError("votes of version 1, which lack much of what is evidence; draw them again")
        check_form(record, schema_of("votes"))
        portions = [f"{table}_portions" for table in TABLES.values()]
        archive.check_members([*TABLES.values(), *portions, "ids", "zeros", "nonzeros"], optional=_NAMED)
        tables = {name: archive.array(name) for name in (*TABLES.values(), "ids", "zeros", "nonzeros")}
        shape = tables["estimation"].shape
        if len(shape) != 2:
            raise FileFormatError(f"estimation of shape {shape}")
        parts = (shape[0], len(record["noise"].get("parts", "1")))
        shapes = dict.fromkeys(TABLES.values(), shape) | {"ids": shape[:1], "zeros": parts, "nonzeros": parts}
        for name, expected in shapes.items():
            check_array(name, tables[name], expected, _COUNTS)
        for name, count in zip(_NAMED, shape, strict=True):
            if archive.has(name):
                _check_names(name, archive.array(name), count)
        for role, table in TABLES.items():
            _check_portions(archive, record["portions"][role], table, tables[table])
    return VotesFile(record, tables)


def _check_names(name: str, text: Array, count: int) -> None:
    """Checks that there are this many names, one on each line, short and printable. They prove nothing."""
    if len(text.shape) != 1 or text.kind != "B":
        raise FileFormatError(f"{name} that are no text")
    *names, rest = bytes(text.numbers).decode("utf-8").split("\n")
    if rest or len(names) != count:
        raise FileFormatError(f"{len(names)} {name} of {count}")
    if any(len(each) > _LONGEST_NAME or not each.isprintable() for each in names):
        raise FileFormatError(f"{name} that are too long or not printable")


def _check_portions(archive: Archive, ranges: Sequence[Ranges], table: str, total: Array) -> None:
    """Checks that the portions add up to the table, and that no sample votes twice within a portion."""
    name, size, width = f"{table}_portions", len(total.numbers), total.shape[1]
    portions = archive.array(name)
    check_array(name, portions, (len(ranges), *total.shape), _COUNTS)
    for index in range(size):
        if not index % 1024:
            check_time()
        if sum(portions.numbers[index::size]) != total.numbers[index]:
            raise FileFormatError(f"portions that do not add up to its {table} votes")
    for number, samples in enumerate(ranges):
        most = sum(stop - start for start, stop in samples)
        for start in range(number * size, (number + 1) * size, width):
            if sum(portions.numbers[start : start + width]) > most:
                raise FileFormatError(f"a portion with more {table} votes than samples")


def read_inputs(folder: Path, inputs: int, classes: int) -> Mapping[str, Array]:
    """The labels, split and base predictions in `inputs.npz`; refused unless of this number of inputs and classes."""
    with reading_archive(folder / INPUTS) as archive:
        record = archive.description()
        check_form(record, schema_of("inputs"))
        archive.check_members([*_LABELS, *_SPLIT])
        columns = {name: archive.array(name) for name in (*_LABELS, *_SPLIT)}
        for name, column in columns.items():
            shape, most = ((inputs,), classes) if name in _LABELS else (column.shape[:1], inputs)
            check_array(name, column, shape, _NUMBERS)
            if max(column.numbers, default=0) >= max(1, most):
                raise FileFormatError(f"{name} with a number of {most} or more")
        split = [number for name in _SPLIT for number in columns[name].numbers]
        if len(set(split)) < len(split):
            raise FileFormatError("an input in two parts of the split")
        if len(record["class_names"]) != classes:
            raise FileFormatError(f"{len(record['class_names'])} names of {classes} classes")
    return columns


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
    inputs: Mapping[str, Array]

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
        whole_run = identity["targets"] is None
        if list(ids) != (list(range(len(ids))) if whole_run else self.run["task"].get("targets")):
            yield f"{VOTES} has votes on some inputs only"
        for role, table in TABLES.items():
            if any(sum(self.votes.tables[table].row(row)) != record[f"n_{role}"] for row in range(len(ids))):
                yield f"{VOTES} has not as many {table} votes as samples"
        most = record["n_select"] + record["n_estimate"]
        if not run["drawn"] <= known["drawn"] <= most or run["seconds"] > known["seconds"] + _NEAR:
            yield f"{RECORD} has other numbers of samples that were drawn, or seconds that it took"

    def about_inputs(self) -> Iterator[str]:
        """Objections unless the stated accuracy of the base classifier follows from its predictions."""
        stated, found = self.run["training"]["base_accuracy"], None
        if len(test := self.inputs["test"].numbers):
            labels, predicted = (self.inputs[name].numbers for name in ("labels", "base_label"))
            found = sum(labels[i] == predicted[i] for i in test) / len(test)
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
        place = {number: row for row, number in enumerate(self.votes.tables["ids"].numbers)}
        rows = [place.get(number, -1) for number in certificate.ids]
        if -1 in rows:
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
