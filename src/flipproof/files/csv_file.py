"""CSV: rows or columns as text, and as files that are written whole or not at all."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flipproof.files.whole import replacing


def csv_text(rows: Sequence[Mapping[str, Any]], also: Mapping[str, Any] | None = None) -> str:
    r"""One line for each row, with empty cells where it lacks a column; `also` adds columns that all rows share.

    Example:
        >>> csv_text([{"a": 1}, {"b": 2}], {"c": 3})
        'a,b,c\r\n1,,3\r\n,2,3\r\n'
    """
    more = dict(also or {})
    names = dict.fromkeys(name for row in rows for name in row)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=[*names, *more], restval="")
    writer.writeheader()
    writer.writerows({**row, **more} for row in rows)
    return text.getvalue()


def write_csv(path: str | os.PathLike[str], columns: Mapping[str, Any], shown: Callable[[Any], Any]) -> None:
    """Writes arrays of one length as columns; `shown` is what is written in place of a value."""
    with replacing(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        writer = csv.writer(text)
        writer.writerow(columns)
        for row in zip(*(column.tolist() for column in columns.values()), strict=True):
            writer.writerow([shown(value) for value in row])
        text.flush()
        text.detach()
