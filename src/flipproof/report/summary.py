"""The summary of a run: accuracies, certified shares, radii, abstentions and times, as a value and as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain, zip_longest
from textwrap import wrap
from typing import Any

import numpy as np

from flipproof.base.values import BoolArray, IntArray
from flipproof.errors import one_line
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.section import BlindClassifier, blind_of, described_run
from flipproof.report.shares import duration, known_share, mean_radius, radius_words, share_words
from flipproof.report.words.promises import plain_words
from flipproof.report.words.verdict import ClassResult, cautions, class_results, headline, majority, withstanding
from flipproof.run_folder.data_record import DataRecord
from flipproof.run_folder.finished_run import FinishedRun
from flipproof.run_folder.split import NOT_REPORTED
from flipproof.smoothing.certificates import Certificates
from flipproof.theory.radii import UNBOUNDED

_FEW = 6
"""How many radii the shares are shown at, beside 0 and 1."""
_FAR = 60
"""The largest of these radii."""
_WIDTH = 78
"""Letters in a line of text, beside its title."""
_MOST_CLASSES = 12


@dataclass(frozen=True, slots=True)
class AxisSummary:
    """Certificates against one kind of change.

    Attributes:
        mean: the mean radius of all inputs, each at most what the input can suffer; None if some are unbounded or
            only known to be large.
        mean_test: the mean radius of the test inputs; None likewise, or without test inputs.
        uncapped_mean: the mean radius whatever the inputs can suffer, as publications give it; None likewise.
        largest: the largest radius of all inputs.
        cap: the largest radius that the number of samples can certify.
        radii: a few numbers of changes.
        ratio: for each of them, the share of all inputs that are certified.
        accuracy: for each of them, the share of test inputs that are certified and right; None without test inputs.
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
    """The main numbers of a run.

    Accuracies are shares of test inputs, and an abstention counts as wrong. They are None if the weights were trained
    elsewhere, so that nobody knows which inputs are for testing. `any_change` counts changes of all kinds together; it
    is None if separate radii for additions and deletions say more.

    Attributes:
        headline: a sentence: how many inputs withstand any one change.
        withstand: the number of inputs, for each kind of change in the headline.
        cautions: sentences that a reader of the shares must know; usually there are none.
        blind: a classifier that ignores the noisy part, with its accuracy; None without labels.
        by_class: results for the test inputs of each class.
    """

    headline: str
    withstand: dict[str, int]
    cautions: list[str]
    blind: BlindClassifier | None
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
        """The summary as JSON values."""
        record = {**asdict(self), "data": self.data.to_record()}
        anything = [record["any_change"]] if record["any_change"] else []
        for along in (*record["axes"].values(), *anything):
            along.update({name: "unbounded" for name in ("largest", "cap") if along[name] == UNBOUNDED})
        return record


def summary_of(run: FinishedRun) -> Summary:
    """Sums up a finished run."""
    return _summary(run, CertifiedInputs(run.certificates, described_run(run)))


def summary_record(run: FinishedRun) -> dict[str, Any]:
    """The task and the summary of a run as JSON values."""
    return {"task": dict(run.task_record), "summary": summary_of(run).to_record()}


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
    """A few radii: 0, 1 and more up to the largest, or up to `_FAR` if that is smaller."""
    few = np.linspace(0, min(largest, _FAR), _FEW + 1).round().astype(int).tolist()
    return sorted({1, *few})


def summary_lines(run: FinishedRun) -> list[str]:
    """The summary for a terminal: headline, facts, radii, an example, results by class, and shares at a few radii."""
    certified = CertifiedInputs(run.certificates, described_run(run))
    summary, units = _summary(run, certified), certified.described.units
    axes = _shown_axes(summary)
    has_others = summary.inputs > summary.test_inputs > 0
    return [
        *wrapped("robust", summary.headline),
        *chain.from_iterable(wrapped("caution", sentence) for sentence in summary.cautions),
        *(f"{name:<10}{words}" for name, words in _facts(run, summary, certified)),
        *(f"{'radius':<10}{axis}: {_radius_line(along, has_others)}" for axis, along in axes.items()),
        *wrapped("example", example(certified)),
        *_class_lines(summary, units),
        "",
        "Share certified, by number of changes:",
        *chain.from_iterable(_share_lines(axis, along, units) for axis, along in axes.items()),
    ]


