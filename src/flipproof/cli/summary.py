"""What a run came to, as people read it."""

from __future__ import annotations

from itertools import zip_longest
from textwrap import wrap
from typing import Any

import typer

from flipproof.cli.output import radius_words
from flipproof.report.by_class import ClassResult
from flipproof.report.summary import AxisSummary, Summary, summary_of, told_summary
from flipproof.report.words.promises import known_share, share_words
from flipproof.run_folder.finished_run import FinishedRun
from flipproof.run_folder.records import NOT_REPORTED

_WIDTH = 78
_MOST_CLASSES = 12


def summary_facts(run: FinishedRun) -> dict[str, Any]:
    """The summary as JSON values."""
    return {"task": dict(run.task_record), "summary": summary_of(run).to_record()}


def print_summary(run: FinishedRun) -> None:
    """The answer first; then task, accuracies, promise, radii, results by class, and shares at a few radii."""
    (summary, told), certificates, unit = told_summary(run), run.certificates, run.words.unit
    votes, data, units = certificates.votes, summary.data, f"{unit}s"
    trained = training_words(summary.training_epochs, summary.training_seconds)
    noise, *others = told.noise  # of a joint noise one part per line
    speed = f"{summary.samples_per_second:,.0f} samples/s" + (f", {told.engine} engine" if told.engine else "")
    alpha, rule = certificates.budget.alpha, certificates.rule
    promise = f"for all {units} at once" if certificates.simultaneous else f"for each {unit}"
    print_wrapped("robust", summary.headline)
    for sentence in summary.cautions:
        print_wrapped("caution", sentence)
    blind = [("", f"{summary.blind.accuracy:.3f} by {summary.blind.words}")] if summary.blind else []
    for name, words in (
        ("data", f"{data.name}: {data.words}"),
        ("model", f"{summary.model}, {trained}"),
        ("noise", f"{run.words.noise}; {noise}"),
        *(("", each) for each in others),
        ("votes", f"{votes.n_select:,} samples to select labels, {votes.n_estimate:,} to bound probabilities"),
        ("time", f"{duration(summary.voting_seconds)} for votes, {speed}"),
        ("promise", f"wrong with probability at most {alpha:g}, {promise}; {rule} rule"),
        ("accuracy", _accuracy_words(summary, units)),
        *blind,
        ("abstained", f"{summary.abstained:,} of {summary.inputs:,} {units}"),
    ):  # fmt: skip
        typer.echo(f"{name:<10}{words}")
    axes = _shown_axes(summary)
    for axis, along in axes.items():
        typer.echo(f"{'radius':<10}{axis}: {_radius_words(along, summary.inputs > summary.test_inputs > 0)}")
    print_wrapped("example", told.example)
    _print_classes(summary, units)
    typer.echo("\nShare certified, by number of changes:")
    for axis, along in axes.items():
        _print_axis(axis, along, units)


def _accuracy_words(summary: Summary, units: str) -> str:
    if summary.base_accuracy is None or summary.smoothed_accuracy is None:
        return NOT_REPORTED
    accuracies = f"base {summary.base_accuracy:.3f}, smoothed {summary.smoothed_accuracy:.3f}"
    return f"{accuracies} on {summary.test_inputs:,} test {units}"


def _shown_axes(summary: Summary) -> dict[str, AxisSummary]:
    """All kinds together if the headline speaks of them: the others look alike or are many, and the report has them."""
    together = {} if summary.any_change is None else {"any change": summary.any_change}
    return together if together and list(summary.withstand) == ["any"] else {**summary.axes, **together}


def print_wrapped(title: str, words: str) -> None:
    """A sentence beside its title, on as many lines as it takes."""
    for name, line in zip_longest((title,), wrap(words, _WIDTH), fillvalue=""):
        typer.echo(f"{name:<10}{line}".rstrip())


def _weakness(result: ClassResult) -> float:
    """What is proved of a class against its worst kind of change; of a class without inputs, nothing is weak."""
    return min((share for share in result.right.values() if share is not None), default=1.0)


def _print_classes(summary: Summary, units: str) -> None:
    """Test inputs class by class; of many classes, those of which least is proved."""
    results = sorted(summary.by_class, key=_weakness)[:_MOST_CLASSES]
    if len(results) < 2:
        return
    few = "" if len(results) == len(summary.by_class) else f", the {len(results)} weakest"
    typer.echo(f"\nBy class{few}:")
    kinds = [kind.rpartition(".") for kind in summary.withstand]  # of a joint noise the part, on a line of its own
    widths = [max(9, len(part) + 2, len(kind) + 2) for part, _, kind in kinds]
    width = min(26, max(6, *(len(each.name) for each in results)))
    typer.echo(f"{'':<{width}}{'':>30}  certified and right against any one:")
    if any(part for part, _, _ in kinds):
        typer.echo(" " * (width + 30) + "".join(f"{part:>{w}}" for (part, _, _), w in zip(kinds, widths, strict=True)))
    header = "".join(f"{kind:>{w}}" for (_, _, kind), w in zip(kinds, widths, strict=True))
    typer.echo(f"{'class':<{width}}{units:>9}{'predicted':>11}{'accuracy':>10}{header}")
    for each in results:
        shares = "".join(f"{known_share(share):>{w}}" for share, w in zip(each.right.values(), widths, strict=True))
        name = each.name if len(each.name) <= width else f"{each.name[: width - 1]}…"
        typer.echo(f"{name:<{width}}{each.inputs:>9,}{each.predicted:>11,}{known_share(each.accuracy):>10}{shares}")


def duration(seconds: float) -> str:
    """A time as a person would say it.

    Example:
        >>> duration(4.26), duration(200), duration(7260)
        ('4.3 s', '3 min 20 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def training_words(epochs: int, seconds: float) -> str:
    """How long training took; some models are fitted in one go, and some come from elsewhere.

    Example:
        >>> training_words(1, 2.0), training_words(0, 2.0), training_words(0, 0.0)
        ('1 epoch in 2.0 s', 'fitted in 2.0 s', 'trained elsewhere')
    """
    if not seconds:
        return "trained elsewhere"
    how = f"{epochs:,} epoch{'' if epochs == 1 else 's'}" if epochs else "fitted"
    return f"{how} in {duration(seconds)}"


def _radius_words(along: AxisSummary, with_test: bool) -> str:
    """The mean over test inputs is said if there are others."""
    means = ""
    if along.mean is not None:
        test = f" (test {along.mean_test:.2f})" if with_test and along.mean_test is not None else ""
        means = f"mean {along.mean:.2f}{test}, "
    capped = " (all the samples allow)" if along.largest == along.cap else ""
    return f"{means}largest {radius_words(along.largest)}{capped}"


def _print_axis(axis: str, along: AxisSummary, units: str) -> None:
    lines = [
        (axis, [str(radius) for radius in along.radii]),
        (f"  share of all {units}", [share_words(share) for share in along.ratio]),
    ]
    if along.accuracy is not None:
        lines.append((f"  test {units}, and right", [share_words(share) for share in along.accuracy]))
    typer.echo("")
    for name, cells in lines:
        typer.echo(f"{name:<26}" + "".join(f"{cell:>8}" for cell in cells))
