"""The figures of the paper's experiments, each drawn from the rows of its experiment alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from flipproof.report.figures import figures
from flipproof.report.figures.compared import plot_rows
from flipproof.report.report_files import save_figure as write_figure
from flipproof.report.shares import CERTIFIED_RATIO, ShareGrid, ShareLine
from flipproof.reproduction.pages import drawings
from flipproof.reproduction.pages.rows import Row, Rows, matching, summarised
from flipproof.reproduction.pages.table_sections import lee_dimensions
from flipproof.theory.radii import UNBOUNDED

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_figure(study: str, rows: Rows, path: Path) -> list[Path]:
    """Draws the figure of an experiment as PNG and SVG; experiments that are only tables have none."""
    draw = _DRAWN.get(study)
    return [] if draw is None else write_figure(draw(rows), path)


def _ratio_lines(rows: Rows, *names: str) -> list[ShareLine]:
    """Certified ratios over the radius, one line per combination of the named columns, averaged over seeds.

    Lines along the same axis all end where the longest of them ends.
    """
    shown = summarised(matching(rows, measure=CERTIFIED_RATIO))
    ends: dict[str, int] = {}
    for row in shown:
        if row["value"]:
            ends[row["along"]] = max(ends.get(row["along"], 0), int(row["radius"]) + 1)
    lines = []
    for key, group in itertools.groupby(shown, key=lambda row: (row["along"], *(str(row.get(name)) for name in names))):
        points = [row for row in group if row["radius"] <= ends.get(row["along"], 1)]
        shares = np.array([row["value"] for row in points])
        counts = tuple(int(row["radius"]) for row in points)
        lines.append(ShareLine(key[0], counts, shares, " ".join(key[1:]), int(points[0]["inputs"]), UNBOUNDED))
    return lines


def _lines(*names: str) -> Callable[[Rows], Figure]:
    return lambda rows: figures.lines(_ratio_lines(rows, *names))


def _one_line(rows: Rows) -> Figure:
    """A figure with one line per axis."""
    return figures.lines(_ratio_lines(rows, "dataset"))


def _joint(rows: Rows) -> Figure:
    """A panel for each of the four radii, with noise on both parts and on one part alone."""
    named = []
    for row in matching(rows, measure=CERTIFIED_RATIO):
        along = row["along"] if "." in row["along"] else f"{row['noisy']}.{row['along']}"
        named.append({**row, "where": f"noise on {row['noisy']}", "along": along})
    return figures.lines(_ratio_lines(named, "where"))


def _heatmap(rows: Rows) -> Figure:
    """The certified ratio over two radii."""
    return figures.heatmap(_plane(matching(rows, measure=CERTIFIED_RATIO), "add", "delete"))


def _plane(rows: Sequence[Row], y: str, x: str) -> ShareGrid:
    counts, shares = _grid(rows, y, x)
    return ShareGrid((y, x), counts, shares, CERTIFIED_RATIO, of=int(rows[0]["inputs"]))


def _grid(rows: Sequence[Row], y: str, x: str) -> tuple[tuple[tuple[int, ...], ...], np.ndarray]:
    """Values over two columns, averaged over seeds."""
    counts = tuple(tuple(sorted({int(row[axis]) for row in rows})) for axis in (y, x))
    sums, times = np.zeros(tuple(map(len, counts))), np.zeros(tuple(map(len, counts)))
    for row in rows:
        place = counts[0].index(int(row[y])), counts[1].index(int(row[x]))
        sums[place], times[place] = sums[place] + row["value"], times[place] + 1
    return counts, sums / np.maximum(times, 1)


def _ridges(rows: Rows) -> Figure:
    """The lines of a heatmap's two axes, for several noises."""
    lines: dict[str, dict[str, ShareLine]] = {}
    for line in _ratio_lines(rows, "noise"):
        lines.setdefault(line.measure, {})[line.axis] = line
    return drawings.ridges([(noise, [found["delete"], found["add"]]) for noise, found in lines.items()])


def _pairs(rows: Rows) -> Figure:
    axes = list(dict.fromkeys(name for row in rows for name in row if "." in name))
    planes = {}
    for x, y in itertools.combinations(axes, 2):
        found = [row for row in rows if x in row and y in row]
        planes[y, x] = _plane(found, y, x)
    return drawings.pair_grid(axes, planes)