def robustness_lines(certificates: Certificates) -> list[str]:
    """The headline and the cautions of certificates without a run folder, for a terminal."""
    certified = CertifiedInputs(certificates)
    warnings = chain.from_iterable(wrapped("caution", sentence) for sentence in cautions(certified))
    return [*wrapped("robust", headline(certified)), *warnings]


def wrapped(title: str, sentence: str, width: int = _WIDTH) -> list[str]:
    """A sentence beside its title, on as many lines as it takes.

    Example:
        >>> wrapped("robust", "3 of 4 nodes (75 %) withstand any one added edge.")
        ['robust    3 of 4 nodes (75 %) withstand any one added edge.']
    """
    lines = zip_longest((title,), wrap(sentence, width), fillvalue="")
    return [f"{name:<10}{line}".rstrip() for name, line in lines]


def training_words(epochs: int, seconds: float) -> str:
    """How long training took; some models are fitted without epochs, and some were trained elsewhere.

    Example:
        >>> training_words(1, 2.0), training_words(0, 2.0), training_words(0, 0.0)
        ('1 epoch in 2.0 s', 'fitted in 2.0 s', 'trained elsewhere')
    """
    if not seconds:
        return "trained elsewhere"
    how = f"{epochs:,} epoch{'' if epochs == 1 else 's'}" if epochs else "fitted"
    return f"{how} in {duration(seconds)}"


def _facts(run: FinishedRun, summary: Summary, certified: CertifiedInputs) -> Iterator[tuple[str, str]]:
    """Lines with a title; a line that goes on has none."""
    units, data = certified.described.units, summary.data
    trained = training_words(summary.training_epochs, summary.training_seconds)
    noise, *other_parts = certified.noise_words
    speed = f"{summary.samples_per_second:,.0f} samples/s" + (
        f", {certified.engine} engine" if certified.engine else ""
    )
    yield "data", f"{data.name}: {data.words}"
    if data.label_column:
        yield "labels", label_words(data)
    yield "model", f"{summary.model}, {trained}"
    yield "noise", f"{run.words.noise}; {noise}"
    yield from (("", part) for part in other_parts)
    yield "votes", votes_words(certified)
    yield "time", f"{duration(summary.voting_seconds)} for votes, {speed}"
    yield "promise", promise_words(certified)
    yield "accuracy", _accuracy_words(summary, units)
    if summary.blind is not None:
        yield "", f"{summary.blind.accuracy:.3f} by {summary.blind.words}"
    yield "abstained", f"{summary.abstained:,} of {summary.inputs:,} {units}"


def votes_words(certified: CertifiedInputs) -> str:
    """How many samples were drawn, and for what."""
    votes = certified.votes
    return f"{votes.n_select:,} samples to select labels, {votes.n_estimate:,} to bound probabilities"


def promise_words(certified: CertifiedInputs) -> str:
    """The probability that a certificate is wrong, and which certificates it is about."""
    certificates, described = certified.certificates, certified.described
    scope = f"for all {described.units} at once" if certificates.simultaneous else f"for each {described.unit}"
    return f"wrong with probability at most {certificates.budget.alpha:g}, {scope}; {certificates.rule} rule"


def label_words(data: DataRecord) -> str:
    """Which column of a table has the labels and what they are; also what divides its cells, if that is no comma.

    Example:
        >>> label_words(DataRecord("mine", {}, 2, "", "fraud", {"no": 264, "yes": 1136}, ";"))
        "column 'fraud': no (264), yes (1,136); cells are divided by ';'"
    """
    shown = [f"{name} ({count:,})" for name, count in data.class_counts.items()]
    more = f" and {len(shown) - _MOST_CLASSES} more" if len(shown) > _MOST_CLASSES else ""
    cells = f"; cells are divided by {data.separator!r}" if data.separator not in ("", ",") else ""
    return one_line(f"column {data.label_column!r}: {', '.join(shown[:_MOST_CLASSES])}{more}{cells}")


