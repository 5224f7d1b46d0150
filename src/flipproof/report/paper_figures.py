"""Figures of the experiments of the paper, each drawn from the rows of its experiment alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flipproof.report import drawing, figures
from flipproof.report.compared import plot_rows
from flipproof.report.paper_tables import summarised
from flipproof.report.shares import CERTIFIED_RATIO, ShareGrid, ShareLine
from flipproof.theory.radii import UNBOUNDED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, Any]]


def save_figure(study: str, rows: Rows, path: Path) -> list[Path]:
    """Draws what an experiment shows, as PNG and SVG; some are tables only."""
    draw = _DRAWN.get(study)
    return [] if draw is None else drawing.save(draw(rows), path)


def _lines(*names: str) -> Callable[[Rows], Figure]:
    """Certified ratios over the radius, a line for each combination of some columns, averaged over seeds."""

    def draw(rows: Rows) -> Figure:
        shown = summarised(row for row in rows if row["measure"] == CERTIFIED_RATIO)
        lines = []
        for key, group in itertools.groupby(sorted(shown, key=_key_of(names)), key=_key_of(names)):
            points = sorted(group, key=lambda row: row["radius"])
            shares = np.array([row["value"] for row in points])
            counts = tuple(int(row["radius"]) for row in points)
            label = " ".join(str(part) for part in key[1:])
            lines.append(ShareLine(str(key[0]), counts, shares, label, len(points), UNBOUNDED))
        return figures.lines(lines)

    return draw


def _key_of(names: Sequence[str]) -> Callable[[Mapping[str, Any]], tuple[str, ...]]:
    return lambda row: (str(row["along"]), *(str(row[name]) for name in names))


def _heatmap(rows: Rows) -> Figure:
    """The certified ratio over two radii."""
    return figures.heatmap(_plane(rows, "add", "delete"))


def _plane(rows: Rows, y: str, x: str) -> ShareGrid:
    counts = tuple(tuple(sorted({int(row[axis]) for row in rows})) for axis in (y, x))
    shares = np.zeros(tuple(map(len, counts)))
    for row in rows:
        shares[counts[0].index(int(row[y])), counts[1].index(int(row[x]))] = row["value"]
    return ShareGrid((y, x), counts, shares, CERTIFIED_RATIO, of=len(rows))


_DRAWN: dict[str, Callable[[Rows], Figure]] = {
    "heatmap": _heatmap,
    "tradeoffs": _lines("noise"),
    "models-attributes": _lines("model"),
    "models-structure": _lines("model"),
    "models-deletion": _lines("model"),
    "joint": _lines("model"),
    "pubmed": _lines("model"),
    "mnist": _lines("noise"),
    "mutag": _lines("model"),
    "training": _lines("noisy_samples"),
    "compare-gcn": plot_rows,
    "compare-ppnp": plot_rows,
}
