"""Figures that a notebook shows: pyplot, which would see to it, has no part in them. This module needs matplotlib."""

from __future__ import annotations

from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure that a notebook shows as a picture when a cell ends with it."""

    def _repr_png_(self) -> bytes:
        from flipproof.report.figures.figures import rendered  # it makes these figures

        return rendered(self, "png")
