"""What a run came to, in a few numbers: accuracies, certified shares, radii, abstentions, time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from flipproof.base.values import BoolArray, IntArray
from flipproof.report.by_class import ClassResult, cautions, class_results, majority
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.section import Blind, blind_of, described_run
from flipproof.report.shares import mean_radius
from flipproof.report.words.promises import plain_words
from flipproof.report.words.verdict import headline, withstanding
from flipproof.run_folder.finished_run import FinishedRun
from flipproof.run_folder.records import DataRecord
from flipproof.theory.radii import UNBOUNDED

_FEW = 6
_FAR = 60


@dataclass(frozen=True, slots=True)
class AxisSummary:
    """Certificates against one kind of change.

    Attributes:
        mean: of the largest certified number of changes, over all inputs, each at most what the input can suffer; None
            if some are unbounded, or only known to be large.
        mean_test: the same over test inputs; None likewise, or without any.
        uncapped_mean: that of inputs without end, as publications give it; None likewise.
        largest: over all inputs.
        cap: the largest that the number of samples allows, if all of them agree.
        radii: some numbers of changes, and for each
        ratio: the share of all inputs that are certified,
        accuracy: the share of test inputs that are certified and right; None without any.
    """

    mean: float | None
    mean_test: float | None
    uncapped_mean: float | None
    largest: int
    cap: int
    radii: list[int]
    ratio: list[float]
    accuracy: list[float] | None


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run came to. Accuracies are shares of test inputs; the smoothed classifier is wrong where it abstains.

    They are None where it is not known which inputs are for testing, because the weights were trained elsewhere.

    `any_change` counts changes of all kinds together; it is None where additions and deletions by themselves say more.

    Attributes:
        headline: how many inputs withstand any one change, or that none does.
        withstand: how many inputs do, for every kind of change that the headline speaks of.
        cautions: what a reader of the shares must know; most often nothing.
        blind: what a classifier that ignores the noisy part reaches; None without labels.
        by_class: results of the test inputs of every class.
    """

    headline: str
    withstand: dict[str, int]
    cautions: list[str]
    blind: Blind | None
    by_class: list[ClassResult]
    kind: str
    data: DataRecord
    model: str
    noisy: str
    inputs: int
    test_inputs: int
    base_accuracy: float | None
    smoothed_accuracy: float | None
    abstained: int
    axes: dict[str, AxisSummary]
    any_change: AxisSummary | None
    training_epochs: int
    training_seconds: float
    voting_seconds: float
    samples_per_second: float

    def to_record(self) -> dict[str, Any]:
        """JSON values."""
        record = asdict(self)
        anything = [record["any_change"]] if record["any_change"] else []
        for along in (*record["axes"].values(), *anything):
            along.update({name: "unbounded" for name in ("largest", "cap") if along[name] == UNBOUNDED})
        return record


@dataclass(frozen=True, slots=True)
class Told:
    """What a terminal says beside the summary: the law part by part, what drew the votes, and one sentence."""

    noise: tuple[str, ...]
    engine: str | None
    example: str


def summary_of(run: FinishedRun) -> Summary:
    """Sums up a finished run."""
    return _summary(run, CertifiedInputs(run.certificates, described_run(run)))


def told_summary(run: FinishedRun) -> tuple[Summary, Told]:
    """Sums up a finished run for a terminal."""
    certified = CertifiedInputs(run.certificates, described_run(run))
    return _summary(run, certified), Told(certified.noise_words, certified.engine, _example(certified))


def _example(certified: CertifiedInputs) -> str:
    """What is proved about an input in the middle: half of those that are certified are surer, half are less."""
    order = certified.certificates.bounds.p_lower.argsort()
    labelled = order[~certified.abstained[order]]
    if not labelled.size:
        return "none: nothing is certified"
    number = int(labelled[labelled.size // 2])
    return f"{certified.described.unit} {certified.votes.ids[number]}: {plain_words(certified, number)}"


def _summary(run: FinishedRun, certified: CertifiedInputs) -> Summary:
    inputs, training, votes, test = run.inputs, run.training, run.votes, run.inputs.split.test
    right = np.equal(certified.label, inputs.labels) & ~certified.abstained
    blind = blind_of(training) or majority(certified)
    return Summary(
        headline=headline(certified) if certified.inputs else "There are no inputs: nothing is certified.",
        withstand={each.change: each.count for each in withstanding(certified)},
        cautions=cautions(certified, blind),
        blind=blind,
        by_class=class_results(certified),
        kind=run.task.kind,
        data=run.data,
        model=run.task.model.name,
        noisy=run.task.noisy,
        inputs=certified.inputs,
        test_inputs=int(test.size),
        base_accuracy=_accuracy(np.equal(inputs.base_label, inputs.labels), test),
        smoothed_accuracy=_accuracy(right, test),
        abstained=int(certified.abstained.sum()),
        axes={
            axis: replace(
                _axis_summary(radii, certified.sample_caps[axis], partial(certified.withstands, axis), test, right),
                uncapped_mean=mean_radius(certified.uncapped_radii[axis]),
            )
            for axis, radii in certified.radii.items()
        },
        any_change=None
        if (radii := certified.any_radii) is None
        else _axis_summary(radii, UNBOUNDED, partial(certified.withstands_any, radii), test, right),
        training_epochs=training.epochs,
        training_seconds=training.seconds,
        voting_seconds=votes.seconds,
        samples_per_second=votes.drawn / votes.seconds if votes.seconds else 0.0,
    )


def _axis_summary(
    largest: IntArray, cap: int, withstands: Callable[[int], BoolArray], test: IntArray, right: BoolArray
) -> AxisSummary:
    radii = _few(int(largest.max(initial=0)))
    shares = [withstands(radius) for radius in radii]
    return AxisSummary(
        mean=mean_radius(largest),
        mean_test=mean_radius(largest[test]) if test.size else None,
        uncapped_mean=None,
        largest=int(largest.max(initial=0)),
        cap=cap,
        radii=radii,
        ratio=[float(share.mean()) for share in shares],
        accuracy=[float((share & right)[test].mean()) for share in shares] if test.size else None,
    )


def _accuracy(right: BoolArray, test: IntArray) -> float | None:
    return float(np.mean(right[test])) if test.size else None


def _few(largest: int) -> list[int]:
    """A few radii from 0 over 1 to the largest, or to a large one if that is very far away."""
    few = np.linspace(0, min(largest, _FAR), _FEW + 1).round().astype(int).tolist()
    return sorted({1, *few})
