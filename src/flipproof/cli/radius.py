"""`flipproof radius`: what a probability buys under a noise, before any sample is drawn."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any

import typer

from flipproof.cli.options import Alpha, AsJson, MaxAdd, MaxDelete

_ADD, _DELETE = 4, 6


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
    as_json: AsJson = False,
) -> None:
    """What does a probability buy under a noise?

    With --p-lower, the radii that this probability certifies.

    With --samples, the radii that so many samples certify when they all agree.

    With neither, the probability that each radius needs.
    """
    from flipproof.errors import InvalidInputError
    from flipproof.theory.law import FlipNoise

    noise = FlipNoise(p_plus, p_minus, categories)
    if samples is not None:
        if p_lower is not None:
            raise InvalidInputError("expected --p-lower or --samples, got both")
        from flipproof.statistics.clopper_pearson import lower_bound

        p_lower = lower_bound(samples, samples, alpha)
    if p_lower is None:
        if p_upper is not None:
            raise InvalidInputError("expected --p-lower beside --p-upper, got none")
        _print_critical(noise, _ADD if add is None else add, _DELETE if delete is None else delete, as_json)
    elif add is not None or delete is not None:
        raise InvalidInputError("expected --add and --delete for the table of critical probabilities, got --p-lower")
    else:
        _print_radii(noise, p_lower, p_upper, as_json)


def _print_critical(noise: Any, add: int, delete: int, as_json: bool) -> None:
    from flipproof.cli.text import critical_words, noise_words, print_table
    from flipproof.theory.tables import critical_table

    table = critical_table(noise, add=range(add + 1), delete=range(delete + 1))
    if as_json:
        rows = [[None if math.isinf(p) else p for p in row] for row in table.tolist()]
        typer.echo(json.dumps({"add": list(range(add + 1)), "delete": list(range(delete + 1)), "critical": rows}))
        return
    print_table(
        f"Certified when p_lower is above ({noise_words(noise)})",
        "add \\ delete",
        range(delete + 1),
        ((a, [critical_words(p) for p in row]) for a, row in enumerate(table)),
    )


def _print_radii(noise: Any, p_lower: float, p_upper: float | None, as_json: bool) -> None:
    from flipproof.cli.text import json_radius, noise_words, radii_words, radius_words
    from flipproof.theory.frontier import frontier
    from flipproof.theory.l0_ball import largest_l0_radius
    from flipproof.theory.radii import axes_of, point_of
    from flipproof.theory.search import largest_radius

    radii = {str(axis): largest_radius(noise, p_lower, str(axis), p_upper) for axis in axes_of(noise)}
    radii["mixed"] = largest_l0_radius(noise, p_lower, p_upper)
    maximal = frontier(noise, p_lower, p_upper)
    if as_json:
        points = [dict(zip(radii, map(json_radius, point_of(noise, r)), strict=False)) for r in maximal]
        largest = {kind: json_radius(r) for kind, r in radii.items()}
        typer.echo(json.dumps({"p_lower": p_lower, "p_upper": p_upper, "largest": largest, "frontier": points}))
        return
    typer.echo(f"noise      {noise_words(noise)}")
    other = f", any other label at most {p_upper!r}" if p_upper is not None else ""
    typer.echo(f"prediction probability at least {p_lower!r}{other}")
    if not maximal:
        typer.echo("certified  nothing: the prediction is not even certain without an attacker")
        return
    for kind, count in radii.items():
        meaning = "changes of any kind" if kind == "mixed" else f"{kind} only"
        typer.echo(f"certified  {radius_words(count):>9}  {meaning}")
    typer.echo("maximal    " + "\n           ".join(radii_words(noise, r) for r in maximal))
