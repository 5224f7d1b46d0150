"""How numbers, noises and tables look in a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING, Any

from flipproof.theory.law import JointNoise, Noise
from flipproof.theory.radii import UNBOUNDED, AnyRadii, axes_of, point_of

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """A console that never cuts a table when its output goes to a file or a pipe."""
    from rich.console import Console

    plain = Console(highlight=False)
    return plain if plain.is_terminal else Console(highlight=False, width=1000)


def radius_words(radius: int) -> str:
    """A radius as a person would write it."""
    return "unbounded" if radius == UNBOUNDED else str(radius)


def json_radius(radius: int) -> int | None:
    """A radius as JSON has it: null for unbounded."""
    return None if radius == UNBOUNDED else radius


def radii_words(noise: Noise, radii: AnyRadii) -> str:
    """Radii as "add 1, delete 2"."""
    counts = zip(axes_of(noise), point_of(noise, radii), strict=True)
    return ", ".join(f"{axis} {radius_words(count)}" for axis, count in counts)


def noise_words(noise: Noise) -> str:
    """A noise on one line."""
    if isinstance(noise, JointNoise):
        return "; ".join(f"{name}: {noise_words(part)}" for name, part in noise)
    kinds = "" if noise.categories == 2 else f", {noise.categories} categories"
    return f"p_plus {noise.p_plus:g}, p_minus {noise.p_minus:g}{kinds}"


def critical_words(p: float) -> str:
    """A critical probability, rounded up, with enough digits to see how far from 1 it is."""
    if math.isinf(p):
        return "never"
    digits = 4 if p < 0.999 else 1 - math.floor(math.log10(max(1.0 - p, 1e-15)))
    # The last ulps of the sound bound should not show as a whole digit.
    return str((Decimal(p) - Decimal("1e-13")).quantize(Decimal(1).scaleb(-digits), ROUND_CEILING))


def print_table(title: str, corner: str, columns: Iterable[Any], rows: Iterable[tuple[Any, Sequence[str]]]) -> None:
    """A table with a title above and a head at the left of each row."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(corner, style="bold", justify="right")
    for column in columns:
        table.add_column(str(column), justify="right")
    for head, cells in rows:
        table.add_row(str(head), *cells)
    out = console()
    out.print(title, style="bold")
    out.print(table)
