"""The steps of a run on its folder: train, vote, certify. Each may be repeated; only `force` overwrites anything.

`run` does all three and returns what they made, a `FinishedRun`; `open_run` reads one from a folder. A `Machine` says
what steps may use, `Samples` how many votes they draw.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from flipproof.errors import FlipproofError, InvalidInputError
from flipproof.models.adapters.torch_modules import checked_device
from flipproof.noise.laws import Law
from flipproof.pipeline.kinds.kind import kind_named, prepared_task, task_in
from flipproof.pipeline.models import FUSED_MODELS, on_device
from flipproof.pipeline.prepared import GivenWeights, PreparedTask, Trained, task_section, train_into
from flipproof.pipeline.reopened import check_data, check_inputs, check_task, reopened, reopened_with
from flipproof.run_folder.data_record import DataRecord
from flipproof.run_folder.finished_run import (
    FinishedRun,
    KindWords,
    certified,
    read_inputs,
    write_certified,
)
from flipproof.run_folder.folder import RunFolder, TrainingRecord, VotesRecord, sha256_of
from flipproof.run_folder.task import Task
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.certify import PromiseSettings
from flipproof.smoothing.classifier import FUSED
from flipproof.smoothing.vote import vote
from flipproof.smoothing.votes import Votes
from flipproof.smoothing.voting.chunks import (
    DEFAULT_TIMEOUT,
    Workers,
    check_evaluation,
    checked_address,
    checked_wanted,
)


@dataclass(frozen=True, slots=True)
class Machine:
    """What a step may use of the machine, or of a cluster.

    Attributes:
        workers: processes that vote, with one numerical thread each; "ray" for all CPUs of a Ray cluster.
        memory_limit: how much memory the noisy samples of each worker may take.
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
        Workers(self.workers, self.address, self.timeout)  # which are checked
        check_evaluation(self.memory_limit, self.engine, self.check)
        if self.device != "cpu":
            checked_device(self.device)
            if self.workers == "ray":
                raise InvalidInputError(f"expected device='cpu' on a Ray cluster, got {self.device!r}")


@dataclass(frozen=True, slots=True)
class Samples:
    """How many samples choose the label, and how many bound its probability."""

    n_select: int = 1_000
    n_estimate: int = 100_000

    def __post_init__(self) -> None:
        for name, wanted in (("select", self.n_select), ("estimate", self.n_estimate)):
            if not checked_wanted(wanted, f"{name} samples"):
                raise InvalidInputError(f"expected at least one of the {name} samples, got {wanted}")


def check_can_vote(machine: Machine, task: Task) -> None:
    """Refuses, before training, a machine on which the trained model could not vote."""
    if machine.workers == "ray":
        from flipproof.smoothing.workers.ray_connection import check_answers  # only runs on a cluster need Ray

        check_answers(checked_address(machine.address))
    attention = task.model.name == "gat" and task.noisy != "attributes"
    if machine.engine == FUSED and not task.model.own and (task.model.name not in FUSED_MODELS or attention):
        raise InvalidInputError(
            f"expected one of {', '.join(FUSED_MODELS)} (gat under noise on attributes only) for the fused engine, got "
            f"{task.model.name} under noise on {task.noisy}; leave the engine out for the fastest that there is"
        )


def wanted_samples(
    path: str | os.PathLike[str], kind: str, n_select: int | None, n_estimate: int | None, force: bool = False
) -> Samples:
    """How many samples a run gets. Numbers that are None suit its kind of data, and votes that are there already."""
    n_estimate = kind_named(kind).n_estimate if n_estimate is None else n_estimate
    folder = RunFolder(Path(path))
    there = None if n_select is not None or force or not folder.exists else _votes_record(RunFolder.open(path))
    if there is not None:
        return Samples(there.n_select, n_estimate)
    return Samples(n_estimate=n_estimate) if n_select is None else Samples(n_select, n_estimate)


