"""A finished run: its folder, data, votes and certificates. Certificates can be made again without the model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from flipproof.errors import FileFormatError, OutputError
from flipproof.run_folder.data_record import DataRecord
from flipproof.run_folder.folder import RunFolder, TrainingRecord, VotesRecord, sha256_of
from flipproof.run_folder.split import Inputs
from flipproof.run_folder.task import Task
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.certify import PromiseSettings
from flipproof.smoothing.fingerprint.identity import differences_between
from flipproof.smoothing.result_files import read_promise, write_certificates
from flipproof.smoothing.votes import Votes


@dataclass(frozen=True, slots=True)
class KindWords:
    """How a run speaks of its kind of data.

    Attributes:
        unit: what one input is.
        noise: what gets noise, or how: "on pixels".
        changes: what an attacker changes, as fields of a report's `DescribedInputs`.
    """

    unit: str
    noise: str
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class FinishedRun:
    """A run that has its certificates.

    Attributes:
        folder: its folder.
        task_record: the task of the run, as `run.json` has it.
        task: the task of the run, as a value.
        data: what the model was trained on.
        training: how it was trained.
        votes: how votes were drawn.
        promise: what the certificates promise, as `run.json` has it.
        inputs: true labels, split and base predictions.
        certificates: what is proved, with the votes that it rests on.
        words: how it speaks of its data.
        shown: the data and what else a report can draw, as fields of its `DescribedInputs`; None if the data are not
            there, and the labels in the folder were not compared with them.
    """

    folder: RunFolder
    task_record: Mapping[str, Any]
    task: Task
    data: DataRecord
    training: TrainingRecord
    votes: VotesRecord
    promise: Mapping[str, Any]
    inputs: Inputs
    certificates: Certificates
    words: KindWords
    shown: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if len(self.certificates) != self.inputs.labels.size:
            raise FileFormatError(
                f"expected votes on {self.inputs.labels.size} inputs in {self.folder.path}, got "
                f"{len(self.certificates)}"
            )


def read_inputs(folder: RunFolder, training: TrainingRecord) -> Inputs:
    """The inputs of a run, from the file that `run.json` knows."""
    folder.check(folder.inputs_file, training.inputs_sha256, "flipproof train --force")
    return Inputs.load(folder.inputs_file)


def certified(folder: RunFolder) -> Certificates:
    """The certificates of a run, made anew from its votes, so that a file that was edited is noticed."""
    section = folder.section("certificates")
    there = read_promise(folder.certificates_file)
    promise, votes = PromiseSettings(**{name: there[name] for name in asdict(PromiseSettings())}), checked_votes(folder)
    counts = {"n_select": votes.n_select, "n_estimate": votes.n_estimate}
    differences = differences_between(there, section | counts)
    if differences:
        raise FileFormatError(
            f"expected the certificates of the votes in {folder.path}, got others: they have {differences}; "
            "run flipproof certify again"
        )
    return promise.of(votes)


def write_certified(
    folder: RunFolder, promise: PromiseSettings, force: bool, votes: Votes | None = None
) -> Certificates:
    """Turns the votes of a run into certificates and writes them. Only `force` replaces those of another promise.

    The votes are read from the folder, unless the caller has just written them there.
    """
    certificates = promise.of(checked_votes(folder) if votes is None else votes)
    if folder.certificates_file.exists() and not force:
        there, wanted = _promise_of(folder), asdict(promise)
        differences = differences_between({name: there[name] for name in wanted}, wanted)
        if differences:
            raise OutputError(
                f"expected the promise of the certificates in {folder.path}, got another: they have "
                f"{differences}; flipproof certify --force replaces them"
            )
    before = _hashes(folder)
    write_certificates(certificates, folder.certificates_file, _rests_on(folder))
    if _hashes(folder) != before:
        folder.forget_report()
    folder.update(certificates=asdict(promise))
    return certificates


def _promise_of(folder: RunFolder) -> dict[str, Any]:
    try:
        return read_promise(folder.certificates_file)
    except FileFormatError as error:
        raise FileFormatError(f"{error}; flipproof certify --force replaces it") from error


def _rests_on(folder: RunFolder) -> dict[str, str]:
    """The hashes of the other files of a run, and of what `run.json` says beside the promise."""
    record = folder.record()
    training = folder.read(TrainingRecord, record)
    votes = folder.read(VotesRecord, record)
    said = json.dumps({name: record.get(name) for name in ("task", "dataset", "training", "votes")}, sort_keys=True)
    return {
        "weights": training.weights_sha256,
        "inputs": training.inputs_sha256,
        "votes": votes.sha256,
        "record": hashlib.sha256(said.encode()).hexdigest(),
    }


def _hashes(folder: RunFolder) -> tuple[str | None, str | None]:
    file = folder.certificates_file
    return sha256_of(file), sha256_of(file.with_suffix(".npz"))


def checked_votes(folder: RunFolder) -> Votes:
    """The votes of a folder, which must be those of its model under its noise."""
    known = folder.read(VotesRecord)
    folder.check(folder.votes_file, known.sha256, "flipproof vote")
    votes, task = Votes.load(folder.votes_file), folder.record()["task"]
    training = folder.read(TrainingRecord)
    expected = {"model": training.model, "noise": task.get("noise"), "seed": task.get("seed")}
    identity = {} if votes.run is None else votes.run.identity
    differences = differences_between({name: identity.get(name) for name in expected}, expected)
    if differences:
        raise FileFormatError(f"expected the votes of the run in {folder.path}, got others: {differences}")
    return votes
