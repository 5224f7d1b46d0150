"""`flipproof reproduce`: the experiments of the paper, measured beside its published numbers."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flipproof.cli.option_groups import takes
from flipproof.cli.run_options import MachineOptions
from flipproof.cli.train import interruptible

if TYPE_CHECKING:
    from flipproof.reproduction.findings import Findings
    from flipproof.reproduction.reproduce import Ahead
    from flipproof.reproduction.workshop import Study


@dataclass(frozen=True, slots=True)
class ReproduceOptions:
    """How much work, and where it goes."""

    scale: Annotated[
        str, typer.Option(help='"quick": minutes; "standard": about two hours; "paper": as many samples as there.')
    ] = "quick"
    seeds: Annotated[
        int | None, typer.Option(help="How many splits and models where spreads matter; by default as the scale says.")
    ] = None
    out: Annotated[Path, typer.Option(help="Where rows, figures and runs go, in a folder for each scale.")] = Path(
        "flipproof-paper"
    )
    page: Annotated[
        Path | None, typer.Option(help="Where the page of all rows goes; by default page.md beside them.")
    ] = None


@takes(ReproduceOptions, MachineOptions)
def reproduce(
    what: Annotated[
        list[str],
        typer.Argument(
            help="Experiments by name, or all: table-1, table-2, heatmap, tradeoffs, models-attributes, "
            "models-structure, models-deletion, joint, joint-pairs, pubmed, mnist, mutag, training, clean-accuracy, "
            "rules, compare-gcn, compare-ppnp, efficiency. Without any, figures and page are made again from the rows "
            "that are there.",
            default_factory=list,
            show_default=False,
        ),
    ],
    asked: ReproduceOptions,
    machine: MachineOptions,
) -> None:
    """Run experiments of the paper and show what comes out beside the published numbers. What is done is kept."""
    from flipproof.errors import InvalidInputError
    from flipproof.reproduction.pages.page import write_page
    from flipproof.reproduction.scale import scale_named
    from flipproof.reproduction.studies.registry import studies_named

    studies, scale = studies_named(what), scale_named(asked.scale)
    out = asked.out / scale.name
    if asked.page is not None and not asked.page.parent.is_dir():
        raise InvalidInputError(f"expected a folder for the page, got {asked.page.parent}, which is not there")
    if studies:
        _run(studies, asked, machine)
    else:
        _draw_again(out)
    page = write_page(out, asked.page or out / "page.md")
    typer.echo(f"\nwrote     rows, figures and {page}")


def _run(studies: list[Study], asked: ReproduceOptions, machine: MachineOptions) -> None:
    from flipproof.errors import InvalidInputError
    from flipproof.reproduction.pages.figures import save_figure
    from flipproof.reproduction.pages.rows import write_rows
    from flipproof.reproduction.pages.tables import summary_lines
    from flipproof.reproduction.reproduce import reproduce as reproduced
    from flipproof.reproduction.scale import scale_named

    scale = scale_named(asked.scale)
    count = scale.seeds if asked.seeds is None else asked.seeds
    if count < 1:
        raise InvalidInputError(f"expected at least one of the seeds, got {count}")
    out = asked.out / scale.name

    def keep(found: Findings) -> None:
        base, study = out / found.lab.study.name, found.lab.study
        write_rows(base, found.record())
        save_figure(study.name, found.rows, base)
        typer.echo(f"\n{study.name}: {study.title}\n")
        for line in summary_lines(found.rows):
            typer.echo(line)

    with interruptible("the same command goes on where it stopped"):
        reproduced(studies, out / "work", scale, tuple(range(count)), machine.machine(), keep, _tell)


def _draw_again(out: Path) -> None:
    from flipproof.reproduction.pages.figures import save_figure
    from flipproof.reproduction.pages.page import all_rows

    for study, found in all_rows(out).items():
        save_figure(study, found["rows"], out / study)


def _tell(ahead: Ahead) -> None:
    """A line on standard error for every step, if that is a terminal."""
    from flipproof.cli.summary import duration

    if sys.stderr is not None and sys.stderr.isatty():
        left = "" if ahead.seconds_left is None else f", about {duration(ahead.seconds_left)} left"
        typer.echo(f"{ahead.done + 1} of {ahead.of}{left}: {ahead.words}", err=True)
