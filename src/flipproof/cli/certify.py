"""`flipproof certify`: what a votes file proves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flipproof.cli.options import Alpha, AsJson, MaxAdd, MaxDelete

if TYPE_CHECKING:
    from flipproof.smoothing.certificates import Certificates

_LARGEST_TABLE = 12


def certify(
    votes: Annotated[Path, typer.Argument(help="A votes file, as Votes.save writes it.", show_default=False)],
    alpha: Alpha = 0.01,
    rule: Annotated[str, typer.Option(help='"multi-class" or "two-class".')] = "multi-class",
    simultaneous: Annotated[bool, typer.Option(help="Promise for all inputs at once, not for each.")] = False,
    add: MaxAdd = None,
    delete: MaxDelete = None,
    as_json: AsJson = False,
    csv: Annotated[Path | None, typer.Option(help="Also write one line per input to this file.")] = None,
) -> None:
    """Turn votes into certificates: a summary, the certified ratio over the radii, --json, --csv FILE."""
    from flipproof.smoothing.certify import certify as certified
    from flipproof.smoothing.votes import Votes

    certificates = certified(Votes.load(votes), alpha, rule, simultaneous)
    if csv is not None:
        certificates.to_csv(csv)
    if as_json:
        typer.echo(json.dumps(_facts(certificates)))
        return
    print_certificates(certificates, add, delete)
    if csv is not None:
        typer.echo(f"wrote {csv}")


def print_certificates(certificates: Certificates, add: int | None = None, delete: int | None = None) -> None:
    """The summary and, for a single noise, the certified ratio over additions and deletions."""
    from flipproof.cli.text import noise_words
    from flipproof.theory.law import FlipNoise

    votes = certificates.votes
    promise = "for all inputs at once" if certificates.simultaneous else "for each input"
    typer.echo(f"noise     {noise_words(certificates.noise)}")
    typer.echo(f"votes     {len(votes)} inputs, {votes.classes} classes")
    typer.echo(f"samples   {votes.n_select:,} to select the label, {votes.n_estimate:,} to bound its probability")
    typer.echo(f"promise   wrong with probability at most {certificates.alpha:g}, {promise}; {certificates.rule} rule")
    typer.echo(f"abstained {int(certificates.abstained.sum())}")
    if not len(certificates):
        return
    for axis, radii in _largest(certificates).items():
        typer.echo(f"radius    {axis}: {_spread(radii)}")
    if isinstance(certificates.noise, FlipNoise):
        typer.echo()
        _print_ratio(certificates, add, delete)


def _largest(certificates: Certificates) -> dict[str, Any]:
    from flipproof.theory.radii import axes_of

    return {str(axis): certificates.max_radius(str(axis)) for axis in axes_of(certificates.noise)}


def _spread(radii: Any) -> str:
    from flipproof.cli.text import radius_words
    from flipproof.theory.radii import UNBOUNDED

    bounded = radii[radii != UNBOUNDED]
    mean = f"mean {bounded.mean():.2f}, " if bounded.size == radii.size else ""
    return f"{mean}largest {radius_words(int(radii.max()))}"


def _print_ratio(certificates: Certificates, add: int | None, delete: int | None) -> None:
    from flipproof.cli.text import print_table

    most = {kind: min(_LARGEST_TABLE, int(radii.max())) for kind, radii in _largest(certificates).items()}
    rows = range(1 + (most["add"] if add is None else add))
    columns = range(1 + (most["delete"] if delete is None else delete))
    ratio = certificates.certified_ratio(add=rows, delete=columns)
    print_table(
        "Certified ratio: the share of inputs that no attacker within the radii can turn",
        "add \\ delete",
        columns,
        ((a, [f"{share:.3f}" for share in row]) for a, row in zip(rows, ratio, strict=True)),
    )


def _facts(certificates: Certificates) -> dict[str, Any]:
    from flipproof.cli.text import json_radius
    from flipproof.smoothing.votes_file import noise_record

    columns = {name: column.tolist() for name, column in certificates.to_columns().items()}
    return {
        "noise": noise_record(certificates.noise),
        "alpha": certificates.alpha,
        "rule": str(certificates.rule),
        "simultaneous": certificates.simultaneous,
        "inputs": len(certificates),
        "n_select": certificates.votes.n_select,
        "n_estimate": certificates.votes.n_estimate,
        "abstained": int(certificates.abstained.sum()),
        "certificates": {
            name: list(map(json_radius, column)) if name.startswith("max_") else column
            for name, column in columns.items()
        },
    }
