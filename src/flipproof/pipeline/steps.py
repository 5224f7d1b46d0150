"""The steps of a run on its folder: train, vote, certify. Each may be repeated; nothing is overwritten unasked."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from flipproof.base.arguments import checked_flag
from flipproof.base.threads import single_threaded
from flipproof.errors import FileFormatError, InvalidInputError, OutputError
from flipproof.files.whole import read_whole
from flipproof.models.adapters.torch_modules import checked_device
from flipproof.pipeline.blind import blind_facts
from flipproof.pipeline.inputs_check import check_fingerprints, check_inputs, inputs_fingerprint
from flipproof.pipeline.job import Job
from flipproof.pipeline.kinds.registry import job_of
from flipproof.pipeline.model_spec import FUSED_MODELS
from flipproof.pipeline.task import Task
from flipproof.pipeline.torch_model import on_device, somebody_elses
from flipproof.run_folder.certified import PromiseSettings, write_certified
from flipproof.run_folder.folder import RunFolder, sha256_of
from flipproof.run_folder.inputs import Inputs
from flipproof.run_folder.records import (
    DRAWN,
    GIVEN,
    TRAIN,
    UNKNOWN,
    VOTE,
    DataRecord,
    TrainingRecord,
    VotesRecord,
    read_section,
)
from flipproof.run_folder.split import Split
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.fingerprint.identity import changed_files, changed_since, differences_between
from flipproof.smoothing.fingerprint.model_identity import model_identity
from flipproof.smoothing.run import versions
from flipproof.smoothing.vote import vote
from flipproof.smoothing.votes import Votes
from flipproof.smoothing.voting.chunks import checked_memory, checked_wanted
from flipproof.smoothing.voting.engine import FUSED, check_engine
from flipproof.smoothing.workers.pending_tasks import DEFAULT_TIMEOUT, checked_timeout
from flipproof.smoothing.workers.ray_connection import check_answers, checked_address
from flipproof.smoothing.workers.ray_pool import check_workers


@dataclass(frozen=True, slots=True)
class Machine:
    """What a step may use of the machine, or of a cluster.

    Attributes:
        workers: processes that vote, with one numerical thread each; "ray" for all CPUs of a Ray cluster.
        memory_limit: what noisy samples may take, for each worker.
        progress: whether to show a line in a terminal.
        address: of the Ray cluster; see `vote`.
        device: where torch modules vote: "cpu", "cuda", "cuda:1". Noise is drawn on the CPU in any case.
        engine: "fused" or "torch"; see `vote`.
        timeout: seconds that a chunk may take in a worker process; see `vote`.
        check: whether to check that the classifier gives one label to one noisy input; see `vote`.
    """

    workers: int | Literal["ray"] = 1
    memory_limit: str | int = "2GB"
    progress: bool = True
    address: str | None = None
    device: str = "cpu"
    engine: str | None = None
    timeout: float | None = DEFAULT_TIMEOUT
    check: bool = True

    def __post_init__(self) -> None:
        checked_memory(self.memory_limit)
        checked_timeout(self.timeout)
        check_workers(self.workers, self.address)
        check_engine(self.engine)
        checked_flag(self.check, "check")
        if self.device != "cpu":
            checked_device(self.device)
            if self.workers == "ray":
                raise InvalidInputError(f"expected device='cpu' on a Ray cluster, got {self.device!r}")


@dataclass(frozen=True, slots=True)
class Samples:
    """How many samples choose the label, and how many bound its probability."""

    select: int = 1_000
    estimate: int = 100_000

    def __post_init__(self) -> None:
        for name in ("select", "estimate"):
            if not checked_wanted(getattr(self, name), f"{name} samples"):
                raise InvalidInputError(f"expected at least one of the {name} samples, got {getattr(self, name)}")


def wanted_samples(path: str | os.PathLike[str], select: int | None, estimate: int, force: bool = False) -> Samples:
    """How many samples a run gets. Without a number, as many selection samples as its votes have, if there are any."""
    folder = RunFolder(Path(path))
    there = None if select is not None or force or not folder.exists else _votes_record(RunFolder.open(path))
    if there is not None:
        return Samples(there.n_select, estimate)
    return Samples(estimate=estimate) if select is None else Samples(select, estimate)


def run(
    path: str | os.PathLike[str],
    task: Task,
    samples: Samples | None = None,
    promise: PromiseSettings | None = None,
    machine: Machine | None = None,
    weights: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> Certificates:
    """Trains, votes and certifies. Steps that are done are not repeated, unless forced; see the steps."""
    machine = Machine() if machine is None else machine
    check_can_vote(machine, task)
    train_run(path, task, machine, weights, force)
    vote_run(path, samples, machine, task.model.name)
    return certify_run(path, promise, force)


def check_can_vote(machine: Machine, task: Task) -> None:
    """Training would be for nothing on a machine that cannot vote."""
    if machine.workers == "ray":
        check_answers(checked_address(machine.address))
    attention = task.model.name == "gat" and task.noisy != "attributes"
    if machine.engine == FUSED and not task.model.own and (task.model.name not in FUSED_MODELS or attention):
        raise InvalidInputError(
            f"expected one of {', '.join(FUSED_MODELS)} (gat under noise on attributes only) for the fused engine, got "
            f"{task.model.name} under noise on {task.noisy}; leave the engine out for the fastest that there is"
        )


def train_run(
    path: str | os.PathLike[str],
    task: Task,
    machine: Machine | None = None,
    weights: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> RunFolder:
    """Trains the model of a task and leaves it in a folder; does nothing if that is done already.

    What is in the folder stays until the new weights are ready.

    Args:
        path: of the folder.
        task: what to train.
        machine: what may be used.
        weights: a file with weights that were trained elsewhere, to be used instead of training. Accuracies are then
            reported only if the data say which inputs are for testing.
        force: whether a run in the folder is given up for this one, even if it has the same task.
    """
    machine = Machine() if machine is None else machine
    given = None if weights is None else _read_weights(Path(weights))
    folder = RunFolder(Path(path))
    job = job_of(task)
    asked = job.asked() | {"weights": None if given is None else hashlib.sha256(given).hexdigest()}
    if folder.exists and not force:
        _check_same(RunFolder.open(path).record()["task"], asked, folder)
        check_data(folder, job)
        return folder
    job.check()  # what cannot be done leaves no folder
    folder = RunFolder.prepare(path)
    with folder.locked():
        if given is None:
            classifier, facts = job.model.trained(job.learned, job.noise, machine.memory_limit, machine.progress)
        else:
            classifier, facts = job.model.restored(given, str(weights)), {"epochs": 0, "seconds": 0.0}
        source = source_of_split(job, asked["weights"])
        _save_model(folder, asked, job, classifier, facts | {"split": source})
    return folder


def source_of_split(job: Job, weights: str | None) -> str:
    """Where the split comes from, of a model that was trained here or elsewhere."""
    return GIVEN if job.split_given else DRAWN if weights is None else UNKNOWN


def _check_same(found: Mapping[str, Any], asked: Mapping[str, Any], folder: RunFolder) -> None:
    first = [name for name in ("kind", "dataset", "noisy") if found.get(name) != asked.get(name)]
    if first:  # all else differs too then
        found, asked = ({name: record.get(name) for name in first} for record in (found, asked))
    differences = differences_between(found, asked)
    if differences:
        raise OutputError(
            f"expected a new folder or the task of the run in it, got {folder.path}, which has {differences}; "
            "name another folder, or give --force to start this one again"
        )


def check_data(folder: RunFolder, job: Job) -> None:
    """Refuses other data than a run was trained on."""
    known = read_section(folder, "dataset", DataRecord, TRAIN)
    differences = differences_between(asdict(job.record), asdict(known))
    if differences:
        raise InvalidInputError(
            f"expected the data that {folder.path} was trained on, got others: {differences}; "
            "flipproof train --force starts again"
        )


def _save_model(
    folder: RunFolder, asked: Mapping[str, Any], job: Job, classifier: Any, facts: Mapping[str, Any]
) -> None:
    with single_threaded(), somebody_elses(job.task):
        content, base_label = job.model.weights(classifier), job.clean_labels(classifier)
        saved = job.model.restored(content, str(folder.weights_file))
        same = np.array_equal(job.clean_labels(saved), base_label)
    if not same:
        raise InvalidInputError(
            f"expected {job.task.model.name} to be what its weights say, got other predictions from a new one with "
            "the same weights: all that training changes must be in its state_dict"
        )
    certified, identity, judged = job.certified, model_identity(saved), facts["split"] != UNKNOWN
    inputs = Inputs(certified.labels, certified.split if judged else Split.nothing(), base_label, job.class_names)
    folder.forget("training", "votes", "certificates")
    inputs.save(folder.inputs_file)
    training = TrainingRecord(
        **facts,
        base_accuracy=inputs.accuracy(np.equal(base_label, certified.labels)),
        model=identity["model"],
        fingerprints=identity["fingerprints"],
        weights_sha256=folder.write(folder.weights_file, content),
        inputs_sha256=str(sha256_of(folder.inputs_file)),
        inputs=inputs_fingerprint(job, inputs.split),
        versions=versions(),
        blind=blind_facts(job) if judged else {},
        files=identity["files"],
    )
    folder.begin(task=asked, dataset=asdict(job.record), training=asdict(training))


def _read_weights(path: Path) -> bytes:
    try:
        return read_whole(path)
    except OSError as error:
        raise FileFormatError(f"expected a file of weights, got {path}: {error.strerror or error}") from error


def trained_job(folder: RunFolder, model: str | None = None) -> tuple[Job, Any]:
    """The data and the trained classifier of a run, which must be those of its training.

    Code is only run if the caller names it: a user's own model must be named again.
    """
    task = Task.from_record(folder.record()["task"])
    if task.model.own and model is None:
        raise InvalidInputError(f"expected --model, because {folder.path} has a model of your own: {task.model.name}")
    if not task.model.own and model not in (None, task.model.name):
        raise InvalidInputError(f"expected the model of {folder.path}, {task.model.name}, got {model}")
    job = job_of(task)
    check_data(folder, job)
    check_inputs(folder, job)
    return job, restored_classifier(folder, job, model)


def restored_classifier(folder: RunFolder, job: Job, model: str | None = None) -> Any:
    """The trained classifier of a run, with its weights; `model` as in `trained_job`."""
    training = read_section(folder, "training", TrainingRecord, TRAIN)
    content = folder.check(folder.weights_file, training.weights_sha256, f"{TRAIN} --force")
    classifier = job.model.restored(content, str(folder.weights_file), model)
    _check_model(folder, training, classifier)
    return classifier


def _check_model(folder: RunFolder, training: TrainingRecord, classifier: Any) -> None:
    """The code of a user's own model may have been edited since."""
    check_fingerprints(folder)
    identity = model_identity(classifier)
    if identity["model"] == training.model:
        return
    edited = changed_files(training.files, identity["files"])
    why = f"{changed_since(edited)}, or" if edited else "its code or its settings differ;"
    raise InvalidInputError(
        f"expected the model that {folder.path} was trained with, got another: {why} "
        "flipproof train --force starts again"
    )