def run(
    path: str | os.PathLike[str],
    task: Task,
    samples: Samples | None = None,
    promise: PromiseSettings | None = None,
    machine: Machine | None = None,
    weights: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> FinishedRun:
    """Trains, votes and certifies. Finished steps are not repeated, unless `force` discards the run.

    Data are loaded once, and each step gets what the one before has made.
    """
    machine, promise = machine or Machine(), promise or PromiseSettings()
    check_can_vote(machine, task)
    given = GivenWeights.read(weights)
    prepared = prepared_task(task)
    folder = _folder_for(path, prepared, force)
    with folder.locked():
        trained = _trained(folder, prepared, machine, given, force)
        votes, record = _voted(folder, trained, samples or Samples(), machine)
        certificates = write_certified(folder, promise, force, votes)
    return FinishedRun(
        folder=folder,
        task_record=task_section(prepared, given),
        task=task,
        data=prepared.record,
        training=trained.training,
        votes=record,
        promise=asdict(promise),
        inputs=trained.inputs,
        certificates=certificates,
        words=_kind_words(task, prepared.record, votes.noise),
        shown=prepared.shown(),
    )


def train_run(
    path: str | os.PathLike[str],
    task: Task,
    machine: Machine | None = None,
    weights: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> RunFolder:
    """Trains the model of a task and leaves it in a folder; does nothing if that is done already.

    A run that is in the folder stays as it is until the new weights are ready.

    Args:
        path: of the folder.
        task: what to train.
        machine: what may be used.
        weights: a file with weights that were trained elsewhere, to be used instead of training. Accuracies are then
            reported only if the data say which inputs are for testing.
        force: whether to discard a run that is in the folder, even if it has the same task.
    """
    given = GivenWeights.read(weights)
    prepared = prepared_task(task)
    folder = _folder_for(path, prepared, force)
    if folder.exists and not force:
        check_task(folder, task_section(prepared, given))
        check_data(folder, prepared)
        return folder
    with folder.locked():
        _trained(folder, prepared, machine or Machine(), given, force)
    return folder


def _folder_for(path: str | os.PathLike[str], prepared: PreparedTask, force: bool) -> RunFolder:
    """The folder of a run that is there, or a new one. A task that cannot be trained leaves no folder."""
    if RunFolder(Path(path)).exists and not force:
        return RunFolder.open(path)
    prepared.check()
    return RunFolder.prepare(path)


def _trained(
    folder: RunFolder, prepared: PreparedTask, machine: Machine, given: GivenWeights | None, force: bool
) -> Trained:
    """What was trained for a task in a folder that is locked; trained now if it is not there yet."""
    if force or not folder.exists:
        return train_into(folder, prepared, machine, given)
    check_task(folder, task_section(prepared, given))
    return reopened_with(folder, prepared, prepared.task.model.name)


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
        force: whether to discard votes that are there.
    """
    folder = RunFolder.open(path)
    with folder.locked():
        trained = reopened(folder, model)
        if force:
            folder.forget("votes", "certificates")
        return _voted(folder, trained, samples or Samples(), machine or Machine())[0]


def _voted(folder: RunFolder, trained: Trained, samples: Samples, machine: Machine) -> tuple[Votes, VotesRecord]:
    """Votes in a folder that is locked, and their record."""
    there = _votes_record(folder)
    if there is not None:
        _check_not_fewer(folder, there, samples)
    prepared, classifier = trained.prepared, trained.classifier
    if machine.device != "cpu":
        classifier = on_device(classifier, machine.device)
    votes = vote(
        classifier, prepared.certified.space, prepared.noise, samples.n_select, samples.n_estimate, prepared.task.seed,
        workers=machine.workers, memory_limit=machine.memory_limit, checkpoint=folder.checkpoint_file,
        targets=prepared.targets, progress=machine.progress, address=machine.address, engine=machine.engine,
        timeout=machine.timeout, check=machine.check,
    )  # fmt: skip
    return votes, _save_votes(folder, votes, there, machine.workers)


def _votes_record(folder: RunFolder) -> VotesRecord | None:
    record = folder.record()
    return folder.read(VotesRecord, record) if "votes" in record else None


def _check_not_fewer(folder: RunFolder, there: VotesRecord, samples: Samples) -> None:
    """Refuses to end up with fewer samples than there are: sums of votes cannot be taken apart."""
    for name, wanted in (("n_select", samples.n_select), ("n_estimate", samples.n_estimate)):
        if wanted < getattr(there, name):
            raise InvalidInputError(
                f"expected at least the {getattr(there, name):,} samples ({name}) that {folder.path} has, got "
                f"{wanted:,}; ask for as many, or name another folder; flipproof vote --force discards them"
            )


def _save_votes(folder: RunFolder, votes: Votes, there: VotesRecord | None, workers: int | str) -> VotesRecord:
    """Writes votes unless the folder has them; a killed process may have left them complete in the checkpoint only."""
    if votes.run is None:
        raise InvalidInputError("expected votes that were drawn here, got others")
    counts = (votes.n_select, votes.n_estimate)
    if there is not None and (there.sha256, there.n_select, there.n_estimate) == (
        sha256_of(folder.votes_file),
        *counts,
    ):
        return there
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
    return record


def certify_run(
    path: str | os.PathLike[str], promise: PromiseSettings | None = None, force: bool = False
) -> Certificates:
    """Turns the votes of a run into certificates, and writes them to its folder.

    Existing certificates are replaced if they make the same promise, say from fewer votes; others only with `force`.
    """
    folder = RunFolder.open(path)
    with folder.locked():
        return write_certified(folder, promise or PromiseSettings(), force)


def open_run(path: str | os.PathLike[str], certificates: Certificates | None = None) -> FinishedRun:
    """The finished run in a folder, without its data.

    Args:
        path: of the folder.
        certificates: those of the run, if somebody has just made them; otherwise they are made again from its votes.
    """
    folder = RunFolder.open(path)
    record = folder.record()
    task = task_in(record)
    certificates = certified(folder) if certificates is None else certificates
    data = folder.read(DataRecord)
    training = folder.read(TrainingRecord)
    return FinishedRun(
        folder=folder,
        task_record=record["task"],
        task=task,
        data=data,
        training=training,
        votes=folder.read(VotesRecord),
        promise=record.get("certificates", {}),
        inputs=read_inputs(folder, training),
        certificates=certificates,
        words=_kind_words(task, data, certificates.votes.noise),
    )


def with_data(run: FinishedRun) -> FinishedRun:
    """A finished run with its data, if they are at hand and still what they were. Nothing is fetched.

    Labels in the folder that are not those of the data are refused.
    """
    if run.shown is not None:
        return run
    try:
        prepared = prepared_task(run.task, download=False)
    except FlipproofError:
        return run
    if prepared.record != run.data:
        return run
    check_inputs(run.folder, prepared)
    return replace(run, shown=prepared.shown())


def _kind_words(task: Task, data: DataRecord, noise: Law) -> KindWords:
    kind = kind_named(task.kind)
    return KindWords(kind.unit, kind.noise_words(task.noisy), kind.change_words(task, data, noise))
