"""`flipproof report`: the page of one run, or of several side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from flipproof.cli.command_options import ReportOptions
from flipproof.cli.values import repeating
from flipproof.errors import InvalidInputError
from flipproof.pipeline.steps import open_run, with_data
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.report_files import check_replaceable, write_page, write_run_report
from flipproof.report.section import Section, run_section, section_of
from flipproof.smoothing.certify import certify
from flipproof.smoothing.votes import Votes


def report(flags: ReportOptions) -> None:
    """Writes the page of one run, or of several side by side."""
    runs, out, force = flags.runs, flags.out, flags.force
    if out is None and len(runs) > 1:
        raise InvalidInputError("a page of several runs needs a name; add --out compare.html")
    if out is None and not runs[0].is_file():
        run = with_data(open_run(runs[0]))
        written = write_run_report(run, repeating(run))
        typer.echo(f"wrote {written}, figures in {written.parent / 'figures'}")
        return
    target = runs[0].with_suffix(".html") if out is None else out
    check_replaceable(target, force)  # before the work
    write_page(target, [_named_section(path, alone=len(runs) == 1) for path in runs], force)
    typer.echo(f"wrote {target}")


def _named_section(path: Path, alone: bool) -> Section:
    """The section of a run or votes file; among several, its name starts with the path."""
    if path.is_file():
        section = _votes_section(path, alone)
    else:
        section = run_section(run := with_data(open_run(path)), repeating(run))
    return section if alone else replace(section, name=f"{path}: {section.name}")


def _votes_section(path: Path, alone: bool) -> Section:
    """The section of a votes file, certified with the default promise. Among several, entries name their data."""
    votes = Votes.load(path)
    certificates = certify(votes)
    data = path.name if votes.run is None else f"data {votes.run.identity['data'][:8]}"
    parts = certificates.noise.part_names
    words = {name or "": f"entries of {data}" + (f", {name}," if name else "") for name in parts}
    return section_of(certificates, path.name, DescribedInputs(entries={} if alone else words))
