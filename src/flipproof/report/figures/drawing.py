"""How all figures look, and the packages that draw them: matplotlib for files, plotly for pages.

Nothing is drawn through pyplot, and the settings of the user's matplotlib neither matter nor change.
"""

from __future__ import annotations

import io
import textwrap
from typing import TYPE_CHECKING, Any

from flipproof.extras import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 3.4
"""Inches: one column of a paper."""

FONT_SIZE = 8

_LETTERS = 56
"""The most letters in a line of a legend."""

_PNG_DPI = 200
_SVG_DPI = 300

_STYLE = {
    "font.size": FONT_SIZE,
    "axes.labelsize": FONT_SIZE,
    "axes.titlesize": FONT_SIZE,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.4,
    "hatch.linewidth": 0.6,
    "text.parse_math": False,  # names are the user's: `$` and `_` are letters
    "svg.fonttype": "none",
    "svg.hashsalt": "flipproof",
}

LINE_STYLES = (
    ("#0072B2", "-"),
    ("#D55E00", (0, (4, 1.5))),
    ("#009E73", "-."),
    ("#CC79A7", (0, (1, 1))),
    ("#000000", (0, (6, 1.5, 1, 1.5, 1, 1.5))),
    ("#E69F00", (0, (2, 1))),
    ("#56B4E9", (0, (8, 2))),
)
"""The colours of Okabe and Ito, which colour-blind people can tell apart, each with its own dash."""


def rendered(figure: Figure, kind: str) -> bytes:
    """The figure as the bytes of a "png" or "svg" file; equal figures have equal bytes."""
    stream = io.BytesIO()
    with style():
        if kind == "png":
            figure.savefig(stream, format=kind, dpi=_PNG_DPI)
        else:
            figure.savefig(stream, format=kind, dpi=_SVG_DPI, metadata={"Date": None})
    return stream.getvalue()


def style() -> Any:
    """A context in which matplotlib has its defaults and our settings."""
    return require("matplotlib.style").context(["default", _STYLE])


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """An empty figure, in inches."""
    figure: Figure = require("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")
    return figure


def plotly_script() -> str:
    """The script that draws the figures of a page, as it can stand inside of HTML."""
    script: str = require("plotly.offline").get_plotlyjs()
    return script.replace("</script", "<\\/script")


def fix_layout(figure: Figure) -> None:
    """Lays the figure out once, so that it looks the same however often it is drawn."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def add_legend(figure: Figure) -> None:
    """A legend above the panels with one entry per label."""
    handles: dict[str, Any] = {}
    for panel in figure.axes:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    words = [textwrap.fill(label, _LETTERS) for label in handles]
    figure.legend(list(handles.values()), words, loc="outside upper center", frameon=False, ncols=1)
