"""`flipproof compare`: one table over all certificates that apply to a setting."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

import typer

from flipproof.base.values import checked_count
from flipproof.cli.command_options import TermsOptions
from flipproof.cli.output import interruptible
from flipproof.cli.run_options import MachineOptions, OutputOptions
from flipproof.cli.task_options import TaskOptions
from flipproof.cli.values import machine_of, task_of
from flipproof.comparison.compare import compare as compared
from flipproof.comparison.comparison import Comparison, Entry
from flipproof.comparison.setting import Terms
from flipproof.errors import InvalidInputError
from flipproof.pipeline.steps import Samples
from flipproof.report.figures.compared import write_comparison
from flipproof.report.shares import share_words

_SHOWN = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)


def _terms(flags: TermsOptions) -> Terms:
    """The terms that the flags ask for."""
    nodes = Terms().nodes if flags.nodes is None else checked_count(flags.nodes, "--nodes") or None
    also = tuple(map(_pair, flags.also or ()))
    return Terms(nodes, flags.largest_radius, flags.even_noise, flags.kept_share, also, flags.alpha, flags.rule)


def _pair(words: str) -> tuple[float, float]:
    try:
        p_plus, p_minus = map(float, words.split(","))
    except ValueError:
        raise InvalidInputError(f"expected --also P_PLUS,P_MINUS, such as 0.01,0.6, got {words!r}") from None
    return p_plus, p_minus


def compare(
    task_flags: TaskOptions, terms_flags: TermsOptions, machine_flags: MachineOptions, output_flags: OutputOptions
) -> None:
    """Certifies the same predictions with every system that applies, and shows them in one table."""
    if task_flags.weights is not None:
        raise InvalidInputError("every system trains its own model; leave out --weights")
    task = task_of(task_flags)
    if terms_flags.nodes is not None and task.kind != "nodes":
        raise InvalidInputError(f"--nodes does not apply to {task.kind}; use --inputs")
    terms, samples = _terms(terms_flags), Samples(terms_flags.select_samples, terms_flags.samples)
    with interruptible("run the same command again to continue with this system"):
        machine = machine_of(machine_flags)
        comparison = compared(task_flags.out, task, terms_flags.system, terms, samples, machine, _print_progress)
    rows = list(comparison.rows(list(range(terms.largest_radius + 1))))
    facts = {"task": task.to_record(), "terms": asdict(terms), "samples": asdict(samples)}
    entries = [entry.to_record() for entry in comparison.entries]
    inputs = {"inputs": comparison.inputs.tolist(), "labels": comparison.labels.tolist()}
    written = write_comparison(task_flags.out, rows, {**facts, **inputs, "entries": entries})
    if output_flags.as_json:
        typer.echo(json.dumps(facts | {"rows": rows}))
        return
    typer.echo(f"setting   {task_flags.dataset}, noise on {task.noisy}, seed {task.seed}")
    typer.echo(f"compared  on {comparison.inputs.size:,} test {task.kind}")
    typer.echo(
        f"votes     {samples.n_select:,} samples to select labels, {samples.n_estimate:,} to bound probabilities"
    )
    typer.echo(f"promise   of proofs from samples: wrong with probability at most {terms.alpha:g}, for each of them")
    for attacker in comparison.attackers:
        _print(comparison, attacker, terms.largest_radius)
    _print_promises(comparison)
    typer.echo(f"\nwrote     {', '.join(path.name for path in written)} in {task_flags.out}")


def _print_progress(system: str, done: int, of: int) -> None:
    """Tells a terminal which system is running; training and voting have progress lines of their own."""
    if sys.stderr is not None and sys.stderr.isatty():
        typer.echo(f"{done + 1} of {of}: {system}", err=True)


def _print(comparison: Comparison, attacker: str, most: int) -> None:
    radii = [radius for radius in _SHOWN if radius <= most]

    what = "changes of any kind" if attacker == "any" else f"changes of kind {attacker}"
    entries = comparison.against(attacker)
    if not any(entry.proofs.certified(1).any() for entry in entries):
        typer.echo(f"\nNothing is proved against an attacker who makes {what}.")
        return
    typer.echo(f"\nShare certified against any attacker who makes at most r {what}:\n")
    lines = [("system", "classifier", "accuracy", f"mean r<={most}", *(f"r={radius}" for radius in radii))]
    for entry in entries:
        shares = [share_words(comparison.certified_ratio(entry, attacker, radius)) for radius in radii]
        mean = f"{comparison.mean_radius(entry, attacker, most):.2f}"
        name = entry.system + "*" * bool(entry.spared)
        lines.append((name, _classifier(entry), share_words(comparison.accuracy(entry)), mean, *shares))
    _print_columns(lines)
    for entry in entries:
        if entry.spared:
            typer.echo(f"* {entry.system}: only against attackers who leave {entry.spared} alone")


def _print_columns(lines: Sequence[Sequence[str]]) -> None:
    """Columns as wide as they must be; names to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        names = (f"{cell:<{width}}" for cell, width in zip(line[:2], widths[:2], strict=True))
        numbers = (f"{cell:>{width}}" for cell, width in zip(line[2:], widths[2:], strict=True))
        typer.echo("  ".join((*names, *numbers)))


def _classifier(entry: Entry) -> str:
    return entry.model if entry.noise == "none" else f"{entry.model} {entry.noise}"


def _print_promises(comparison: Comparison) -> None:
    """For each system: who published it, which classifier it certifies, and against which changes."""
    typer.echo("")
    threats: dict[str, list[str]] = {}
    for entry in comparison.entries:
        threats.setdefault(entry.system, []).append(entry.proofs.promise.threat)
    for entry in {entry.system: entry for entry in comparison.entries}.values():
        promise, kinds = entry.proofs.promise, dict.fromkeys(threats[entry.system])
        threat = promise.threat if entry.attacker == "any" or len(kinds) == 1 else "r changes, all of one kind"
        words = f"{promise.system}, {promise.subject.value}: {threat}; {promise.rule}"
        typer.echo(f"{entry.system:<28}{words}")
