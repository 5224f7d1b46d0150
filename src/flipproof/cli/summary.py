"""What a run came to, as people read it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from flipproof.report.summary import AxisSummary
    from flipproof.smoothing.certificates import Certificates


def summary_facts(run: Path, certificates: Certificates) -> dict[str, Any]:
    """The summary as JSON values."""
    from flipproof.report.summary import summary_of
    from flipproof.smoothing.run_folder import RunFolder

    return {"task": RunFolder.open(run).record()["task"], "summary": summary_of(run, certificates).to_record()}


def print_summary(run: Path, certificates: Certificates) -> None:
    """Task, accuracies, promise, radii, and certified shares at a few radii."""
    from flipproof.cli.text import noise_words
    from flipproof.report.summary import summary_of

    summary, votes = summary_of(run, certificates), certificates.votes
    data, epochs = summary.data, summary.training_epochs
    trained = f"{epochs:,} epochs in {duration(summary.training_seconds)}" if epochs else "trained elsewhere"
    noise, *others = noise_words(certificates.noise).split("; ")  # of a joint noise one part per line
    speed = f"{summary.samples_per_second:,.0f} samples/s"
    promise = "for all nodes at once" if certificates.simultaneous else "for each node"
    for name, words in (
        ("data", f"{data.name}: {data.nodes:,} nodes, {data.edges:,} edges, {data.features:,} features"),
        ("model", f"{summary.model}, {trained}"),
        ("noise", f"on {summary.noisy}; {noise}"),
        *(("", each) for each in others),
        ("votes", f"{votes.n_select:,} samples to select labels, {votes.n_estimate:,} to bound probabilities"),
        ("time", f"{duration(summary.voting_seconds)} for votes, {speed}"),
        ("promise", f"wrong with probability at most {certificates.alpha:g}, {promise}; {certificates.rule} rule"),
        ("accuracy", f"base {summary.base_accuracy:.3f}, smoothed {summary.smoothed_accuracy:.3f}"
                     f" on {summary.test_inputs:,} test nodes"),
        ("abstained", f"{summary.abstained:,} of {summary.inputs:,} nodes"),
    ):  # fmt: skip
        typer.echo(f"{name:<10}{words}")
    for axis, along in summary.axes.items():
        typer.echo(f"{'radius':<10}{axis}: {_radius_words(along)}")
    typer.echo("\nCertified against any attacker who does at most so many of these, anywhere in the input:")
    for axis, along in summary.axes.items():
        _print_axis(axis, along)


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


def _radius_words(along: AxisSummary) -> str:
    from flipproof.cli.text import radius_words

    means = ""
    if along.mean is not None and along.mean_test is not None:
        means = f"mean {along.mean:.2f} (test {along.mean_test:.2f}), "
    capped = " (all the samples allow)" if along.largest == along.cap else ""
    return f"{means}largest {radius_words(along.largest)}{capped}"


def _print_axis(axis: str, along: AxisSummary) -> None:
    from flipproof.report.words import share_words

    lines = (
        (axis, [str(radius) for radius in along.radii]),
        ("  share of all nodes", [share_words(share) for share in along.ratio]),
        ("  test nodes, and right", [share_words(share) for share in along.accuracy]),
    )
    typer.echo("")
    for name, cells in lines:
        typer.echo(f"{name:<23}" + "".join(f"{cell:>8}" for cell in cells))