def vote_run(
    path: str | os.PathLike[str],
    samples: Samples | None = None,
    machine: Machine | None = None,
    model: str | None = None,
    force: bool = False,
) -> Votes:
    """Draws the votes of a trained run, goes on where it was interrupted, or adds samples to those that are there.

    Args:
        path: of the folder.
        samples: how many.
        machine: what may be used.
        model: must be named again if it is the user's own: code is only run if the caller names it.
        force: whether votes that are there are given up.
    """
    samples, machine = samples or Samples(), machine or Machine()
    folder = RunFolder.open(path)
    with folder.locked():
        job, classifier = trained_job(folder, model)
        if force:
            folder.forget("votes", "certificates")
        _check_not_fewer(folder, samples)
        if machine.device != "cpu":
            classifier = on_device(classifier, machine.device)
        votes = vote(
            classifier, job.certified.space, job.noise, samples.select, samples.estimate, job.task.seed,
            workers=machine.workers, memory_limit=machine.memory_limit, checkpoint=folder.checkpoint_file,
            progress=machine.progress, address=machine.address, engine=machine.engine, timeout=machine.timeout,
            check=machine.check,
        )  # fmt: skip
        _save_votes(folder, votes, machine.workers)
    return votes


def _votes_record(folder: RunFolder) -> VotesRecord | None:
    there = "votes" in folder.record()
    return read_section(folder, "votes", VotesRecord, VOTE) if there else None


