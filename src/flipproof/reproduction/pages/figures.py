"""The figures of the paper's experiments, each drawn from the rows of its experiment alone."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flipproof.base.values import FloatArray
from flipproof.report.figures import figures
from flipproof.report.figures.compared import plot_rows
from flipproof.report.figures.figures import FONT_SIZE, LINE_STYLES, WIDTH, add_legend, fix_layout, new_figure, style
from flipproof.report.report_files import save_figure as write_figure
from flipproof.report.shares import CERTIFIED_RATIO, ShareGrid, ShareLine
from flipproof.reproduction.pages.rows import Row, Rows, matching, summarised, values
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


def _joint(rows: Rows) -> Figure:
    """A panel for each of the four radii, with noise on both parts and on one part alone."""
    named = []
    for row in matching(rows, measure=CERTIFIED_RATIO):
        along = row["along"] if "." in row["along"] else f"{row['noisy']}.{row['along']}"
        named.append({**row, "where": f"noise on {row['noisy']}", "along": along})
    return figures.lines(_ratio_lines(named, "where"))


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
    return ridges([(noise, [found["delete"], found["add"]]) for noise, found in lines.items()])


def _pairs(rows: Rows) -> Figure:
    axes = list(dict.fromkeys(name for row in rows for name in row if "." in name))
    planes = {}
    for x, y in itertools.combinations(axes, 2):
        found = [row for row in rows if x in row and y in row]
        planes[y, x] = _plane(found, y, x)
    return pair_grid(axes, planes)


def _rules(rows: Rows) -> Figure:
    found = matching(rows, measure="difference of certified ratios")
    counts, values = _grid(found, "add", "delete")
    grid = ShareGrid(("add", "delete"), counts, np.zeros_like(values), CERTIFIED_RATIO, of=int(found[0]["inputs"]))
    return differences(grid, values, "certified ratio, multi-class - two-class")


def _accuracies(rows: Rows) -> Figure:
    panels = {}
    for noisy in dict.fromkeys(row["noisy"] for row in rows):
        found = matching(rows, noisy=noisy)
        p_plus, p_minus = (sorted({row[name] for row in found}) for name in ("p_plus", "p_minus"))
        values = np.array(
            [[np.mean([row["value"] for row in matching(found, p_plus=p, p_minus=q)]) for q in p_minus] for p in p_plus]
        )
        panels[f"noise on {noisy}"] = ([f"{p:g}" for p in p_plus], [f"{q:g}" for q in p_minus], values)
    return cells(panels, ("p_plus", "p_minus"))


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
            line, base = (
                np.array([np.mean(values(same, noisy_samples=m, radius=radius)) for radius in radii])
                for m in (copies, 0)
            )
            panels.setdefault(str(axis), {})[f"m = {copies}"] = (radii, line - base)
    return shaded_lines(panels, "difference of certified ratios to m = 0")


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
    return growth(panels)


def _points(rows: Rows, over: str) -> tuple[list[float], list[float]]:
    ordered = sorted(rows, key=lambda row: row[over])
    return [row[over] for row in ordered], [row["value"] for row in ordered]


_DRAWN: dict[str, Callable[[Rows], Figure]] = {
    "heatmap": lambda rows: figures.heatmap(_plane(matching(rows, measure=CERTIFIED_RATIO), "add", "delete")),
    "tradeoffs": _ridges,
    "models-attributes": _lines("model"),
    "models-structure": _lines("model"),
    "models-deletion": _lines("model"),
    "joint": _joint,
    "joint-pairs": _pairs,
    "pubmed": _lines("dataset"),
    "mnist": lambda rows: _lines("ones", "noise")([{**row, "ones": f"pixels > {row['threshold']}"} for row in rows]),
    "mutag": _lines("dataset"),
    "training": _copies,
    "clean-accuracy": _accuracies,
    "rules": _rules,
    "compare-gcn": lambda rows: plot_rows({**row, "certified_ratio": row["value"]} for row in rows),
    "compare-ppnp": lambda rows: plot_rows({**row, "certified_ratio": row["value"]} for row in rows),
    "efficiency": _efficiency,
}
"""The drawing functions by experiment name; tables have none."""


if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FILLS = (("#0072B2", None), ("#E69F00", "////"))
_SHADES = "cividis_r"
_TWO_SIDED = "PuOr"
_SMALL = 6


@contextlib.contextmanager
def _panels(
    height: float, down: int = 1, across: int = 1, width: float = WIDTH, **shared: Any
) -> Iterator[tuple[Figure, Any]]:
    """A figure in our style and its panels [down, across], laid out at the end."""
    with style():
        figure = new_figure(height, width)
        yield figure, figure.subplots(down, across, squeeze=False, **shared)
        fix_layout(figure)


def ridges(rows: Sequence[tuple[str, Sequence[ShareLine]]]) -> Figure:
    """Low panels stacked vertically, each with shares over the radius as filled steps, one fill per axis."""
    with _panels(0.55 * len(rows) + 0.9, len(rows), sharex=True, sharey=True) as (figure, below):
        panels = below.ravel()
        for panel, (name, lines) in zip(panels, rows, strict=True):
            for (color, hatch), line in zip(_FILLS, lines, strict=False):
                panel.fill_between(
                    line.counts, line.shares, step="mid", facecolor=f"{color}80", edgecolor=color, hatch=hatch,
                    linewidth=0.8, label=f"{line.axis} radius",
                )  # fmt: skip
            panel.text(0.98, 0.85, name, transform=panel.transAxes, ha="right", va="top", fontsize=FONT_SIZE - 1)
            panel.spines[["top", "right"]].set_visible(False)
            panel.set(ylim=(0, 1.03), yticks=(0, 1))
        panels[-1].set(xlabel="radius", xlim=(0, max(line.counts[-1] for _, lines in rows for line in lines)))
        figure.supylabel("certified ratio", fontsize=FONT_SIZE)
        add_legend(figure)
    return figure


def pair_grid(axes: Sequence[str], planes: Mapping[tuple[str, str], ShareGrid]) -> Figure:
    """A grid of panels: shares over every pair of axes below the diagonal, and along each single axis on it.

    Args:
        axes: the names of the axes.
        planes: the shares by (y, x), where x comes before y in `axes`.
    """
    size = len(axes)
    with _panels(1.15 * size, size, size, width=1.3 * size + 0.4) as (figure, panels):
        image = None
        for i, j in np.ndindex(size, size):
            panel, y, x = panels[i, j], axes[i], axes[j]
            if i < j:
                panel.remove()
                continue
            if i == j:
                _alone(panel, x, planes)
            else:
                shares = planes[y, x].shares
                image = panel.imshow(shares, cmap="cividis", vmin=0, vmax=1, origin="lower", aspect="auto")
            panel.locator_params(axis="x" if i == j else "both", integer=True, nbins=5)
            panel.set(xlabel=x if i == size - 1 else "", ylabel=("ratio" if i == 0 else y) if j == 0 else "")
            panel.tick_params(labelbottom=i == size - 1, labelleft=j == 0 or i == j)
        if image is not None:
            figure.colorbar(image, ax=figure.axes, label="certified ratio", shrink=0.6)
    return figure


def _alone(panel: Axes, axis: str, planes: Mapping[tuple[str, str], ShareGrid]) -> None:
    for (y, x), plane in planes.items():
        if axis in (y, x):
            shares = plane.shares[:, 0] if axis == y else plane.shares[0]
            panel.plot(range(shares.size), shares, drawstyle="steps-mid", color=LINE_STYLES[0][0])
            panel.set(xlim=(-0.5, shares.size - 0.5), ylim=(0, 1.03), yticks=(0, 0.5, 1))
            return


def differences(grid: ShareGrid, values: FloatArray, label: str) -> Figure:
    """Numbers around zero over two radii: one hue for positive, another for negative, white for zero."""
    most = float(np.abs(values).max()) or 1.0
    with _panels(2.6) as (figure, panels):
        axes = panels[0, 0]
        image = axes.imshow(values, cmap=_TWO_SIDED, vmin=-most, vmax=most, origin="lower", aspect="auto")
        axes.set(ylabel=f"{grid.axes[0]} radius", xlabel=f"{grid.axes[1]} radius")
        figure.colorbar(image, label=label)
    return figure


def cells(panels: Mapping[str, tuple[Sequence[str], Sequence[str], FloatArray]], names: tuple[str, str]) -> Figure:
    """Tables whose cells show numbers and are coloured by them.

    Args:
        panels: by title: the row labels, the column labels, and the numbers in the cells.
        names: the names of rows and columns.
    """
    numbers = np.concatenate([values.ravel() for _, _, values in panels.values()])
    with _panels(1.3 * len(panels) + 0.4, len(panels)) as (figure, below):
        for panel, (title, (rows, columns, values)) in zip(below.ravel(), panels.items(), strict=True):
            panel.imshow(values, cmap=_SHADES, vmin=numbers.min(), vmax=numbers.max(), origin="lower", aspect="auto")
            panel.set_yticks(range(len(rows)), rows)
            panel.set_xticks(range(len(columns)), columns)
            panel.set(title=title, ylabel=names[0], xlabel=names[1])
            middle = (numbers.min() + numbers.max()) / 2
            for (i, j), value in np.ndenumerate(values):
                color = "white" if value > middle else "black"
                panel.text(j, i, f"{value:.3f}", ha="center", va="center", fontsize=_SMALL, color=color)
    return figure


def shaded_lines(panels: Mapping[str, Mapping[str, tuple[Sequence[int], FloatArray]]], ylabel: str) -> Figure:
    """Lines around zero over the radius, later ones darker; the first is a dashed zero line."""
    from matplotlib import colormaps

    names, shades = list(dict.fromkeys(name for lines in panels.values() for name in lines)), colormaps[_SHADES]
    with _panels(0.2 * len(names) + 1.9, 1, len(panels), sharey=True) as (figure, beside):
        for panel, (axis, lines) in zip(beside.ravel(), panels.items(), strict=True):
            for name, (counts, heights) in lines.items():
                shade = names.index(name) / max(1, len(names) - 1)
                dash = "--" if not heights.any() else "-"
                panel.plot(
                    counts, heights, color=shades(0.15 + 0.85 * shade), linestyle=dash, label=name, linewidth=1.1
                )
            panel.set(xlabel=f"{axis} radius")
            panel.locator_params(axis="x", integer=True)
        figure.supylabel(ylabel, fontsize=FONT_SIZE)
        add_legend(figure)
    return figure


def growth(panels: Mapping[tuple[str, str], Mapping[str, tuple[Sequence[float], Sequence[float]]]]) -> Figure:
    """Lines on logarithmic axes, with one panel per (x label, y label)."""
    with _panels(1.9 * len(panels) + 0.6, len(panels)) as (figure, below):
        for panel, ((xlabel, ylabel), lines) in zip(below.ravel(), panels.items(), strict=True):
            for (name, (x, y)), (color, dash) in zip(lines.items(), LINE_STYLES, strict=False):
                panel.plot(x, y, color=color, linestyle=dash, marker=".", markersize=4, label=name)
            panel.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
            for side in (panel.xaxis, panel.yaxis):
                side.set_major_formatter("{x:g}")
                side.set_minor_formatter(lambda value, place: "")
            panel.legend(frameon=False)
    return figure
