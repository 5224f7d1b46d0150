"""The check of a run: its files by the independent checker, then the data and the model if they are there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from flipproof.base.threads import single_threaded
from flipproof.datasets import MissingDataError, card
from flipproof.datasets.loading import is_user_file
from flipproof.errors import FlipproofError, one_line
from flipproof.extras import MissingExtraError
from flipproof.noise.laws import counts_of, sampler_of, scope_of_outputs
from flipproof.pipeline.kinds.kind import prepared_task, task_in
from flipproof.pipeline.prepared import PreparedTask, source_of_split
from flipproof.pipeline.reopened import check_data, check_inputs, restored_classifier
from flipproof.run_folder.data_record import DataRecord
from flipproof.run_folder.folder import RunFolder, TrainingRecord
from flipproof.run_folder.split import UNKNOWN, Inputs
from flipproof.run_folder.task import Task
from flipproof.smoothing.fingerprint.fingerprints import fingerprint
from flipproof.smoothing.fingerprint.identity import differences_between
from flipproof.smoothing.run import sampling_error
from flipproof.smoothing.votes import Votes
from flipproof.smoothing.voting.vote_task import model_identity
from flipproof.verification.check import Check, Level
from flipproof.verification.check import verify as check_files
from flipproof.verification.limits import USUAL_MINUTES

_NEAR = 0.01

WITHOUT_DATA = (
    "the data are not at hand: that labels, split, numbers of entries and what gets no noise are those of the dataset "
    "that is named was not checked"
)
WITHOUT_MODEL = "the model is its author's own, and was not run: base predictions were not checked"
OTHER_CODE = (
    "another flipproof has evaluated the samples; that this one gives the same labels is shown by --resample only"
)


def verify(
    path: Any,
    arithmetic_only: bool = False,
    minutes: float = USUAL_MINUTES,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Check:
    """Checks the certificates of a run folder: their arithmetic, and the evidence that lies beside them.

    The files are checked by code that shares nothing with what wrote them. If the data are at hand, they are then
    compared with what the run says about them, and the model's base predictions are made again; nothing is fetched,
    and no code of a run's author is run.

    Args:
        path: of the run folder, or of a `certificates.json`.
        arithmetic_only: whether it is enough that bounds and radii follow from the counts that are stated, as it must
            be for a file that was handed over without its run.
        minutes: claims that take longer than this are "not checked".
        progress: is told how many inputs are done, and of how many.

    Raises:
        FileFormatError: a file cannot be read, or is no certificate.

    Example:
        >>> import tempfile, flipproof as fp
        >>> noise = fp.FlipNoise(p_plus=0.01, p_minus=0.6)
        >>> votes = fp.Votes.from_counts(selection=[[99, 1]], estimation=[[9990, 10]], noise=noise)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fp.certify(votes).save(f"{folder}/certificates.json")
        ...     check = fp.verify(folder, arithmetic_only=True)
        >>> check.confirmed, check.level
        (True, <Level.ARITHMETIC: 1>)
    """
    checked = check_files(path, arithmetic_only, minutes, progress)
    if checked.level < Level.EVIDENCE:
        return checked
    objections, notes = _looked_up(checked.certificate.path.parent)
    level = Level.ARITHMETIC if objections else Level.EVIDENCE
    return replace(checked, level=level, objections=(*checked.objections, *objections), notes=notes)


def _looked_up(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Objections and notes from comparing a run with the data and with the model."""
    objections: list[str] = []
    notes: list[str] = []
    try:
        folder = RunFolder.open(path)
        task = task_in(folder.record())
        prepared = _at_hand(task)
        if prepared is None:
            return tuple(_about_card(folder, task)), (WITHOUT_DATA,)
        objections += _about_data(folder, prepared)
        if task.model.own:
            notes.append(WITHOUT_MODEL)
        else:
            classifier = restored_classifier(folder, prepared)
            objections += _about_model(folder, prepared, classifier)
            notes += _about_code(folder, classifier)
    except MissingExtraError as error:
        notes.append(f"the model was not looked at: {error}")
    except FlipproofError as error:
        return (one_line(str(error)),), ()
    return tuple(map(one_line, objections)), tuple(notes)


def _at_hand(task: Task) -> PreparedTask | None:
    """The task with its data; None if they would have to be fetched, or are a file that is not here."""
    if is_user_file(task.dataset) and not Path(task.dataset).exists():
        return None
    try:
        return prepared_task(task, download=False)
    except MissingDataError:
        return None


def _about_card(folder: RunFolder, task: Task) -> Iterator[str]:
    """Objections that need only the card of a dataset."""
    if is_user_file(task.dataset):
        return
    known, stated = card(task.dataset), folder.read(DataRecord)
    if (known.name, known.classes, known.kind) != (stated.name, stated.classes, task.kind):
        yield f"run.json has other facts about the dataset {known.name}"


def _about_data(folder: RunFolder, prepared: PreparedTask) -> Iterator[str]:
    """Objections to what the run says about its data."""
    check_data(folder, prepared)
    check_inputs(folder, prepared)
    votes, space = Votes.load(folder.votes_file), prepared.certified.space
    stated, training = folder.record()["task"], folder.read(TrainingRecord)
    if differences := differences_between(stated, prepared.task_record() | {"weights": stated.get("weights")}):
        yield f"run.json states a task that cannot be run: {differences}"
    elsewhere = stated.get("weights") is not None or (prepared.task.model.own and training.split == UNKNOWN)
    if training.split != source_of_split(prepared, elsewhere):
        yield "run.json has another source of the split"
    if votes.run is None or votes.run.identity["data"] != fingerprint(space):
        yield "votes.npz has votes on other data"
        return
    if votes.run.space != counts_of(space):
        yield "votes.npz has another space"
    if votes.scope != scope_of_outputs(space, prepared.noise, len(votes), None):
        yield "votes.npz has other numbers of entries than the data"
    cost = sampler_of(space, prepared.noise, prepared.task.seed).distance
    if votes.run.sampling_error != sampling_error(cost, votes.n_select + votes.n_estimate):
        yield "votes.npz has another sampling error than its samples"


def _about_code(folder: RunFolder, classifier: Any) -> Iterator[str]:
    """A note if another version of flipproof turned noisy inputs into labels."""
    run = Votes.load(folder.votes_file).run
    if run is None or run.identity.get("code") != model_identity(classifier)["code"]:
        yield OTHER_CODE


def _about_model(folder: RunFolder, prepared: PreparedTask, classifier: Any) -> Iterator[str]:
    """Objections to what the run says about its weights and base predictions."""
    training = folder.read(TrainingRecord)
    if model_identity(classifier)["files"] != training.files:
        yield "run.json names files that the model is not made of"
    with single_threaded():
        found = prepared.clean_labels(classifier)
    if differing := int(np.sum(found != Inputs.load(folder.inputs_file).base_label)):
        yield f"inputs.npz has {differing} base predictions that the model does not make"
    expected = {} if training.split == UNKNOWN else prepared.blind_facts()
    if not _same_blind(expected, training.blind):
        yield "run.json has another accuracy of a classifier that ignores the noisy part"


def _same_blind(found: Mapping[str, Any], stated: Mapping[str, Any]) -> bool:
    """Whether two accuracies agree: fits of other versions may differ a little, and scikit-learn may be missing."""
    if not found and find_spec("sklearn") is None:
        return True
    accuracies = (side.get("accuracy", 0.0) for side in (found, stated))
    return found.get("words") == stated.get("words") and abs(next(accuracies) - next(accuracies)) <= _NEAR
