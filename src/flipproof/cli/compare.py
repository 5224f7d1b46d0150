"""`flipproof compare`: one table over all certificates that apply to a setting."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from flipproof.cli.option_groups import takes
from flipproof.cli.run_options import MachineOptions, OutputOptions
from flipproof.cli.task_options import TaskOptions
from flipproof.cli.train import interruptible

if TYPE_CHECKING:
    from flipproof.comparison.comparison import Comparison, Entry
    from flipproof.comparison.setting import Terms
    from flipproof.pipeline.machine import Samples

_TERMS = "Comparison"
_SHOWN = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)


@dataclass(frozen=True, slots=True)
class TermsOptions:
    """On which terms systems are compared."""

    system: Annotated[
        list[str] | None,
        typer.Option(help="Only this system; may be given several times.", rich_help_panel=_TERMS, show_default=False),
    ] = None
    nodes: Annotated[
        int | None,
        typer.Option(help="Compare on so many test nodes, at random; 0: all; by default 50.", rich_help_panel=_TERMS),
    ] = None
    largest_radius: Annotated[int, typer.Option(help="Of the table and the figure.", rich_help_panel=_TERMS)] = 10
    even_noise: Annotated[
        float | None,
        typer.Option(
            help="Flip probability for lee, which treats zeros and ones alike; by default one that suits the data.",
            rich_help_panel=_TERMS,
        ),
    ] = None
    kept_share: Annotated[
        float, typer.Option(help="Share of entries that ablation leaves to be seen.", rich_help_panel=_TERMS)
    ] = 0.2
    also: Annotated[
        list[str] | None,
        typer.Option(
            metavar="P_PLUS,P_MINUS",
            help="Another noise for flipproof; may be given several times.",
            rich_help_panel=_TERMS,
            show_default=False,
        ),
    ] = None
    samples: Annotated[int, typer.Option(help="Samples that bound each probability.", rich_help_panel=_TERMS)] = 10_000
    select_samples: Annotated[int, typer.Option(help="Samples that choose the label.", rich_help_panel=_TERMS)] = 1_000
    alpha: Annotated[
        float, typer.Option(help="Probability that a proof from samples is wrong.", rich_help_panel=_TERMS)
    ] = 0.01
    rule: Annotated[str, typer.Option(help='"multi-class" or "two-class".', rich_help_panel=_TERMS)] = "multi-class"

    def terms(self) -> Terms:
        """The value that the flags stand for."""
        from flipproof.base.arguments import checked_count
        from flipproof.comparison.setting import Terms

        nodes = Terms().nodes if self.nodes is None else checked_count(self.nodes, "--nodes") or None
        also = tuple(map(_pair, self.also or ()))
        return Terms(nodes, self.largest_radius, self.even_noise, self.kept_share, also, self.alpha, self.rule)

    def counts(self) -> Samples:
        """The samples that the flags stand for."""
        from flipproof.pipeline.machine import Samples

        return Samples(self.select_samples, self.samples)


def _pair(words: str) -> tuple[float, float]:
    from flipproof.errors import InvalidInputError

    try:
        p_plus, p_minus = map(float, words.split(","))
    except ValueError:
        raise InvalidInputError(f"expected --also P_PLUS,P_MINUS, such as 0.01,0.6, got {words!r}") from None
    return p_plus, p_minus


@takes(TaskOptions, TermsOptions, MachineOptions, OutputOptions)
def compare(asked: TaskOptions, on: TermsOptions, machine: MachineOptions, output: OutputOptions) -> None:
    """Prove the same predictions by every system that applies: a table, a figure, rows. What is done is kept."""
    from flipproof.comparison.compare import compare as compared
    from flipproof.errors import InvalidInputError
    from flipproof.report.figures.compared import write_comparison

    if asked.weights is not None:
        raise InvalidInputError("expected every system to train its own model, got --weights")
    if on.nodes is not None and asked.task().kind != "nodes":
        raise InvalidInputError(f"expected --inputs for {asked.task().kind}, got --nodes")
    task, terms, samples = asked.task(), on.terms(), on.counts()
    with interruptible("the same command goes on with the system that it stopped at"):
        comparison = compared(asked.out, task, on.system, terms, samples, machine.machine(), _tell)
    rows = list(comparison.rows(list(range(terms.largest_radius + 1))))
    facts = {"task": task.to_record(), "terms": asdict(terms), "samples": asdict(samples)}
    entries = [entry.to_record() for entry in comparison.entries]
    inputs = {"inputs": comparison.inputs.tolist(), "labels": comparison.labels.tolist()}
    written = write_comparison(asked.out, rows, {**facts, **inputs, "entries": entries})
    if output.as_json:
        typer.echo(json.dumps(facts | {"rows": rows}))
        return
    typer.echo(f"setting   {asked.dataset}, noise on {task.noisy}, seed {task.seed}")
    typer.echo(f"compared  on {comparison.inputs.size:,} test {task.kind}")
    typer.echo(
        f"votes     {samples.n_select:,} samples to select labels, {samples.n_estimate:,} to bound probabilities"
    )
    typer.echo(f"promise   of proofs from samples: wrong with probability at most {terms.alpha:g}, for each of them")
    for attacker in comparison.attackers:
        _print(comparison, attacker, terms.largest_radius)
    _print_promises(comparison)
    typer.echo(f"\nwrote     {', '.join(path.name for path in written)} in {asked.out}")


def _tell(system: str, done: int, of: int) -> None:
    """Says in a terminal which system is at work; its training and votes have lines of their own."""
    if sys.stderr is not None and sys.stderr.isatty():
        typer.echo(f"{done + 1} of {of}: {system}", err=True)


def _print(comparison: Comparison, attacker: str, most: int) -> None:
    from flipproof.report.words.promises import share_words

    radii = [radius for radius in _SHOWN if radius <= most]

    what = "changes of any kind" if attacker == "any" else f"changes of kind {attacker}"
    found = comparison.against(attacker)
    if not any(entry.proofs.certified(1).any() for entry in found):
        typer.echo(f"\nNothing is proved against an attacker who makes {what}.")
        return
    typer.echo(f"\nShare certified against any attacker who makes at most r {what}:\n")
    lines = [("system", "classifier", "accuracy", f"mean r<={most}", *(f"r={radius}" for radius in radii))]
    for entry in found:
        shares = [share_words(comparison.certified_ratio(entry, attacker, radius)) for radius in radii]
        mean = f"{comparison.mean_radius(entry, attacker, most):.2f}"
        name = entry.system + "*" * bool(entry.spared)
        lines.append((name, _classifier(entry), share_words(comparison.accuracy(entry)), mean, *shares))
    _print_columns(lines)
    for entry in found:
        if entry.spared:
            typer.echo(f"* {entry.system}: only against those who leave alone {entry.spared}")


def _print_columns(lines: Sequence[Sequence[str]]) -> None:
    """Names to the left, numbers to the right, each column as wide as it must be."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        names = (f"{cell:<{width}}" for cell, width in zip(line[:2], widths[:2], strict=True))
        numbers = (f"{cell:>{width}}" for cell, width in zip(line[2:], widths[2:], strict=True))
        typer.echo("  ".join((*names, *numbers)))


def _classifier(entry: Entry) -> str:
    return entry.model if entry.noise == "none" else f"{entry.model} {entry.noise}"


def _print_promises(comparison: Comparison) -> None:
    """Who published each system, whose prediction it proves, and what it promises at most."""
    typer.echo("")
    threats: dict[str, list[str]] = {}
    for entry in comparison.entries:
        threats.setdefault(entry.system, []).append(entry.proofs.promise.threat)
    for entry in {entry.system: entry for entry in comparison.entries}.values():
        promise, kinds = entry.proofs.promise, dict.fromkeys(threats[entry.system])
        threat = promise.threat if entry.against == "any" or len(kinds) == 1 else "r changes, all of one kind"
        words = f"{promise.system}, {promise.subject.value}: {threat}; {promise.rule}"
        typer.echo(f"{entry.system:<28}{words}")