def _rules(rows: Rows) -> Figure:
    found = matching(rows, measure="difference of certified ratios")
    counts, values = _grid(found, "add", "delete")
    grid = ShareGrid(("add", "delete"), counts, np.zeros_like(values), CERTIFIED_RATIO, of=int(found[0]["inputs"]))
    return drawings.differences(grid, values, "certified ratio, multi-class - two-class")


def _accuracies(rows: Rows) -> Figure:
    panels = {}
    for noisy in dict.fromkeys(row["noisy"] for row in rows):
        found = matching(rows, noisy=noisy)
        p_plus, p_minus = (sorted({row[name] for row in found}) for name in ("p_plus", "p_minus"))
        values = np.array(
            [[np.mean([row["value"] for row in matching(found, p_plus=p, p_minus=q)]) for q in p_minus] for p in p_plus]
        )
        panels[f"noise on {noisy}"] = ([f"{p:g}" for p in p_plus], [f"{q:g}" for q in p_minus], values)
    return drawings.cells(panels, ("p_plus", "p_minus"))


def _copies(rows: Rows) -> Figure:
    """How much more is certified than for a model trained without noise, with the same seeds."""
    panels: dict[str, dict[str, tuple[Sequence[int], np.ndarray]]] = {}
    ratios = matching(rows, measure=CERTIFIED_RATIO)
    for axis in dict.fromkeys(row["along"] for row in ratios):
        for copies in sorted({row["noisy_samples"] for row in ratios}):
            seeds = {row["seed"] for row in matching(ratios, noisy_samples=copies)}
            same = [row for row in ratios if row["along"] == axis and row["seed"] in seeds]
            ends = max((int(row["radius"]) for row in same if row["value"]), default=0)
            radii = range(ends + 2)
            line, base = (_means(matching(same, noisy_samples=m), radii) for m in (copies, 0))
            panels.setdefault(str(axis), {})[f"m = {copies}"] = (radii, line - base)
    return drawings.shaded_lines(panels, "difference of certified ratios to m = 0")


def _means(rows: Rows, radii: range) -> np.ndarray:
    return np.array([np.mean([row["value"] for row in matching(rows, radius=radius)]) for radius in radii])


def _compared(rows: Rows) -> Figure:
    return plot_rows({**row, "certified_ratio": row["value"]} for row in rows)


def _efficiency(rows: Rows) -> Figure:
    """Our cost over the radius, with additions and deletions; theirs over the dimension, beside ours for one task."""
    panels: dict[tuple[str, str], dict[str, tuple[list[float], list[float]]]] = {}
    theirs = lee_dimensions(rows)
    ours = matching(rows, system="flipproof", noise="(0.2, 0.4)")
    for measure in ("regions", "seconds"):
        panels["radius (add = delete)", measure] = {
            f"K = {k}": _points(matching(ours, measure=measure, categories=k), "radius")
            for k in sorted({row["categories"] for row in ours})
        }
    x, y = _points(theirs, "entries")
    same = {name: theirs[0][name] for name in ("noise", "radius", "categories")}
    flat = matching(rows, system="flipproof", measure="seconds", **same)[0]["value"]
    words = f"K = {same['categories']}, r = {same['radius']}"
    panels["entries d", "seconds"] = {f"Lee et al., {words}": (x, y), f"this method, {words}": (x, [flat] * len(x))}
    return drawings.growth(panels)


def _points(rows: Rows, over: str) -> tuple[list[float], list[float]]:
    ordered = sorted(rows, key=lambda row: row[over])
    return [row[over] for row in ordered], [row["value"] for row in ordered]


_DRAWN: dict[str, Callable[[Rows], Figure]] = {
    "heatmap": _heatmap,
    "tradeoffs": _ridges,
    "models-attributes": _lines("model"),
    "models-structure": _lines("model"),
    "models-deletion": _lines("model"),
    "joint": _joint,
    "joint-pairs": _pairs,
    "pubmed": _one_line,
    "mnist": lambda rows: _lines("ones", "noise")([{**row, "ones": f"pixels > {row['threshold']}"} for row in rows]),
    "mutag": _one_line,
    "training": _copies,
    "clean-accuracy": _accuracies,
    "rules": _rules,
    "compare-gcn": _compared,
    "compare-ppnp": _compared,
    "efficiency": _efficiency,
}
"""The drawing functions by experiment name; tables have none."""
