"""What a run came to, in a few numbers: accuracies, certified shares, radii, abstentions, time."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from flipproof.base.arrays import BoolArray, IntArray
from flipproof.report.by_class import ClassResult, cautions, class_results, majority
from flipproof.report.forecast import mean_radius
from flipproof.report.run_section import blind_of, described_run
from flipproof.report.section import Blind
from flipproof.report.words.any_changes import any_radii, withstands_any
from flipproof.report.words.verdict import headline, withstanding
from flipproof.run_folder.finished_run import FinishedRun
from flipproof.run_folder.inputs import Inputs
from flipproof.run_folder.records import DataRecord
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.sample_limits import caps
from flipproof.theory.radii import UNBOUNDED, Radii, axes_of

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


def summary_of(run: FinishedRun) -> Summary:
    """Sums up a finished run."""
    certificates, inputs, training, votes = run.certificates, run.inputs, run.training, run.votes
    right = np.equal(certificates.label, inputs.labels) & ~certificates.abstained
    described = described_run(run)
    found = withstanding(certificates, described)
    blind = blind_of(training) or majority(certificates, described)
    return Summary(
        headline=headline(certificates, described)
        if len(certificates)
        else "There are no inputs: nothing is certified.",
        withstand={each.change: each.count for each in found},
        cautions=cautions(certificates, described, blind),
        blind=blind,
        by_class=class_results(certificates, described),
        kind=run.task.kind,
        data=run.data,
        model=run.task.model.name,
        noisy=run.task.noisy,
        inputs=len(certificates),
        test_inputs=int(inputs.split.test.size),
        base_accuracy=inputs.accuracy(np.equal(inputs.base_label, inputs.labels)),
        smoothed_accuracy=inputs.accuracy(right),
        abstained=int(certificates.abstained.sum()),
        axes={
            str(axis): _along(certificates, str(axis), inputs, right, cap)
            for axis, cap in zip(axes_of(certificates.noise), caps(certificates), strict=True)
        },
        any_change=_any_change(certificates, inputs, right),
        training_epochs=training.epochs,
        training_seconds=training.seconds,
        voting_seconds=votes.seconds,
        samples_per_second=votes.drawn / votes.seconds if votes.seconds else 0.0,
    )


def _along(certificates: Certificates, axis: str, inputs: Inputs, right: BoolArray, cap: int) -> AxisSummary:
    largest = certificates.max_radius(axis)
    radii = _few(int(largest.max(initial=0)))
    certified = [certificates.certified(_radii(axis, radius)) for radius in radii]
    uncapped = mean_radius(certificates.uncapped_radius(axis))
    return _axis_summary(largest, uncapped, cap, radii, certified, inputs, right)


def _any_change(certificates: Certificates, inputs: Inputs, right: BoolArray) -> AxisSummary | None:
    largest = any_radii(certificates)
    if largest is None:
        return None
    radii = _few(int(largest.max(initial=0)))
    certified = [withstands_any(certificates, largest, radius) for radius in radii]
    return _axis_summary(largest, None, UNBOUNDED, radii, certified, inputs, right)


def _axis_summary(
    largest: IntArray,
    uncapped: float | None,
    cap: int,
    radii: list[int],
    certified: list[BoolArray],
    inputs: Inputs,
    right: BoolArray,
) -> AxisSummary:
    test = inputs.split.test
    return AxisSummary(
        mean=mean_radius(largest),
        mean_test=mean_radius(largest[test]) if test.size else None,
        uncapped_mean=uncapped,
        largest=int(largest.max(initial=0)),
        cap=cap,
        radii=radii,
        ratio=[float(share.mean()) for share in certified],
        accuracy=[float((share & right)[test].mean()) for share in certified] if test.size else None,
    )


def _few(largest: int) -> list[int]:
    """A few radii from 0 over 1 to the largest, or to a large one if that is very far away."""
    few = np.linspace(0, min(largest, _FAR), _FEW + 1).round().astype(int).tolist()
    return sorted({1, *few})


def _radii(axis: str, count: int) -> Any:
    part, _, kind = axis.rpartition(".")
    radii = Radii(**{kind: count})
    return {part: radii} if part else radii
