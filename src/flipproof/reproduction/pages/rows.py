"""Stores the rows of experiments in files, and finds numbers in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from flipproof.errors import FileFormatError
from flipproof.files.csv_file import csv_text
from flipproof.files.strict_json import FileKind, is_number, read_json
from flipproof.files.whole import make_folder, replacing

Row = Mapping[str, Any]
Rows = Sequence[Row]

_KIND = FileKind("rows of an experiment", "flipproof-rows", 1)
_NOT_NAMES = ("seed", "value", "published", "seconds", "epochs", "certified_accuracy")


def write_rows(base: Path, found: Mapping[str, Any]) -> list[Path]:
    """Writes the results of an experiment, with all that they depend on, as JSON, and its rows as a table.

    Args:
        base: the path of the files, without a suffix.
        found: JSON values; "rows" is a list of rows.
    """
    head = {"format": _KIND.format, "version": _KIND.version} | {k: v for k, v in found.items() if k != "rows"}
    lines = ",\n  ".join(json.dumps(row, allow_nan=False) for row in found["rows"])
    text = json.dumps(head, indent=1, allow_nan=False)[:-2] + f',\n "rows": [\n  {lines}\n ]\n}}\n'
    files = {f"{base.name}.json": text, f"{base.name}.csv": _table(found)}
    make_folder(base.parent)
    for name, content in files.items():
        with replacing(base.parent / name) as stream:
            stream.write(content.encode())
    return [base.parent / name for name in files]


def _table(found: Mapping[str, Any]) -> str:
    """The table as text: one line per row, with the time and the commit at which it was made."""
    made = {name: found["made"].get(name) for name in ("date", "commit")}
    return csv_text(found["rows"], {"scale": found["scale"], **made})


def read_rows(path: Path) -> dict[str, Any]:
    """Reads the JSON that `write_rows` has written."""
    found = read_json(path, _KIND)
    rows = found.get("rows")
    if not isinstance(rows, list) or not all(map(_is_row, rows)):
        raise FileFormatError(f"expected rows with a measure and a value in {path}, got something else")
    return found


def _is_row(row: Any) -> bool:
    """Whether a value is a row: it has a number and describes it in plain words and numbers."""
    if not isinstance(row, dict) or not all(isinstance(each, str | int | float | None) for each in row.values()):
        return False
    return isinstance(row.get("measure"), str) and is_number(row.get("value"))


def matching(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """The rows that have these values.

    Example:
        >>> matching([{"seed": 0, "value": 1.5}, {"seed": 1, "value": 2.5}], seed=1)
        [{'seed': 1, 'value': 2.5}]
    """
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def values(rows: Iterable[Row], **wanted: Any) -> list[float]:
    """The numbers of rows that have these values."""
    return [float(row["value"]) for row in matching(rows, **wanted)]


def mean(rows: Iterable[Row], **wanted: Any) -> float:
    """The mean of the numbers of rows that have these values; at least one row must match.

    Example:
        >>> mean([{"seed": 0, "value": 1.5}, {"seed": 1, "value": 2.5}])
        2.0
    """
    found = values(rows, **wanted)
    if not found:
        raise FileFormatError(f"expected rows with {wanted}, got none")
    return float(np.mean(found))


def summarised(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Merges rows that differ only in the seed into one: the mean, the standard deviation and the number of values.

    Example:
        >>> rows = [{"noise": "x", "seed": seed, "measure": "m", "value": 1.0 + seed} for seed in (0, 1)]
        >>> summarised(rows)
        [{'noise': 'x', 'measure': 'm', 'value': 1.5, 'spread': 0.707..., 'of': 2, 'published': None}]
    """
    groups: dict[tuple[tuple[str, Any], ...], list[Row]] = {}
    for row in rows:
        name = tuple((key, value) for key, value in row.items() if key not in _NOT_NAMES)
        groups.setdefault(name, []).append(row)
    return [_mean_row(dict(name), members) for name, members in groups.items()]


def _mean_row(name: dict[str, Any], members: list[Row]) -> dict[str, Any]:
    numbers = np.array([row["value"] for row in members], dtype=np.float64)
    spread = float(numbers.std(ddof=1)) if numbers.size > 1 else None
    known = members[0].get("published")
    return {**name, "value": float(numbers.mean()), "spread": spread, "of": numbers.size, "published": known}