def example(certified: CertifiedInputs) -> str:
    """What is proved about the labelled input with the median lower bound."""
    order = certified.certificates.bounds.p_lower.argsort()
    labelled = order[~certified.abstained[order]]
    if not labelled.size:
        return "none: nothing is certified"
    number = int(labelled[labelled.size // 2])
    return f"{certified.described.unit} {certified.votes.ids[number]}: {plain_words(certified, number)}"


def _accuracy_words(summary: Summary, units: str) -> str:
    if summary.base_accuracy is None or summary.smoothed_accuracy is None:
        return NOT_REPORTED
    accuracies = f"base {summary.base_accuracy:.3f}, smoothed {summary.smoothed_accuracy:.3f}"
    return f"{accuracies} on {summary.test_inputs:,} test {units}"


def _shown_axes(summary: Summary) -> dict[str, AxisSummary]:
    """Only all kinds together if that is what the headline counts: the report has the single kinds."""
    together = {} if summary.any_change is None else {"any change": summary.any_change}
    return together if together and list(summary.withstand) == ["any"] else {**summary.axes, **together}


def _radius_line(along: AxisSummary, has_others: bool) -> str:
    """Mean and largest radius; the mean over test inputs too if other inputs are certified beside them."""
    means = ""
    if along.mean is not None:
        test = f" (test {along.mean_test:.2f})" if has_others and along.mean_test is not None else ""
        means = f"mean {along.mean:.2f}{test}, "
    capped = " (all the samples allow)" if along.largest == along.cap else ""
    return f"{means}largest {radius_words(along.largest)}{capped}"


def _weakest_share(result: ClassResult) -> float:
    """The share certified and right against the worst kind of change; 1 for a class without test inputs."""
    return min((share for share in result.right.values() if share is not None), default=1.0)


def _class_lines(summary: Summary, units: str) -> Iterator[str]:
    """A table of test inputs by class; of many classes, those with the smallest certified share."""
    results = sorted(summary.by_class, key=_weakest_share)[:_MOST_CLASSES]
    if len(results) < 2:
        return
    limited = "" if len(results) == len(summary.by_class) else f", the {len(results)} weakest"
    kinds = [kind.rpartition(".") for kind in summary.withstand]  # of a joint noise the part, on a line of its own
    widths = [max(9, len(part) + 2, len(kind) + 2) for part, _, kind in kinds]
    width = min(26, max(6, *(len(each.name) for each in results)))
    yield ""
    yield f"By class{limited}:"
    yield f"{'':<{width}}{'':>30}  certified and right against any one:"
    if any(part for part, _, _ in kinds):
        yield " " * (width + 30) + "".join(f"{part:>{w}}" for (part, _, _), w in zip(kinds, widths, strict=True))
    header = "".join(f"{kind:>{w}}" for (_, _, kind), w in zip(kinds, widths, strict=True))
    yield f"{'class':<{width}}{units:>9}{'predicted':>11}{'accuracy':>10}{header}"
    for each in results:
        shares = "".join(f"{known_share(share):>{w}}" for share, w in zip(each.right.values(), widths, strict=True))
        name = each.name if len(each.name) <= width else f"{each.name[: width - 1]}…"
        yield f"{name:<{width}}{each.inputs:>9,}{each.predicted:>11,}{known_share(each.accuracy):>10}{shares}"


def _share_lines(axis: str, along: AxisSummary, units: str) -> Iterator[str]:
    """A table for one axis: the shares of inputs that are certified at a few radii."""
    rows = [
        (axis, [str(radius) for radius in along.radii]),
        (f"  share of all {units}", [share_words(share) for share in along.ratio]),
    ]
    if along.accuracy is not None:
        rows.append((f"  test {units}, and right", [share_words(share) for share in along.accuracy]))
    yield ""
    for name, cells in rows:
        yield f"{name:<26}" + "".join(f"{cell:>8}" for cell in cells)
