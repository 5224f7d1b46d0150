"""Rows of an experiment as lines of text: ours beside the published number, means and spreads over seeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

_NOT_NAMES = ("seed", "value", "published", "seconds")
_SHOWN = ("base accuracy", "smoothed accuracy", "mean radius", "critical probability", "seconds", "certified accuracy")
_MEASURE = "measure"


def summarised(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row for all seeds: the mean, the standard deviation and the number of values.

    Example:
        >>> rows = [{"noise": "x", "seed": seed, "measure": "m", "value": 1.0 + seed} for seed in (0, 1)]
        >>> summarised(rows)
        [{'noise': 'x', 'measure': 'm', 'value': 1.5, 'spread': 0.707..., 'of': 2, 'published': None}]
    """
    groups: dict[tuple[tuple[str, Any], ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        name = tuple((key, value) for key, value in row.items() if key not in _NOT_NAMES)
        groups.setdefault(name, []).append(row)
    return [_mean_row(dict(name), members) for name, members in groups.items()]


def _mean_row(name: dict[str, Any], members: list[Mapping[str, Any]]) -> dict[str, Any]:
    values = np.array([row["value"] for row in members], dtype=np.float64)
    spread = float(values.std(ddof=1)) if values.size > 1 else None
    known = members[0].get("published")
    return {**name, "value": float(values.mean()), "spread": spread, "of": values.size, "published": known}


def summary_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """What matters most of an experiment, a line each."""
    chosen = [row for row in summarised(rows) if row["published"] is not None or row[_MEASURE] in _SHOWN]
    for row in chosen:
        spread = "" if row["spread"] is None else f" +- {row['spread']:.3g}"
        known = "" if row["published"] is None else f"   published {row['published']:g}"
        yield f"{_words(row):<72}{row['value']:>10.4g}{spread}{known}"


def _words(row: Mapping[str, Any]) -> str:
    left_out = ("value", "spread", "of", "published", "samples", "noisy_samples", "dataset")
    return ", ".join(f"{value}" for key, value in row.items() if key not in left_out and value not in (None, ""))
