"""Figures of certificates in one call: what `Certificates.plot_heatmap` and `plot_lines` do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from flipproof.errors import InvalidInputError, not_among
from flipproof.report import figures
from flipproof.report.shares import (
    GridCounts,
    ShareGrid,
    accuracy_grid,
    accuracy_lines,
    grid_counts,
    ratio_grid,
    ratio_lines,
)
from flipproof.smoothing.certificates import Certificates
from flipproof.theory.radii import axes_of, checked_count

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_heatmap(
    certificates: Certificates,
    y: str | None = None,
    x: str | None = None,
    held: Mapping[str, int] | None = None,
    true_labels: ArrayLike | None = None,
) -> Figure:
    """The certified ratio over two axes, or the certified accuracy if true labels are given."""
    names = [str(axis) for axis in axes_of(certificates.noise)]
    for axis in (y, x, *(held or {})):
        if axis is not None and axis not in names:
            raise not_among("axis", names, axis)
    y = y or next(name for name in names if name != x and name not in (held or {}))
    others = [name for name in names if name != y and name not in (held or {})]
    if x is None and not others:
        raise InvalidInputError(f"expected two axes that are not held, got {y} alone")
    x = x or others[0]
    if x == y:
        raise InvalidInputError(f"expected two different axes, got {y} twice")
    fixed = {name: checked_count((held or {}).get(name, 0), name) for name in names if name not in (y, x)}
    counts = tuple(
        (fixed[name],) if name in fixed else along for name, along in zip(names, grid_counts(certificates), strict=True)
    )
    return figures.heatmap(_grid(certificates, counts, true_labels).plane(y, x, fixed))


def _grid(certificates: Certificates, counts: GridCounts, true_labels: ArrayLike | None) -> ShareGrid:
    if true_labels is None:
        return ratio_grid(certificates, counts)
    return accuracy_grid(certificates, true_labels, counts)


def plot_lines(certificates: Certificates, true_labels: ArrayLike | None = None) -> Figure:
    """The certified ratio along every axis, and the certified accuracy if true labels are given."""
    lines = ratio_lines(certificates)
    if true_labels is not None:
        lines += accuracy_lines(certificates, true_labels)
    return figures.lines(lines)
