"""Contours around the cells of a heatmap: where shares cross some levels, with labels that do not overlap."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from flipproof.base.values import BoolArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar

_LEVELS = {0.3: "white", 0.5: "white", 0.7: "black", 0.9: "black"}
"""Where contours run, and what shows on the colours around them."""

_APART = 0.1
"""The least distance between labels on contours, as a fraction of the frame."""


def draw_contours(axes: Axes, colorbar: Colorbar, shares: FloatArray) -> None:
    """Lines around the cells whose shares reach each level, if not all or none do; the colour bar shows them too."""
    reached = {level: shares >= level for level in _LEVELS}
    levels = [level for level, above in reached.items() if above.any() and not above.all()]
    for level in levels:
        axes.contour(*_outlined(reached[level]), levels=[0.5], colors=_LEVELS[level], linewidths=0.8)
        colorbar.ax.axhline(level, color=_LEVELS[level], linewidth=0.8)
    for text, level, point in _labels(reached, levels):
        frame = {"boxstyle": "square,pad=0.1", "facecolor": colorbar.cmap(level), "edgecolor": "none"}
        axes.text(*point, text, color=_LEVELS[level], fontsize=6, ha="center", va="center", bbox=frame)


def _outlined(above: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Plateaus with steep sides, so that contours follow the cells: there are no shares at fractions of a change."""
    rows, columns = (np.repeat(np.arange(n), 2) + np.tile([-0.499, 0.499], n) for n in above.shape)
    return columns, rows, above.repeat(2, axis=0).repeat(2, axis=1).astype(np.float64)


def _labels(
    reached: Mapping[float, BoolArray], levels: Sequence[float]
) -> Iterator[tuple[str, float, tuple[float, float]]]:
    """The labels of contours: text, highest level and (x, y). Contours in the same place share a label."""
    placed: list[FloatArray] = []
    for _, group in itertools.groupby(levels, key=lambda level: reached[level].tobytes()):
        low, *higher = group
        text = f"{low} to {higher[-1]}" if higher else f"{low}"
        point = _free_point(_border(reached[low]), reached[low].shape, placed)
        if point is not None:
            placed.append(point)
            yield text, [low, *higher][-1], (float(point[0]), float(point[1]))


def _border(above: BoolArray) -> FloatArray:
    """The midpoints [edges, (x, y)] of all edges between a cell inside and a cell outside."""
    y, x = np.nonzero(above[:, 1:] != above[:, :-1])
    upright = np.stack([x + 0.5, y], axis=1)
    y, x = np.nonzero(above[1:] != above[:-1])
    return np.concatenate([upright, np.stack([x, y + 0.5], axis=1)])


def _free_point(points: FloatArray, shape: tuple[int, ...], placed: Sequence[FloatArray]) -> FloatArray | None:
    """The point nearest to the diagonal that is not close to the frame or to another label."""
    size = np.array(shape[::-1])
    x, y = (points.T + 0.5) / size[:, None]
    free = (np.minimum(x, y) > _APART / 3) & (np.maximum(x, y) < 1 - _APART / 3)
    for other in placed:
        free &= np.linalg.norm((points - other) / size, axis=1) > _APART
    if not free.any():
        return None
    nearest: FloatArray = points[free][np.abs(x - y)[free].argmin()]
    return nearest
