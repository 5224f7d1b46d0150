"""`flipproof radius`: what a probability buys under a noise, before any sample is drawn."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from flipproof.cli.options import Alpha, AsJson, Change, MaxAdd, MaxDelete, up_to

if TYPE_CHECKING:
    from flipproof.theory.law import FlipNoise
    from flipproof.theory.radii import AnyRadii

_ADD, _DELETE = 4, 6
_T = TypeVar("_T")


def radius(
    p_plus: Annotated[float, typer.Option(help="Probability that a zero flips.")],
    p_minus: Annotated[float, typer.Option(help="Probability that a non-zero flips.")],
    categories: Annotated[int, typer.Option(help="Number of values an entry can have.")] = 2,
    p_lower: Annotated[float | None, typer.Option(help="Lower bound on the prediction's probability.")] = None,
    p_upper: Annotated[float | None, typer.Option(help="Upper bound on any other label's probability.")] = None,
    samples: Annotated[int | None, typer.Option(help="Instead of --p-lower: samples that all agree.")] = None,
    alpha: Alpha = 0.01,
    add: MaxAdd = None,
    delete: MaxDelete = None,
    change: Change = 0,
    as_json: AsJson = False,
) -> None:
    """What does a probability buy under a noise?

    With --p-lower, the radii that this probability certifies.

    With --samples, the radii that so many samples certify when they all agree.

    With neither, the probability that each radius needs.
    """
    from flipproof.cli.text import columns_that_fit
    from flipproof.errors import InvalidInputError
    from flipproof.statistics.clopper_pearson import checked_alpha, lower_bound
    from flipproof.theory.law import FlipNoise

    noise = FlipNoise(p_plus, p_minus, categories)
    checked_alpha(alpha)
    if samples is not None:
        if p_lower is not None:
            raise InvalidInputError("expected --p-lower or --samples, got both")
        if samples == 0:
            raise InvalidInputError("expected --samples of at least 1, got 0")
        p_lower = lower_bound(samples, samples, alpha)
    if p_lower is None:
        if p_upper is not None:
            raise InvalidInputError("expected --p-lower beside --p-upper, got none")
        most = min(_DELETE, columns_that_fit(8) - 1) if delete is None else delete
        _print_critical(noise, _ADD if add is None else add, most, change, as_json)
    elif add is not None or delete is not None or change:
        raise InvalidInputError("expected --add, --delete and --change only for the table, got --p-lower or --samples")
    else:
        _print_radii(noise, p_lower, p_upper, as_json)


def _print_critical(noise: FlipNoise, add: int, delete: int, change: int, as_json: bool) -> None:
    from flipproof.cli.text import critical_words, print_table
    from flipproof.theory.tables import critical_table

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
        ((a, [critical_words(p) for p in row]) for a, row in enumerate(table)),
    )


def _print_radii(noise: FlipNoise, p_lower: float, p_upper: float | None, as_json: bool) -> None:
    from flipproof.cli.text import json_radius, radii_words, radius_words
    from flipproof.theory.frontier import frontier
    from flipproof.theory.l0_ball import largest_l0_radius
    from flipproof.theory.radii import axes_of
    from flipproof.theory.search import largest_radius

    kinds = [str(axis) for axis in axes_of(noise)]
    radii = {kind: largest_radius(noise, p_lower, kind, p_upper) for kind in kinds}
    radii["mixed"] = largest_l0_radius(noise, p_lower, p_upper)
    maximal = _unless_refused(lambda: frontier(noise, p_lower, p_upper))
    if as_json:
        points = None if maximal is None else [_json_point(noise, r) for r in maximal]
        largest = {kind: json_radius(r) for kind, r in radii.items()}
        typer.echo(json.dumps({"p_lower": p_lower, "p_upper": p_upper, "largest": largest, "frontier": points}))
        return
    typer.echo(f"noise      {noise.words}")
    other = f", any other label at most {p_upper!r}" if p_upper is not None else ""
    typer.echo(f"prediction probability at least {p_lower!r}{other}")
    if maximal == []:
        typer.echo("certified  nothing, not even the prediction without an attacker")
        return
    for kind, count in radii.items():
        meaning = "changes of any kind" if kind == "mixed" else f"{kind} only"
        typer.echo(f"certified  {radius_words(count):>9}  {meaning}")
    lines = ["too many to list"] if maximal is None else [radii_words(noise, r) for r in maximal]
    typer.echo("maximal    " + "\n           ".join(lines))


def _json_point(noise: FlipNoise, radii: AnyRadii) -> dict[str, int | str | None]:
    from flipproof.cli.text import json_radius
    from flipproof.theory.radii import axes_of, point_of

    return {str(axis): json_radius(count) for axis, count in zip(axes_of(noise), point_of(noise, radii), strict=True)}


def _unless_refused(search: Callable[[], _T]) -> _T | None:
    """The result of a search over mixtures, or None where there are too many of them."""
    from flipproof.errors import TooLargeError

    try:
        return search()
    except TooLargeError:
        return None
