"""What a run came to, as people read it."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import typer

from flipproof.report.kind_words import noise_words as noisy_words
from flipproof.report.kind_words import unit_of

if TYPE_CHECKING:
    from flipproof.report.summary import AxisSummary, Summary
    from flipproof.smoothing.certificates import Certificates

_WIDTH = 78
_MANY = 4


def summary_facts(run: Path, certificates: Certificates) -> dict[str, Any]:
    """The summary as JSON values."""
    from flipproof.report.summary import summary_of
    from flipproof.smoothing.run_folder import RunFolder

    return {"task": RunFolder.open(run).record()["task"], "summary": summary_of(run, certificates).to_record()}


def print_summary(run: Path, certificates: Certificates) -> None:
    """Task, accuracies, promise, radii, and certified shares at a few radii."""
    from flipproof.cli.text import noise_words
    from flipproof.report.any_changes import is_even
    from flipproof.report.summary import summary_of

    summary, votes = summary_of(run, certificates), certificates.votes
    data, units = summary.data, f"{unit_of(summary.kind)}s"
    trained = training_words(summary.training_epochs, summary.training_seconds)
    where = noisy_words(summary.noisy)
    noise, *others = noise_words(certificates.noise).split("; ")  # of a joint noise one part per line
    engine = votes.run.engine if votes.run else None
    speed = f"{summary.samples_per_second:,.0f} samples/s" + (f", {engine} engine" if engine else "")
    promise = f"for all {units} at once" if certificates.simultaneous else f"for each {unit_of(summary.kind)}"
    for name, words in (
        ("data", f"{data.name}: {data.words}"),
        ("model", f"{summary.model}, {trained}"),
        ("noise", f"{where}; {noise}"),
        *(("", each) for each in others),
        ("votes", f"{votes.n_select:,} samples to select labels, {votes.n_estimate:,} to bound probabilities"),
        ("time", f"{duration(summary.voting_seconds)} for votes, {speed}"),
        ("promise", f"wrong with probability at most {certificates.alpha:g}, {promise}; {certificates.rule} rule"),
        ("accuracy", f"base {summary.base_accuracy:.3f}, smoothed {summary.smoothed_accuracy:.3f}"
                     f" on {summary.test_inputs:,} test {units}"),
        ("abstained", f"{summary.abstained:,} of {summary.inputs:,} {units}"),
    ):  # fmt: skip
        typer.echo(f"{name:<10}{words}")
    axes = dict(summary.axes)
    if summary.any_change is not None:
        axes["any change"] = summary.any_change
    for axis, along in axes.items():
        typer.echo(f"{'radius':<10}{axis}: {_radius_words(along, summary.inputs > summary.test_inputs)}")
    if summary.any_change is not None and (is_even(certificates.noise) or len(summary.axes) > _MANY):
        axes = {"any change": summary.any_change}  # the others look alike, or are many: the report has them
    for name, line in zip_longest(("example",), wrap(_example(run, summary, certificates), _WIDTH), fillvalue=""):
        typer.echo(f"{name:<10}{line}".rstrip())
    typer.echo("\nCertified against any attacker who does at most so many of these, anywhere in the input:")
    for axis, along in axes.items():
        _print_axis(axis, along, units)


def _example(run: Path, summary: Summary, certificates: Certificates) -> str:
    """What is proved about an input in the middle: half of those that are certified are surer, half are less."""
    from flipproof.report.run_section import run_subject
    from flipproof.report.words import plain_words
    from flipproof.smoothing.run_folder import RunFolder

    certified = [i for i in certificates.p_lower.argsort().tolist() if not certificates.abstained[i]]
    if not certified:
        return "none: nothing is certified"
    number = certified[len(certified) // 2]
    subject = run_subject(RunFolder.open(run), certificates)
    return f"{unit_of(summary.kind)} {number}: {plain_words(certificates, number, subject)}"


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
    from flipproof.cli.text import radius_words

    means = ""
    if along.mean is not None and along.mean_test is not None:
        test = f" (test {along.mean_test:.2f})" if with_test else ""
        means = f"mean {along.mean:.2f}{test}, "
    capped = " (all the samples allow)" if along.largest == along.cap else ""
    return f"{means}largest {radius_words(along.largest)}{capped}"


def _print_axis(axis: str, along: AxisSummary, units: str) -> None:
    from flipproof.report.words import share_words

    lines = (
        (axis, [str(radius) for radius in along.radii]),
        (f"  share of all {units}", [share_words(share) for share in along.ratio]),
        (f"  test {units}, and right", [share_words(share) for share in along.accuracy]),
    )
    typer.echo("")
    for name, cells in lines:
        typer.echo(f"{name:<26}" + "".join(f"{cell:>8}" for cell in cells))
