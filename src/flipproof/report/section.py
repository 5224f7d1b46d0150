"""The section of a report on one run: certificates, inputs and facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from flipproof.errors import InvalidInputError
from flipproof.files.strict_json import is_number
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs
from flipproof.run_folder.data_record import DataRecord
from flipproof.run_folder.finished_run import FinishedRun
from flipproof.run_folder.folder import TrainingRecord, VotesRecord
from flipproof.run_folder.split import UNKNOWN, UNTOLD
from flipproof.run_folder.task import Task
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.run import Run
from flipproof.theory.certificate import Certificate
from flipproof.theory.search import SEARCH_LIMIT


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values under a title."""

    title: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class BlindClassifier:
    """A classifier that ignores the noisy part, with its accuracy on the judged inputs. Smoothing must beat it."""

    words: str
    accuracy: float


@dataclass(frozen=True, eq=False)
class Section:
    """What a page says about one run.

    Attributes:
        name: a short name for it.
        certificates: `Certificates`, or any other `Certificate`.
        described: what else is known about the inputs.
        base_accuracy: the accuracy of the classifier without smoothing, if known.
        facts: about data, model, noise, votes, versions.
        command: the command that repeats the run.
        samples_per_second: how fast votes were drawn, if known.
        blind: the classifier to beat; by default the one that always answers the most frequent class.
        unjudged: why there are no accuracies, where a reader expects some.
    """

    name: str
    certificates: Any
    described: DescribedInputs = field(default_factory=DescribedInputs)
    base_accuracy: float | None = None
    facts: tuple[Facts, ...] = ()
    command: str | None = None
    samples_per_second: float | None = None
    blind: BlindClassifier | None = None
    unjudged: str | None = None

    @cached_property
    def certified(self) -> CertifiedInputs:
        """The inputs with their certificates."""
        return CertifiedInputs(self.certificates, self.described)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InvalidInputError(f"expected a name for the run, got {self.name!r}")
        self.certified.check()

    def outline(self) -> dict[str, Any]:
        """All fields of a page's JSON in their order: what is known before anything is measured, the others empty."""
        certified, described = self.certified, self.described
        return {
            "name": self.name,
            "words": {},
            "facts": [{"title": facts.title, "rows": facts.rows} for facts in self.facts],
            "command": self.command,
            "inputs": certified.inputs,
            "unit": described.unit,
            "units": described.units,
            "classes": [described.class_name(label) for label in range(certified.classes)],
            "limit": SEARCH_LIMIT,
            "abstentions": [],
            "numbers": [],
            "details": [],
            "by_class": None,
            "axes": [],
            "measures": [],
            "table": None,
            "any": None,
            "stairs": None,
            "sentences": None,
            "forecast": None,
            "pictures": None,
        }


def section_of(certificates: Certificate, name: str, described: DescribedInputs | None = None) -> Section:
    """The section of certificates that belong to no run folder."""
    described = DescribedInputs() if described is None else described
    if not isinstance(certificates, Certificates):
        promise = certificates.promise
        rows = (("published by", promise.system), ("rule", promise.rule), ("alpha", repr(promise.alpha)))
        return Section(name, certificates, described, facts=(Facts("Promise", rows),))
    run, certified = certificates.votes.run, CertifiedInputs(certificates)
    facts = (noise_facts(certified), promise_facts(certified), *_run_facts(run))
    speed = None if run is None else run.samples_per_second
    return Section(name, certificates, described, facts=facts, samples_per_second=speed)


def _run_facts(run: Run | None) -> tuple[Facts, ...]:
    if run is None:
        return ()
    hashes = (("seed", str(run.identity["seed"])), ("model", run.identity["model"]), ("data", run.identity["data"]))
    return Facts("Votes", hashes), Facts("Versions", tuple(sorted(run.versions.items())))


def run_section(run: FinishedRun, command: str | None = None) -> Section:
    """The section of a finished run; `command` is what repeats it."""
    task, described = run.task, replace(described_run(run, run.shown), labels_compared=run.shown is not None)
    certified = CertifiedInputs(run.certificates, described)
    return Section(
        name=f"{run.data.name}, {task.model.name}, noise {run.words.noise}",
        certificates=run.certificates,
        described=described,
        base_accuracy=run.training.base_accuracy,
        blind=blind_of(run.training),
        unjudged=UNTOLD if run.training.split == UNKNOWN else None,
        facts=(
            _data_facts(run.data),
            _model_facts(task, run.training),
            noise_facts(certified, task.noisy),
            _vote_facts(task, run.votes, certified),
            promise_facts(certified),
            Facts("Versions", tuple(sorted(run.votes.versions.items()))),
        ),
        command=command,
        samples_per_second=run.votes.drawn / run.votes.seconds if run.votes.seconds else None,
    )


def blind_of(training: TrainingRecord) -> BlindClassifier | None:
    """The blind classifier of a training record, which may come from anywhere; None if it has none."""
    words, accuracy = training.blind.get("words"), training.blind.get("accuracy", "")
    return BlindClassifier(words, float(accuracy)) if isinstance(words, str) and is_number(accuracy) else None


def described_run(run: FinishedRun, shown: Mapping[str, Any] | None = None) -> DescribedInputs:
    """The inputs of a run, described; `shown` has further fields, such as the data to draw."""
    inputs = run.inputs
    known = {"class_names": inputs.class_names, "labels": inputs.labels, "split": inputs.split}
    return DescribedInputs(**{"unit": run.words.unit, **run.words.changes, **known, **(shown or {})})


def noise_facts(certified: CertifiedInputs, only_part: str = "") -> Facts:
    """The noise, with all digits of its probabilities. `only_part` names the part of a noise without named parts."""
    named = ((name or only_part, fact, value) for name, fact, value in certified.noise_facts)
    return Facts("Noise", tuple((f"{name}: {fact}" if name else fact, value) for name, fact, value in named))


def promise_facts(certified: CertifiedInputs) -> Facts:
    """alpha, what it covers and pays for, and the rule."""
    certificates, votes = certified.certificates, certified.votes
    budget = certificates.budget
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


def _vote_facts(task: Task, votes: VotesRecord, certified: CertifiedInputs) -> Facts:
    run = certified.votes.run
    speed = f"{votes.drawn / votes.seconds:,.0f} samples/s" if votes.seconds else "unknown"
    return Facts(
        "Votes",
        (
            ("seed", str(task.seed)),
            ("noise stream", "unknown" if run is None else f"version {run.identity.get('stream version')}"),
            ("time", f"{votes.seconds:,.1f} s"),
            ("throughput", speed),
            ("workers", str(votes.workers)),
            ("engine", certified.engine or "the classifier itself"),
            ("classifier checked", "unknown" if run is None else "yes" if certified.checked else "no"),
            ("votes, sha256", votes.sha256),
        ),
    )
