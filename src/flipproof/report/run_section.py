"""A run folder as a section of a report: what `run.json` and the files beside it say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flipproof.files.json_text import is_number
from flipproof.noise.spaces.words import (
    bag_words,
    graph_words,
    image_words,
    sequence_words,
    small_graph_words,
    table_words,
)
from flipproof.report.described_inputs import Subject
from flipproof.report.section import Blind, Facts, Section
from flipproof.report.words.kind_words import noise_words, unit_of
from flipproof.run_folder.certified import certified
from flipproof.run_folder.folder import RunFolder
from flipproof.run_folder.inputs import Inputs
from flipproof.run_folder.records import (
    TRAIN,
    UNKNOWN,
    UNTOLD,
    VOTE,
    DataRecord,
    TaskRecord,
    TrainingRecord,
    VotesRecord,
    read_section,
)
from flipproof.smoothing.certificates import Certificates
from flipproof.theory.radii import parts_of


def run_section(folder: RunFolder, drawn: Mapping[str, Any] | None = None, command: str | None = None) -> Section:
    """What a report says about the run in a folder.

    Args:
        folder: a run with certificates.
        drawn: further fields of the `Subject`, such as the observed data as a space; None if the data are not at
            hand, so that the labels in the folder were not compared with them.
        command: what repeats the run.
    """
    certificates = certified(folder)
    task = read_section(folder, "task", TaskRecord, TRAIN)
    training = read_section(folder, "training", TrainingRecord, TRAIN)
    votes = read_section(folder, "votes", VotesRecord, VOTE)
    data = read_section(folder, "dataset", DataRecord, TRAIN)
    subject = replace(run_subject(folder, certificates, drawn), labels_compared=drawn is not None)
    return Section(
        name=f"{data.name}, {task.model_name}, noise {noise_words(task.noisy)}",
        certificates=certificates,
        subject=subject,
        base_accuracy=training.base_accuracy,
        blind=blind_of(training),
        unjudged=UNTOLD if training.split == UNKNOWN else None,
        facts=(
            _data_facts(data),
            _model_facts(task, training),
            noise_facts(certificates, task.noisy),
            _vote_facts(task, votes, certificates),
            promise_facts(certificates),
            Facts("Versions", tuple(sorted(votes.versions.items()))),
        ),
        command=command,
        samples_per_second=votes.drawn / votes.seconds if votes.seconds else None,
    )


def blind_of(training: TrainingRecord) -> Blind | None:
    """The classifier that ignores the noisy part, if training made one. The record may come from anywhere."""
    words, accuracy = training.blind.get("words"), training.blind.get("accuracy", "")
    return Blind(words, float(accuracy)) if isinstance(words, str) and is_number(accuracy) else None


def run_subject(folder: RunFolder, certificates: Certificates, drawn: Mapping[str, Any] | None = None) -> Subject:
    """What the inputs of a run are; `drawn` as in `run_section`."""
    task = read_section(folder, "task", TaskRecord, TRAIN)
    training = read_section(folder, "training", TrainingRecord, TRAIN)
    folder.check(folder.inputs_file, training.inputs_sha256, f"{TRAIN} --force")
    inputs = Inputs.load(folder.inputs_file)
    data = read_section(folder, "dataset", DataRecord, TRAIN)
    return Subject(
        unit=unit_of(task.kind),
        **_change_words(task, data, certificates, drawn or {}),
        class_names=inputs.class_names,
        labels=inputs.labels,
        split=inputs.split,
        **(drawn or {}),
    )


def _change_words(
    task: TaskRecord, data: DataRecord, certificates: Certificates, drawn: Mapping[str, Any]
) -> dict[str, Any]:
    """What is changed in the inputs of a run: fields of a `Subject`."""
    if task.kind == "nodes":
        return graph_words(task.noisy, "pixels" if drawn.get("image_shape") is not None else "attributes")
    if task.kind == "graphs":
        return small_graph_words(task.noisy, one_hot=bool(task.reading.get("one_hot")))
    if task.kind == "images":
        return image_words(colours=data.counts.get("colours", 1) > 1)
    if task.kind == "tables":
        return table_words(parts_of(certificates.noise))
    return bag_words() if task.noisy == "words" else sequence_words(masking=task.noisy == "masking")


def noise_facts(certificates: Certificates, only_part: str = "") -> Facts:
    """The law, with all digits of its probabilities. A noise without parts may be known to be on one."""
    rows = []
    for name, part in parts_of(certificates.noise):
        prefix = f"{name or only_part}: " if name or only_part else ""
        rows += [(f"{prefix}p_plus", f"{part.p_plus!r}"), (f"{prefix}p_minus", f"{part.p_minus!r}")]
        if part.categories > 2:
            rows.append((f"{prefix}categories", str(part.categories)))
    return Facts("Noise", tuple(rows))


def promise_facts(certificates: Certificates) -> Facts:
    """alpha, where it goes, and the rule."""
    budget, votes = certificates.budget, certificates.votes
    return Facts(
        "Promise",
        (
            ("alpha", repr(budget.alpha)),
            ("holds for", "all inputs at once" if certificates.simultaneous else "each input by itself"),
            ("rule", str(certificates.rule)),
            ("samples to select", f"{votes.n_select:,}"),
            ("samples to bound", f"{votes.n_estimate:,}"),
            ("alpha paid for sampling", f"{budget.sampling_error:.3g}"),
        ),
    )


def _data_facts(data: DataRecord) -> Facts:
    counts = ((name, f"{count:,}") for name, count in (*data.counts.items(), ("classes", data.classes)))
    return Facts("Data", (("dataset", data.name), *counts, ("fingerprint", data.fingerprint)))


def _model_facts(task: TaskRecord, training: TrainingRecord) -> Facts:
    how = f"{training.epochs:,} epochs" if training.epochs else "fitted"
    trained = f"{how} in {training.seconds:.1f} s" if training.seconds else "elsewhere"
    return Facts(
        "Model",
        (
            ("model", task.model_name),
            ("trained", trained),
            ("fingerprint", training.model),
            ("weights, sha256", training.weights_sha256),
        ),
    )


def _vote_facts(task: TaskRecord, votes: VotesRecord, certificates: Certificates) -> Facts:
    run = certificates.votes.run
    speed = f"{votes.drawn / votes.seconds:,.0f} samples/s" if votes.seconds else "unknown"
    return Facts(
        "Votes",
        (
            ("seed", str(task.seed)),
            ("noise stream", "unknown" if run is None else f"version {run.identity.get('stream version')}"),
            ("time", f"{votes.seconds:,.1f} s"),
            ("throughput", speed),
            ("workers", str(votes.workers)),
            ("engine", (run.engine if run else None) or "the classifier itself"),
            ("classifier checked", "unknown" if run is None else "yes" if run.checked else "no"),
            ("votes, sha256", votes.sha256),
        ),
    )
