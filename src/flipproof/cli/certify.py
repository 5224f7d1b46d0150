"""`flipproof certify`: what a run folder or a votes file proves."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from flipproof.base.values import IntArray
from flipproof.cli.command_options import TableOptions, VotesArgument
from flipproof.cli.output import columns_that_fit, print_table, up_to
from flipproof.cli.run_options import ForceOption, OutputOptions, PageOption, PromiseOptions
from flipproof.cli.train import offer_run_page
from flipproof.cli.values import promise_of
from flipproof.errors import InvalidInputError, OutputError
from flipproof.pipeline.steps import certify_run, open_run
from flipproof.report.shares import json_radius, radius_words, share_words
from flipproof.report.summary import robustness_lines, summary_lines, summary_record
from flipproof.run_folder.finished_run import FinishedRun
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.certify import PromiseSettings
from flipproof.smoothing.certify import certify as certified
from flipproof.smoothing.result_files import certificates_record
from flipproof.smoothing.run import Run
from flipproof.smoothing.votes import Votes
from flipproof.theory.radii import axes_of
from flipproof.theory.search import SEARCH_LIMIT
from flipproof.theory.stairs import ranges_along

_JSON_COLUMNS = 101


def certify(
    argument: VotesArgument,
    promise_flags: PromiseOptions,
    table_flags: TableOptions,
    page_flags: PageOption,
    output_flags: OutputOptions,
    force_flags: ForceOption,
) -> None:
    """Turns votes into certificates, and shows them as a summary, a table, JSON or CSV."""
    votes, table, force = argument.votes, table_flags, force_flags.force
    _check_csv(table.csv, votes, force)
    promise = promise_of(promise_flags)
    run = _certified_run(votes, promise, table, force) if votes.is_dir() else None
    certificates = promise.of(Votes.load(votes)) if run is None else run.certificates
    columns = _JSON_COLUMNS if output_flags.as_json else columns_that_fit(5)
    ratio = certified_ratio(certificates, columns, table.add, table.delete, table.change)
    if table.csv is not None:
        (certificates if run is None else _named(run)).to_csv(table.csv)
    if output_flags.as_json:
        summary = {} if run is None else summary_record(run)
        typer.echo(json.dumps(_facts(certificates) | {"certified_ratio": ratio} | summary))
    else:
        _print(run, certificates, ratio, table)
    if run is not None and page_flags.report:
        offer_run_page(run, quiet=output_flags.as_json)


def _certified_run(path: Path, promise: PromiseSettings, table: TableOptions, force: bool) -> FinishedRun:
    """Certifies the votes of a run folder."""
    votes = path / "votes.npz"
    if table.given and votes.exists():  # refuse an impossible table before anything is written
        certified_ratio(certified(Votes.load(votes)), _JSON_COLUMNS, table.add, table.delete, table.change)
    return open_run(path, certify_run(path, promise, force))


def _named(run: FinishedRun) -> Certificates:
    """The certificates of a run with the names of its classes, unless these are just numbers."""
    certificates, names = run.certificates, tuple(run.inputs.class_names)
    if certificates.votes.class_names is not None or names == tuple(map(str, range(len(names)))):
        return certificates
    return replace(certificates, votes=replace(certificates.votes, class_names=names))


def _print(run: FinishedRun | None, certificates: Certificates, ratio: dict[str, Any], table: TableOptions) -> None:
    if run is None:
        print_certificates(certificates, ratio)
    else:
        typer.echo("\n".join(summary_lines(run)))
        if table.given:
            print_ratio(certificates, ratio)
    if table.csv is not None:
        typer.echo(f"wrote {table.csv}")


def _check_csv(csv: Path | None, votes: Path, force: bool) -> None:
    """Raises if the CSV would replace the votes, or another file without --force. Nothing has been written by then."""
    if csv is None:
        return
    if votes.resolve() in (csv.resolve(), csv.resolve().parent):
        raise InvalidInputError(f"--csv {csv} would write over the votes or into their folder; name another file")
    if not csv.resolve().parent.is_dir():
        raise OutputError(f"cannot write {csv}: its folder does not exist")
    if csv.exists() and not force:
        raise OutputError(f"{csv} already exists; name another file, or pass --force to replace it")


def certified_ratio(
    certificates: Certificates, columns: int, add: int | None = None, delete: int | None = None, change: int = 0
) -> dict[str, Any]:
    """The certified ratio over additions and deletions, or along each axis of a joint noise, in at most `columns`."""
    if not len(certificates):
        return {}
    most = {axis: min(int(radii.max()), columns - 1) for axis, radii in _largest(certificates).items()}
    if "add" in most and "delete" in most:
        adds = up_to(most["add"] if add is None else add, "--add")
        deletes = up_to(most["delete"] if delete is None else delete, "--delete")
        ratio = certificates.certified_ratio(add=adds, delete=deletes, change=change or None)
        return {"add": list(adds), "delete": list(deletes), "change": change, "ratio": ratio.tolist()}
    if add is not None or delete is not None or change:
        raise InvalidInputError("--add, --delete and --change do not apply to a joint noise; leave them out")
    lines = {}
    for axis in certificates.noise.axes:
        parts, kinds = ranges_along({axis: tuple(range(1 + most[str(axis)]))})
        lines[str(axis)] = certificates.certified_ratio(parts, **kinds).tolist()
    return lines


def print_certificates(certificates: Certificates, ratio: dict[str, Any]) -> None:
    """Prints what is known of certificates without a run folder, and their certified ratio."""
    votes = certificates.votes
    promise = "for all inputs at once" if certificates.simultaneous else "for each input"
    typer.echo(f"noise     {certificates.noise.words}")
    typer.echo(f"votes     {len(votes)} inputs, {votes.classes} classes")
    typer.echo(f"samples   {votes.n_select:,} to select the label, {votes.n_estimate:,} to bound its probability")
    if votes.run is not None:
        typer.echo(f"drawn     {_run_words(votes.run)}")
    typer.echo(f"promise   wrong with probability at most {certificates.alpha:g}, {promise}; {certificates.rule} rule")
    typer.echo(f"abstained {int(certificates.abstained.sum())}")
    if ratio:
        typer.echo("\n".join(robustness_lines(certificates)))
        for axis, radii in {"any change": certificates.max_l0_radius(), **_largest(certificates)}.items():
            typer.echo(f"radius    {axis}: {_spread(radii)}")
        print_ratio(certificates, ratio)


def print_ratio(certificates: Certificates, ratio: dict[str, Any]) -> None:
    """Prints the certified ratio as a table, or as a line for each axis of a joint noise."""
    title = "\nCertified ratio: the share of inputs whose prediction no attacker within the radii can change"
    if "ratio" in ratio:
        rows = zip(ratio["add"], ratio["ratio"], strict=True)
        held = f" (change {ratio['change']})" if ratio["change"] else ""
        print_table(f"{title}{held}", ratio["delete"], ((a, [share_words(share) for share in row]) for a, row in rows))
        if any(_largest(certificates)[kind].max() > ratio[kind][-1] for kind in ("add", "delete")):
            typer.echo("Some inputs are certified beyond this table: see --add, --delete and --csv.")
        return
    typer.echo(f"{title}, along each axis")
    for axis, line in ratio.items():
        typer.echo(f"  {axis}: {' '.join(map(share_words, line))}")


def _run_words(run: Run) -> str:
    identity = run.identity
    law = "exactly"
    if run.sampling_error:
        power = math.ceil(math.log10(run.sampling_error) + 1e-9)
        law = f"within 1e{power} of the exact law, charged to alpha"
    return f"{law}; seed {identity['seed']}, model {identity['model'][:12]}, data {identity['data'][:12]}"


def _largest(certificates: Certificates) -> dict[str, IntArray]:
    return {str(axis): certificates.max_radius(str(axis)) for axis in axes_of(certificates.noise)}


def _spread(radii: IntArray) -> str:
    mean = f"mean {radii.mean():.2f}, " if radii.max() < SEARCH_LIMIT else ""
    return f"{mean}largest {radius_words(int(radii.max()))}"


def _facts(certificates: Certificates) -> dict[str, Any]:
    columns = {name: column.tolist() for name, column in certificates.to_columns().items()}
    rows = {
        name: list(map(json_radius, column)) if name.startswith("max_") else column for name, column in columns.items()
    }
    return certificates_record(certificates) | {"certificates": rows}
