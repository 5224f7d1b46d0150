"""`flipproof reproduce`: the experiments of the paper, measured beside its published numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flipproof.cli.option_groups import takes
from flipproof.cli.run_options import MachineOptions
from flipproof.cli.train import interruptible

if TYPE_CHECKING:
    from flipproof.experiments.paper.reproduce import Ahead
    from flipproof.experiments.paper.trial import Row


@dataclass(frozen=True, slots=True)
class ReproduceOptions:
    """How much work, and where it goes."""

    scale: Annotated[
        str, typer.Option(help='"quick": minutes; "standard": an hour or more; "paper": as many samples as there.')
    ] = "quick"
    seeds: Annotated[
        int | None, typer.Option(help="How many splits and trained models; by default as the scale says.")
    ] = None
    out: Annotated[Path, typer.Option(help="Where rows, figures and runs go.")] = Path("flipproof-paper")


@takes(ReproduceOptions, MachineOptions)
def reproduce(
    what: Annotated[
        list[str], typer.Argument(help="Experiments, such as table-1; all: every one of them.", show_default=False)
    ],
    asked: ReproduceOptions,
    machine: MachineOptions,
) -> None:
    """Run experiments of the paper and show what comes out beside the published numbers. What is done is kept."""
    from flipproof.errors import InvalidInputError
    from flipproof.experiments.paper.reproduce import reproduce as reproduced
    from flipproof.experiments.paper.reproduce import studies_named
    from flipproof.experiments.paper.scale import scale_named
    from flipproof.report.paper_figures import save_figure

    studies, scale = studies_named(what), scale_named(asked.scale)
    count = scale.seeds if asked.seeds is None else asked.seeds
    if count < 1:
        raise InvalidInputError(f"expected at least one of the seeds, got {count}")
    out = asked.out / scale.name
    with interruptible():
        found = reproduced(studies, out, scale, tuple(range(count)), machine.machine(), _teller())
    for study in studies:
        typer.echo(f"\n{study.name}: {study.title}\n")
        _print(found[study.name])
        files = save_figure(study.name, found[study.name], out / study.name)
        typer.echo(f"wrote {', '.join(file.name for file in files)} and {study.name}.json, .csv in {out}")


def _teller() -> Callable[[Ahead], None]:
    """A line on standard error for every run, if that is a terminal."""
    from flipproof.cli.summary import duration

    if sys.stderr is None or not sys.stderr.isatty():
        return lambda ahead: None

    def tell(ahead: Ahead) -> None:
        left = "" if ahead.seconds_left is None else f", about {duration(ahead.seconds_left)} left"
        typer.echo(f"{ahead.done + 1} of {ahead.of}{left}: {ahead.words}", err=True)

    return tell


def _print(rows: list[Row]) -> None:
    """What has a published number, beside it; and accuracies and mean radii, averaged over seeds."""
    from flipproof.report.paper_tables import summary_lines

    for line in summary_lines(rows):
        typer.echo(line)
