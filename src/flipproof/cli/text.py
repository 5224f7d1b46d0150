"""How numbers, noises and tables look in a terminal."""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, Decimal

from rich import box
from rich.console import Console
from rich.table import Table

from flipproof.base.arguments import checked_count
from flipproof.theory.law import Noise
from flipproof.theory.radii import UNBOUNDED, AnyRadii, axes_of, point_of
from flipproof.theory.search import SEARCH_LIMIT


def radius_words(radius: int | None) -> str:
    """A radius as a person would write it; None is one that was not found."""
    if radius is None:
        return "unknown"
    if radius == UNBOUNDED:
        return "unbounded"
    return str(radius) if radius < SEARCH_LIMIT else f"at least {radius}"


def json_radius(radius: int | None) -> int | str | None:
    """A radius as JSON has it: a number, "unbounded", or null where it was not found."""
    return "unbounded" if radius == UNBOUNDED else radius


def radii_words(noise: Noise, radii: AnyRadii) -> str:
    """Radii as "add 1, delete 2"."""
    counts = zip(axes_of(noise), point_of(noise, radii), strict=True)
    return ", ".join(f"{axis} {radius_words(count)}" for axis, count in counts)


def critical_words(p: float) -> str:
    """A critical probability, rounded up, with enough digits to tell it from 1."""
    if p >= 1.0:
        return "never" if math.isinf(p) else "only 1"
    digits = 4 if p < 0.999 else 1 - math.floor(math.log10(1.0 - p))
    return str(Decimal(p).quantize(Decimal(1).scaleb(-digits), ROUND_CEILING))


def columns_that_fit(cell: int) -> int:
    """How many columns of `cell` characters the terminal has room for, from 2 to 13; a file takes 13."""
    if sys.stdout is None or not sys.stdout.isatty():
        return 13
    return max(2, min(13, (shutil.get_terminal_size().columns - 17) // (cell + 3)))


def up_to(count: int, name: str) -> range:
    """The counts from 0 to the one given on the command line."""
    return range(1 + checked_count(count, name))


def print_table(title: str, deletes: Iterable[int], rows: Iterable[tuple[int, Sequence[str]]]) -> None:
    """A table over additions (down) and deletions (across) with a title above."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("add \\ delete", style="bold", justify="right")
    for count in deletes:
        table.add_column(str(count), justify="right")
    for add, cells in rows:
        table.add_row(str(add), *cells)
    out = Console(highlight=False, width=100_000)  # a number must never be cut to fit
    out.print(title, style="bold")
    out.print(table)
