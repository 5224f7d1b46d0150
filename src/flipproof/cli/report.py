"""`flipproof report`: a run, or several side by side, as a page to look at."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from flipproof.report.section import Section
    from flipproof.run_folder.finished_run import FinishedRun


def report(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders or votes files; several are compared.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option(help="The page to write; by default report.html in the run folder.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is no report.")] = False,
) -> None:
    """Write a page that shows what is certified: one file, to be opened in a browser, without a network."""
    from flipproof.errors import InvalidInputError
    from flipproof.pipeline.steps import open_run
    from flipproof.report.page.page import check_replaceable, write_page

    if out is None and len(runs) > 1:
        raise InvalidInputError("expected --out for a comparison, got none; say --out compare.html")
    if out is None and not runs[0].is_file():
        written = write_run_page(open_run(runs[0]))
        typer.echo(f"wrote {written}, figures in {written.parent / 'figures'}")
        return
    target = runs[0].with_suffix(".html") if out is None else out
    check_replaceable(target, force)  # before the work
    write_page(target, [_named(path, alone=len(runs) == 1) for path in runs], force)
    typer.echo(f"wrote {target}")


def write_run_page(run: FinishedRun) -> Path:
    """Writes the report of a run into its folder."""
    from flipproof.report.writing import write_run_report

    return write_run_report(run.folder, _section(run))


def offer_run_page(run: FinishedRun, quiet: bool = False) -> None:
    """Writes the report at the end of another command, whose work is done: if there can be none, says why."""
    from flipproof.errors import FlipproofError

    try:
        written = write_run_page(run)
    except FlipproofError as error:
        typer.echo(f"flipproof: no report: {error}", err=True)
        return
    if not quiet:
        typer.echo(f"\nreport    {written}")


def _named(path: Path, alone: bool) -> Section:
    """Among several, a run is known by its path."""
    from flipproof.pipeline.steps import open_run

    section = _votes_section(path, alone) if path.is_file() else _section(open_run(path))
    return section if alone else replace(section, name=f"{path}: {section.name}")


def _votes_section(path: Path, alone: bool) -> Section:
    """A votes file has no promise: it is certified as by default. What it counts is only comparable on equal data."""
    from flipproof.report.described_inputs import DescribedInputs
    from flipproof.report.writing import section_of
    from flipproof.smoothing.certify import certify
    from flipproof.smoothing.votes import Votes

    votes = Votes.load(path)
    certificates = certify(votes)
    data = path.name if votes.run is None else f"data {votes.run.identity['data'][:8]}"
    parts = certificates.noise.part_names
    words = {name or "": f"entries of {data}" + (f", {name}," if name else "") for name in parts}
    return section_of(certificates, path.name, DescribedInputs(entries={} if alone else words))


def _section(run: FinishedRun) -> Section:
    from flipproof.cli.repeat import repeating_command
    from flipproof.pipeline.steps import with_data
    from flipproof.report.run_section import run_section

    run = with_data(run)
    record = {"task": run.asked, "votes": asdict(run.votes), "certificates": run.promise}
    return run_section(run, repeating_command(record, run.folder.path.resolve().name))
