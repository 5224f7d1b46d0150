"""Figure types that only the paper's experiments need. Each function turns numbers into one figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flipproof.base.values import FloatArray
from flipproof.report.figures.figures import FONT_SIZE, LINE_STYLES, WIDTH, add_legend, fix_layout, new_figure, style
from flipproof.report.shares import ShareGrid, ShareLine

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FILLS = (("#0072B2", None), ("#E69F00", "////"))
_SHADES = "cividis_r"
_TWO_SIDED = "PuOr"
_SMALL = 6


def ridges(rows: Sequence[tuple[str, Sequence[ShareLine]]]) -> Figure:
    """Low panels stacked vertically, each with shares over the radius as filled steps, one fill per axis."""
    with style():
        figure = new_figure(0.55 * len(rows) + 0.9)
        panels = figure.subplots(len(rows), 1, sharex=True, sharey=True, squeeze=False).ravel()
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
        fix_layout(figure)
    return figure


def pair_grid(axes: Sequence[str], planes: Mapping[tuple[str, str], ShareGrid]) -> Figure:
    """A grid of panels: shares over every pair of axes below the diagonal, and along each single axis on it.

    Args:
        axes: the names of the axes.
        planes: the shares by (y, x), where x comes before y in `axes`.
    """
    size = len(axes)
    with style():
        figure = new_figure(1.15 * size, 1.3 * size + 0.4)
        panels: Any = figure.subplots(size, size, squeeze=False)
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
        fix_layout(figure)
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
    with style():
        figure = new_figure(2.6)
        axes = figure.subplots()
        image = axes.imshow(values, cmap=_TWO_SIDED, vmin=-most, vmax=most, origin="lower", aspect="auto")
        axes.set(ylabel=f"{grid.axes[0]} radius", xlabel=f"{grid.axes[1]} radius")
        figure.colorbar(image, label=label)
        fix_layout(figure)
    return figure


def cells(panels: Mapping[str, tuple[Sequence[str], Sequence[str], FloatArray]], names: tuple[str, str]) -> Figure:
    """Tables whose cells show numbers and are coloured by them.

    Args:
        panels: by title: the row labels, the column labels, and the numbers in the cells.
        names: the names of rows and columns.
    """
    numbers = np.concatenate([values.ravel() for _, _, values in panels.values()])
    with style():
        figure = new_figure(1.3 * len(panels) + 0.4)
        below = figure.subplots(len(panels), 1, squeeze=False).ravel()
        for panel, (title, (rows, columns, values)) in zip(below, panels.items(), strict=True):
            panel.imshow(values, cmap=_SHADES, vmin=numbers.min(), vmax=numbers.max(), origin="lower", aspect="auto")
            panel.set_yticks(range(len(rows)), rows)
            panel.set_xticks(range(len(columns)), columns)
            panel.set(title=title, ylabel=names[0], xlabel=names[1])
            middle = (numbers.min() + numbers.max()) / 2
            for (i, j), value in np.ndenumerate(values):
                color = "white" if value > middle else "black"
                panel.text(j, i, f"{value:.3f}", ha="center", va="center", fontsize=_SMALL, color=color)
        fix_layout(figure)
    return figure


def shaded_lines(panels: Mapping[str, Mapping[str, tuple[Sequence[int], FloatArray]]], ylabel: str) -> Figure:
    """Lines around zero over the radius, later ones darker; the first is a dashed zero line."""
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    with style():
        figure = new_figure(0.2 * len(names) + 1.9)
        for panel, (axis, lines) in zip(
            figure.subplots(1, len(panels), sharey=True, squeeze=False).ravel(), panels.items(), strict=True
        ):
            for name, (counts, heights) in lines.items():
                shade = names.index(name) / max(1, len(names) - 1)
                color = _colour(shade)
                dash = "--" if not heights.any() else "-"
                panel.plot(counts, heights, color=color, linestyle=dash, label=name, linewidth=1.1)
            panel.set(xlabel=f"{axis} radius")
            panel.locator_params(axis="x", integer=True)
        figure.supylabel(ylabel, fontsize=FONT_SIZE)
        add_legend(figure)
        fix_layout(figure)
    return figure


def _colour(shade: float) -> tuple[float, float, float, float]:
    from matplotlib import colormaps

    red, green, blue, alpha = colormaps[_SHADES](0.15 + 0.85 * shade)
    return (red, green, blue, alpha)


def growth(panels: Mapping[tuple[str, str], Mapping[str, tuple[Sequence[float], Sequence[float]]]]) -> Figure:
    """Lines on logarithmic axes, with one panel per (x label, y label)."""
    with style():
        figure = new_figure(1.9 * len(panels) + 0.6, WIDTH)
        below = figure.subplots(len(panels), 1, squeeze=False).ravel()
        for panel, ((xlabel, ylabel), lines) in zip(below, panels.items(), strict=True):
            for (name, (x, y)), (color, dash) in zip(lines.items(), LINE_STYLES, strict=False):
                panel.plot(x, y, color=color, linestyle=dash, marker=".", markersize=4, label=name)
            panel.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
            for side in (panel.xaxis, panel.yaxis):
                side.set_major_formatter("{x:g}")
                side.set_minor_formatter(lambda value, place: "")
            panel.legend(frameon=False)
        fix_layout(figure)
    return figure
