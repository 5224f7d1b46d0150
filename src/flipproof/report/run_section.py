"""A finished run as a section of a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flipproof.files.json_text import is_number
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.section import Blind, Facts, Section
from flipproof.run_folder.finished_run import FinishedRun
from flipproof.run_folder.records import UNKNOWN, UNTOLD, DataRecord, TrainingRecord, VotesRecord
from flipproof.run_folder.task import Task
from flipproof.smoothing.certificates import Certificates


def run_section(run: FinishedRun, command: str | None = None) -> Section:
    """What a report says about a run; `command` repeats it."""
    certificates, task = run.certificates, run.task
    return Section(
        name=f"{run.data.name}, {task.model.name}, noise {run.words.noise}",
        certificates=certificates,
        described=replace(described_run(run, run.shown), labels_compared=run.shown is not None),
        base_accuracy=run.training.base_accuracy,
        blind=blind_of(run.training),
        unjudged=UNTOLD if run.training.split == UNKNOWN else None,
        facts=(
            _data_facts(run.data),
            _model_facts(task, run.training),
            noise_facts(certificates, task.noisy),
            _vote_facts(task, run.votes, certificates),
            promise_facts(certificates),
            Facts("Versions", tuple(sorted(run.votes.versions.items()))),
        ),
        command=command,
        samples_per_second=run.votes.drawn / run.votes.seconds if run.votes.seconds else None,
    )


def blind_of(training: TrainingRecord) -> Blind | None:
    """The classifier that ignores the noisy part, if training made one. The record may come from anywhere."""
    words, accuracy = training.blind.get("words"), training.blind.get("accuracy", "")
    return Blind(words, float(accuracy)) if isinstance(words, str) and is_number(accuracy) else None


def described_run(run: FinishedRun, shown: Mapping[str, Any] | None = None) -> DescribedInputs:
    """What the inputs of a run are; `shown` has further fields, such as the observed data as a space."""
    inputs = run.inputs
    known = {"class_names": inputs.class_names, "labels": inputs.labels, "split": inputs.split}
    return DescribedInputs(**{"unit": run.words.unit, **run.words.changes, **known, **(shown or {})})


def noise_facts(certificates: Certificates, only_part: str = "") -> Facts:
    """The law, with all digits of its probabilities. A noise without parts may be known to be on one."""
    named = ((name or only_part, fact, value) for name, fact, value in certificates.noise.facts())
    return Facts("Noise", tuple((f"{name}: {fact}" if name else fact, value) for name, fact, value in named))


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


def _model_facts(task: Task, training: TrainingRecord) -> Facts:
    how = f"{training.epochs:,} epochs" if training.epochs else "fitted"
    trained = f"{how} in {training.seconds:.1f} s" if training.seconds else "elsewhere"
    return Facts(
        "Model",
        (
            ("model", task.model.name),
            ("trained", trained),
            ("fingerprint", training.model),
            ("weights, sha256", training.weights_sha256),
        ),
    )


def _vote_facts(task: Task, votes: VotesRecord, certificates: Certificates) -> Facts:
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
