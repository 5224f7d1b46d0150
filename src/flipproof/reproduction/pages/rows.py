"""Rows of experiments: stores them in files, finds numbers in them, and puts them into tables and lines of text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    """Writes the results of an experiment with all that they depend on: JSON, and a table of its rows with the commit.

    Args:
        base: the path of the files, without a suffix.
        found: JSON values; "rows" is a list of rows.
    """
    head = {"format": _KIND.format, "version": _KIND.version} | {k: v for k, v in found.items() if k != "rows"}
    lines = ",\n  ".join(json.dumps(row, allow_nan=False) for row in found["rows"])
    text = json.dumps(head, indent=1, allow_nan=False)[:-2] + f',\n "rows": [\n  {lines}\n ]\n}}\n'
    made = {name: found["made"].get(name) for name in ("date", "commit")}
    files = {f"{base.name}.json": text, f"{base.name}.csv": csv_text(found["rows"], {"scale": found["scale"], **made})}
    make_folder(base.parent)
    for name, content in files.items():
        with replacing(base.parent / name) as stream:
            stream.write(content.encode())
    return [base.parent / name for name in files]


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


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table.

    Example:
        >>> print(table(("a", "b"), [("1", "2")]))
        | a | b |
        |---|---|
        | 1 | 2 |
    """
    rows = [head, ["---"] * len(head), *lines]
    cells = [" | ".join(row) if row[0] != "---" else "|".join(row) for row in rows]
    return "\n".join(f"|{line}|" if line.startswith("---") else f"| {line} |" for line in cells)


def with_spread(row: dict[str, Any], digits: int = 2) -> str:
    """The mean of a summarised row, and its spread over seeds.

    Example:
        >>> with_spread({"value": 9.6349, "spread": 0.147, "of": 5})
        '9.63 ± 0.15'
    """
    spread = "" if row["spread"] is None else f" ± {row['spread']:.{digits}f}"
    return f"{row['value']:.{digits}f}{spread}"


def number(rows: Rows, digits: int = 2, **wanted: Any) -> str:
    """The mean of some rows with its spread over seeds; "-" if there are none."""
    found = summarised(matching(rows, **wanted))
    if len(found) > 1:
        raise FileFormatError(f"expected rows with {wanted} that differ in their seeds alone, got others")
    return with_spread(found[0], digits) if found else "-"


def seeds_of(rows: Rows, **wanted: Any) -> str:
    """The number of values in the matching rows."""
    return str(len(values(rows, **wanted)))


def distinct(rows: Rows, *names: str) -> Iterator[dict[str, Any]]:
    """Every distinct combination of the named columns, in the order of the rows."""
    yield from (
        dict(zip(names, key, strict=True))
        for key in dict.fromkeys(tuple(row.get(name) for name in names) for row in rows)
    )


def prose(text: str) -> str:
    """Joins text with any line breaks into one paragraph.

    Example:
        >>> prose('''One
        ...     sentence.''')
        'One sentence.'
    """
    return " ".join(text.split())


_SHOWN = (
    "accuracy of the majority", "certified accuracy", "critical probability", "exponent of the time in entries",
    "mean difference of certified ratios", "mean radius", "seconds", "smoothed accuracy",
)  # fmt: skip
_LEFT_OUT = (
    "value",
    "spread",
    "of",
    "published",
    "dataset",
    "inputs",
    "spared",
    "alpha",
    "published_by",
    "proved_about",
)


def summary_lines(rows: Iterable[Row]) -> Iterator[str]:
    """The most important results of an experiment, one per line."""
    chosen = [row for row in summarised(rows) if row["published"] is not None or row["measure"] in _SHOWN]
    names = {name for row in chosen for name in row} - {"measure", *_LEFT_OUT}
    same = {name for name in names if len({str(row.get(name)) for row in chosen}) == 1}
    if same and chosen:
        yield f"all: {_words({name: chosen[0][name] for name in chosen[0] if name in same})}"
    words = [_words({name: value for name, value in row.items() if name not in same}) for row in chosen]
    width = max(map(len, words), default=0)
    for name, row in zip(words, chosen, strict=True):
        spread = "" if row["spread"] is None else f" +- {row['spread']:.3g}"
        known = "" if row["published"] is None else f"   published {row['published']:g}"
        yield f"{name:<{width}}  {row['value']:>10.4g}{spread}{known}"


def _words(row: Mapping[str, Any]) -> str:
    """The columns of a row; numbers with their names."""
    return ", ".join(
        f"{name} {value:g}" if isinstance(value, int | float) else f"{value}"
        for name, value in row.items()
        if name not in _LEFT_OUT and value not in (None, "")
    )
