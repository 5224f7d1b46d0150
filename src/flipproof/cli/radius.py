"""`flipproof radius`: which radii a probability certifies, before any sample is drawn."""

from __future__ import annotations

import json
import math
from decimal import ROUND_CEILING, Decimal

import typer

from flipproof.cli.command_options import RadiusOptions
from flipproof.cli.output import columns_that_fit, print_table, up_to
from flipproof.errors import InvalidInputError, TooLargeError
from flipproof.report.shares import json_radius, radius_words
from flipproof.statistics.bounds import checked_alpha, lower_bound
from flipproof.theory.frontier import frontier
from flipproof.theory.l0_ball import largest_l0_radius
from flipproof.theory.law import FlipNoise
from flipproof.theory.radii import axes_of, point_of
from flipproof.theory.search import largest_radius
from flipproof.theory.tables import critical_table

_ADD, _DELETE = 4, 6


def radius(flags: RadiusOptions) -> None:
    """Prints the radii that a probability certifies, or the probabilities that radii need."""
    p_lower, p_upper, samples = flags.p_lower, flags.p_upper, flags.samples
    add, delete, change = flags.add, flags.delete, flags.change
    noise = FlipNoise(flags.p_plus, flags.p_minus, flags.categories)
    checked_alpha(flags.alpha)
    if samples is not None:
        if p_lower is not None:
            raise InvalidInputError("expected --p-lower or --samples, got both")
        if samples == 0:
            raise InvalidInputError("expected --samples of at least 1, got 0")
        p_lower = lower_bound(samples, samples, flags.alpha)
    if p_lower is None:
        if p_upper is not None:
            raise InvalidInputError("--p-upper needs --p-lower beside it")
        most = min(_DELETE, columns_that_fit(8) - 1) if delete is None else delete
        _print_critical(noise, _ADD if add is None else add, most, change, flags.as_json)
    elif add is not None or delete is not None or change:
        raise InvalidInputError(
            "--add, --delete and --change size the table; leave them out with --p-lower or --samples"
        )
    else:
        _print_radii(noise, p_lower, p_upper, flags.as_json)


def _print_critical(noise: FlipNoise, add: int, delete: int, change: int, as_json: bool) -> None:
    adds, deletes = up_to(add, "--add"), up_to(delete, "--delete")
    table = critical_table(noise, add=adds, delete=deletes, change=change or None)
    if as_json:
        rows = [[None if math.isinf(p) else p for p in row] for row in table.tolist()]
        facts = {"add": list(adds), "delete": list(deletes), "change": change, "critical": rows}
        typer.echo(json.dumps(facts))
        return
    held = f", change {change}" if change else ""
    print_table(
        f"Certified when p_lower is above ({noise.words}{held})",
        deletes,
        ((a, [_critical_words(p) for p in row]) for a, row in enumerate(table)),
    )


def _print_radii(noise: FlipNoise, p_lower: float, p_upper: float | None, as_json: bool) -> None:
    kinds = [str(axis) for axis in axes_of(noise)]
    radii = {kind: largest_radius(noise, p_lower, kind, p_upper) for kind in kinds}
    radii["mixed"] = largest_l0_radius(noise, p_lower, p_upper)
    maximal = _maximal(noise, p_lower, p_upper)
    if as_json:
        points = None
        if maximal is not None:
            points = [{kind: json_radius(count) for kind, count in point.items()} for point in maximal]
        largest = {kind: json_radius(r) for kind, r in radii.items()}
        typer.echo(json.dumps({"p_lower": p_lower, "p_upper": p_upper, "largest": largest, "frontier": points}))
        return
    typer.echo(f"noise      {noise.words}")
    other = f", any other label at most {p_upper!r}" if p_upper is not None else ""
    typer.echo(f"prediction probability at least {p_lower!r}{other}")
    if maximal == []:
        typer.echo("certified  nothing, not even the prediction on the unchanged input")
        return
    for kind, count in radii.items():
        meaning = "changes of any kind" if kind == "mixed" else f"{kind} only"
        typer.echo(f"certified  {radius_words(count):>9}  {meaning}")
    lines = ["too many to list"]
    if maximal is not None:
        lines = [", ".join(f"{kind} {radius_words(count)}" for kind, count in point.items()) for point in maximal]
    typer.echo("maximal    " + "\n           ".join(lines))


def _critical_words(p: float) -> str:
    """A critical probability, rounded up, with enough digits to tell it apart from 1."""
    if p >= 1.0:
        return "never" if math.isinf(p) else "only 1"
    digits = 4 if p < 0.999 else 1 - math.floor(math.log10(1.0 - p))
    return str(Decimal(p).quantize(Decimal(1).scaleb(-digits), ROUND_CEILING))


def _maximal(noise: FlipNoise, p_lower: float, p_upper: float | None) -> list[dict[str, int]] | None:
    """The counts of changes, by kind, of all maximal certified combinations; None if there are too many of them."""
    try:
        points = [point_of(noise, radii) for radii in frontier(noise, p_lower, p_upper)]
    except TooLargeError:
        return None
    return [dict(zip(map(str, axes_of(noise)), point, strict=True)) for point in points]
