"""Rows as the text of a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any


def csv_text(rows: Sequence[Mapping[str, Any]], also: Mapping[str, Any] | None = None) -> str:
    r"""One line for each row, empty where it has no such column; what all rows share stands behind them.

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
