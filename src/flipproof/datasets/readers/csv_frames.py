"""Data frames of csv files: pandas reads them, after every line was checked and the separator and header were found."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from flipproof.datasets.readers.text_files import lines_of
from flipproof.errors import FileFormatError, reason_of
from flipproof.extras import require
from flipproof.run_folder.reading import Reading

SEPARATORS = (",", ";", "\t", "|")
"""Characters that are tried."""
_MOST_COLUMNS = 2**16
_LOOKED_AT = 200
"""So many first lines tell the separator, and whether the very first one is a header."""


def csv_frame(content: bytes, reading: Reading) -> tuple[Any, str]:
    """The frame in the bytes of a file, as `pandas.read_csv` reads it, and what stands between its cells.

    A line with another number of cells, an unclosed quotation mark and a first line that may or may not be a header
    are refused: nothing is filled in, skipped or guessed.
    """
    pandas = require("pandas")
    separator = reading.separator or _separator(content)
    beginning = list(islice(_rows(content, separator), _LOOKED_AT))
    first = beginning[0][1] if beginning else []
    if len(first) < 2:
        raise FileFormatError(
            f"its first line names {len(first)} columns with {separator!r} between them; it takes labels and one more"
        )
    if len(first) > _MOST_COLUMNS:
        raise FileFormatError(f"it has {len(first):,} columns, more than {_MOST_COLUMNS:,}")
    header = _has_header([row for _, row in beginning]) if reading.header is None else reading.header
    if header:
        _check_names(first)
    count = _checked_count(content, separator, len(first)) - header
    names = None if header else [f"column {number}" for number in range(1, len(first) + 1)]
    if not count:
        raise FileFormatError("it has no rows below its first line")
    try:
        frame = pandas.read_csv(
            io.BytesIO(content), sep=separator, header=0 if header else None, names=names, index_col=False,
            low_memory=False, encoding="utf-8-sig", engine="c",
        )  # fmt: skip
    except Exception as error:  # pandas can raise anything
        raise FileFormatError(f"pandas cannot read it: {reason_of(error)}") from error
    if frame.shape != (count, len(first)):
        raise FileFormatError(f"it has {count:,} rows of {len(first)} cells, but pandas reads {frame.shape}")
    return frame, separator


def _rows(content: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The nonempty rows, each with the number of its last line."""
    reader = csv.reader(lines_of(io.BytesIO(content)), strict=True, delimiter=separator)
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        reason = str(error).partition(" - ")[0]  # the rest of the message is for programmers
        raise FileFormatError(f"line {reader.line_num}: {reason}") from error


def _checked_count(content: bytes, separator: str, width: int) -> int:
    """How many rows there are; all of them must have the cells of the first one."""
    count = 0
    for line, row in _rows(content, separator):
        if len(row) != width:
            raise FileFormatError(f"line {line} has {len(row)} cells, the first line {width}")
        count += 1
    return count


def _separator(content: bytes) -> str:
    """What divides the first lines evenly, or else at least the first line; a comma if nothing does."""
    widths = {separator: _widths(content, separator) for separator in SEPARATORS}
    even = [
        separator for separator, found in widths.items() if len(found) > 1 and len(set(found)) == 1 and found[0] > 1
    ]
    if len(even) > 1:
        raise FileFormatError(
            f"{' and '.join(map(repr, even))} both divide its lines evenly; say what stands between cells with "
            "--separator"
        )
    uneven = [separator for separator, found in widths.items() if found and found[0] > 1]
    return (even or (uneven if len(uneven) == 1 else [","]))[0]


def _widths(content: bytes, separator: str) -> list[int]:
    """The numbers of cells of the first lines, up to the first that cannot be divided."""
    widths: list[int] = []
    try:
        widths.extend(len(row) for _, row in islice(_rows(content, separator), _LOOKED_AT))
    except FileFormatError:
        return [*widths, 0]  # uneven
    return widths


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """True, or a refusal if the first line looks like the others: whether it has names is for the user to say.

    It does if more than half of its cells are numbers, or are values of their columns.
    """
    first, others = rows[0], rows[1:]
    alike = [
        cell
        for column, cell in enumerate(first)
        if cell.strip() and (_is_number(cell) or any(column < len(row) and row[column] == cell for row in others))
    ]
    if 2 * len(alike) > len(first):
        shown = ", ".join(cell.strip()[:20] for cell in first[:5])
        raise FileFormatError(
            f"its first line looks like data ({shown}{', ...' if len(first) > 5 else ''}): pass --no-header, or "
            "--header if it has the names of the columns"
        )
    return True


def _check_names(names: Sequence[str]) -> None:
    """Refuses names that occur twice, which pandas would change."""
    seen: set[str] = set()
    for name in filter(None, names):
        if name in seen:
            raise FileFormatError(f"two columns are called {name!r}")
        seen.add(name)


def _is_number(cell: str) -> bool:
    try:
        return not math.isnan(float(cell))
    except ValueError:
        return False
