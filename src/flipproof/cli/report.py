"""`flipproof report`: a run, or several side by side, as a page to look at."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import typer

from flipproof.cli.command_options import ReportOptions
from flipproof.cli.repeat import repeating_command
from flipproof.errors import FlipproofError, InvalidInputError
from flipproof.pipeline.steps import open_run, with_data
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.page.page import check_replaceable, write_page
from flipproof.report.section import Section, run_section
from flipproof.report.writing import section_of, write_run_report
from flipproof.run_folder.finished_run import FinishedRun
from flipproof.smoothing.certify import certify
from flipproof.smoothing.votes import Votes


def report(asked: ReportOptions) -> None:
    """Writes the page of one run, or of several side by side."""
    runs, out, force = asked.runs, asked.out, asked.force
    if out is None and len(runs) > 1:
        raise InvalidInputError("a page of several runs needs a name; add --out compare.html")
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
    run = with_data(run)
    return write_run_report(run, _repeating(run))


def offer_run_page(run: FinishedRun, quiet: bool = False) -> None:
    """Writes the report at the end of another command, whose work is done: if there can be none, says why."""
    try:
        written = write_run_page(run)
    except FlipproofError as error:
        typer.echo(f"flipproof: no report: {error}", err=True)
        return
    if not quiet:
        typer.echo(f"\nreport    {written}")


def _named(path: Path, alone: bool) -> Section:
    """Among several, a run is known by its path."""
    if path.is_file():
        section = _votes_section(path, alone)
    else:
        section = run_section(run := with_data(open_run(path)), _repeating(run))
    return section if alone else replace(section, name=f"{path}: {section.name}")


def _votes_section(path: Path, alone: bool) -> Section:
    """A votes file has no promise: it is certified as by default. What it counts is only comparable on equal data."""
    votes = Votes.load(path)
    certificates = certify(votes)
    data = path.name if votes.run is None else f"data {votes.run.identity['data'][:8]}"
    parts = certificates.noise.part_names
    words = {name or "": f"entries of {data}" + (f", {name}," if name else "") for name in parts}
    return section_of(certificates, path.name, DescribedInputs(entries={} if alone else words))


def _repeating(run: FinishedRun) -> str:
    """The command that makes the run again."""
    record = {"task": run.task_record, "votes": asdict(run.votes), "certificates": run.promise}
    return repeating_command(record, run.folder.path.resolve().name)
