"""Rows of an experiment as lines of text: ours beside the published number, means and spreads over seeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from flipproof.reproduction.pages.rows import Row, summarised

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
    same = {name for name in _names(chosen) if len({str(row.get(name)) for row in chosen}) == 1} - {"measure"}
    if same and chosen:
        yield f"all: {_words({name: chosen[0][name] for name in chosen[0] if name in same})}"
    words = [_words({name: value for name, value in row.items() if name not in same}) for row in chosen]
    width = max(map(len, words), default=0)
    for name, row in zip(words, chosen, strict=True):
        spread = "" if row["spread"] is None else f" +- {row['spread']:.3g}"
        known = "" if row["published"] is None else f"   published {row['published']:g}"
        yield f"{name:<{width}}  {row['value']:>10.4g}{spread}{known}"


def _names(rows: Iterable[Row]) -> set[str]:
    return {name for row in rows for name in row} - set(_LEFT_OUT)


def _words(row: Mapping[str, Any]) -> str:
    """The columns of a row; numbers with their names."""
    return ", ".join(
        f"{name} {value:g}" if isinstance(value, int | float) else f"{value}"
        for name, value in row.items()
        if name not in _LEFT_OUT and value not in (None, "")
    )
