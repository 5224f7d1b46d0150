"""What a run came to, as people read it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from flipproof.experiments.summary import AxisSummary
    from flipproof.smoothing.certificates import Certificates


def summary_facts(run: Path, certificates: Certificates) -> dict[str, Any]:
    """The summary as JSON values."""
    from flipproof.experiments.summary import summary_of
    from flipproof.smoothing.run_folder import RunFolder

    return {"task": RunFolder.open(run).record()["task"], "summary": summary_of(run, certificates).to_record()}


def print_summary(run: Path, certificates: Certificates) -> None:
    """Task, accuracies, promise, radii, and certified shares at a few radii."""
    from flipproof.cli.text import noise_words
    from flipproof.experiments.summary import summary_of
    from flipproof.smoothing.run_folder import RunFolder

    record, summary, votes = RunFolder.open(run).record(), summary_of(run, certificates), certificates.votes
    task, data = record["task"], record["dataset"]
    promise = "for all nodes at once" if certificates.simultaneous else "for each node"
    trained = f"{summary.training_epochs:,} epochs in {duration(summary.training_seconds)}"
    if task["weights"]:
        trained = "trained elsewhere"
    for name, words in (
        ("data", f"{data['name']}: {data['nodes']:,} nodes, {data['edges']:,} edges, {data['features']:,} features"),
        ("model", f"{task['model']['name']}, {trained}"),
        ("noise", f"on {task['noisy']}; {noise_words(certificates.noise)}"),
        ("votes", f"{votes.n_select:,} samples to select labels, {votes.n_estimate:,} to bound probabilities"),
        ("time", f"{duration(summary.voting_seconds)} for votes, {summary.samples_per_second:,.0f} samples/s"),
        ("promise", f"wrong with probability at most {certificates.alpha:g}, {promise}; {certificates.rule} rule"),
        ("accuracy", f"base {summary.base_accuracy:.3f}, smoothed {summary.smoothed_accuracy:.3f}"
                     f" on {summary.test_inputs:,} test nodes"),
        ("abstained", f"{summary.abstained:,} of {summary.inputs:,} nodes"),
    ):  # fmt: skip
        typer.echo(f"{name:<10}{words}")
    for axis, along in summary.axes.items():
        typer.echo(f"{'radius':<10}{axis}: {_radius_words(along)}")
    typer.echo("\nCertified: no attacker who changes so many entries turns the prediction")
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
        means = f"mean {along.mean:.2f} over all nodes, {along.mean_test:.2f} over test nodes, "
    return f"{means}largest {radius_words(along.largest)}"


def _print_axis(axis: str, along: AxisSummary) -> None:
    width = max(22, len(axis) + 2)
    lines = (
        (axis, [str(radius) for radius in along.radii]),
        ("  share of all nodes", [f"{share:.3f}" for share in along.ratio]),
        ("  and right, of test", [f"{share:.3f}" for share in along.accuracy]),
    )
    typer.echo("")
    for name, cells in lines:
        typer.echo(f"{name:<{width}}" + "".join(f"{cell:>8}" for cell in cells))
