"""Figures of certificates in one call: what `Certificates.plot_heatmap` and `plot_lines` do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from flipproof.base.arguments import checked_count
from flipproof.errors import InvalidInputError, not_among
from flipproof.report.figures import figures
from flipproof.report.findings import Findings
from flipproof.smoothing.certificates import Certificates

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_MOST_HELD = 28
"""Arrays have no more dimensions than 32 everywhere."""


def plot_heatmap(
    certificates: Certificates,
    y: str | None = None,
    x: str | None = None,
    held: Mapping[str, int] | None = None,
    true_labels: ArrayLike | None = None,
) -> Figure:
    """The certified ratio over two axes, or the certified accuracy if true labels are given."""
    found = Findings(certificates)
    y, x, fixed = _chosen(list(found.axes), y, x, held or {})
    if len(fixed) > _MOST_HELD:
        raise InvalidInputError(f"expected at most {_MOST_HELD + 2} axes to draw, got {len(fixed) + 2}; see plot_lines")
    return figures.heatmap(found.grid_of(found.counts_beside(fixed), true_labels).plane(y, x, fixed))


def _chosen(
    names: Sequence[str], y: str | None, x: str | None, held: Mapping[str, int]
) -> tuple[str, str, dict[str, int]]:
    """The two axes of a picture, by default the first two that are free, and the counts of all others."""
    for axis in (y, x, *held):
        if axis is not None and axis not in names:
            raise not_among("axis", names, axis)
    free = [name for name in names if name not in (y, x, *held)]
    y = free.pop(0) if y is None and free else y
    x = free.pop(0) if x is None and free else x
    if y is None or x is None or y == x or y in held or x in held:
        raise InvalidInputError(
            f"expected two different axes that are not held, got {y} and {x} with {dict(held)} held"
        )
    return y, x, {name: checked_count(held.get(name, 0), name) for name in names if name not in (y, x)}


def plot_lines(certificates: Certificates, true_labels: ArrayLike | None = None) -> Figure:
    """The certified ratio along every axis, and the certified accuracy if true labels are given."""
    found = Findings(certificates)
    return figures.lines(found.lines_of() + (() if true_labels is None else found.lines_of(true_labels)))