def _check_not_fewer(folder: RunFolder, samples: Samples) -> None:
    """Votes that are there cannot be taken apart."""
    there = _votes_record(folder)
    if there is None:
        return
    for name, wanted in (("n_select", samples.select), ("n_estimate", samples.estimate)):
        if wanted < getattr(there, name):
            raise InvalidInputError(
                f"expected at least the {getattr(there, name):,} samples ({name}) that {folder.path} has, got "
                f"{wanted:,}; ask for as many, or name another folder; flipproof vote --force gives them up"
            )


def _save_votes(folder: RunFolder, votes: Votes, workers: int | str) -> None:
    """Writes votes that are new, or were complete when somebody pulled the plug."""
    there = _votes_record(folder)
    if votes.run is None:
        return
    counts = (votes.n_select, votes.n_estimate)
    if there is not None and (there.sha256, there.n_select, there.n_estimate) == (
        sha256_of(folder.votes_file),
        *counts,
    ):
        return
    folder.forget_report()
    votes.save(folder.votes_file)
    record = VotesRecord(
        n_select=votes.n_select,
        n_estimate=votes.n_estimate,
        sha256=str(sha256_of(folder.votes_file)),
        seconds=votes.run.seconds + (there.seconds if there else 0.0),
        drawn=votes.run.drawn + (there.drawn if there else 0),
        workers=workers,
        versions=dict(votes.run.versions),
    )
    folder.update(votes=asdict(record))


def certify_run(
    path: str | os.PathLike[str], promise: PromiseSettings | None = None, force: bool = False
) -> Certificates:
    """Turns the votes of a run into certificates, and writes them to its folder.

    Certificates that are there are replaced if they made the same promise, say from fewer votes; others only
    with `force`.
    """
    folder = RunFolder.open(path)
    with folder.locked():
        return write_certified(folder, promise or PromiseSettings(), force)
