"""`flipproof reproduce`: the experiments of the paper, measured beside its published numbers."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from flipproof.cli.command_options import ReproduceOptions
from flipproof.cli.output import interruptible
from flipproof.cli.run_options import MachineOptions
from flipproof.cli.values import machine_of
from flipproof.errors import InvalidInputError
from flipproof.report.shares import duration
from flipproof.reproduction.pages.figures import save_figure
from flipproof.reproduction.pages.page import all_rows, write_page
from flipproof.reproduction.pages.rows import summary_lines, write_rows
from flipproof.reproduction.reproduce import Ahead, studies_named
from flipproof.reproduction.reproduce import reproduce as reproduced
from flipproof.reproduction.scale import scale_named
from flipproof.reproduction.study import Study, StudyResult


def reproduce(flags: ReproduceOptions, machine_flags: MachineOptions) -> None:
    """Runs experiments of the paper and writes the page of their results beside the published numbers."""
    studies, scale = studies_named(flags.what), scale_named(flags.scale)
    out = flags.out / scale.name
    if flags.page is not None and not flags.page.parent.is_dir():
        raise InvalidInputError(f"the folder of --page, {flags.page.parent}, does not exist")
    if studies:
        _run(studies, flags, machine_flags)
    else:
        _redraw(out)
    page = write_page(out, flags.page or out / "page.md")
    typer.echo(f"\nwrote     rows, figures and {page}")


def _run(studies: list[Study], flags: ReproduceOptions, machine_flags: MachineOptions) -> None:
    scale = scale_named(flags.scale)
    count = scale.seeds if flags.seeds is None else flags.seeds
    if count < 1:
        raise InvalidInputError(f"expected --seeds of at least 1, got {count}")
    out = flags.out / scale.name

    def keep(found: StudyResult) -> None:
        base, study = out / found.scaled.study.name, found.scaled.study
        write_rows(base, found.record())
        save_figure(study.name, found.rows, base)
        typer.echo(f"\n{study.name}: {study.title}\n")
        for line in summary_lines(found.rows):
            typer.echo(line)

    with interruptible("run the same command again to continue"):
        reproduced(studies, out / "work", scale, tuple(range(count)), machine_of(machine_flags), keep, _print_progress)


def _redraw(out: Path) -> None:
    for study, record in all_rows(out).items():
        save_figure(study, record["rows"], out / study)


def _print_progress(ahead: Ahead) -> None:
    """A line on standard error for every step, if that is a terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        left = "" if ahead.seconds_left is None else f", about {duration(ahead.seconds_left)} left"
        typer.echo(f"{ahead.done + 1} of {ahead.of}{left}: {ahead.words}", err=True)
