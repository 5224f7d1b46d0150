"""Figures of shares and bounds, and how all figures look: matplotlib draws files, plotly draws pages.

Nothing is drawn through pyplot, and the settings of the user's matplotlib neither matter nor change.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flipproof.base.values import FloatArray, checked_count
from flipproof.errors import InvalidInputError, not_among
from flipproof.extras import require
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.figures.contours import draw_contours
from flipproof.report.shares import ShareGrid, ShareLine
from flipproof.smoothing.certificates import Certificates

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
    require("matplotlib")
    from flipproof.report.figures.shown import ShownFigure  # matplotlib is optional

    return ShownFigure(figsize=(width, height), layout="constrained")


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


_WIDE, _NARROW = 36, 24
"""The most letters in a line beside a large and beside a small panel."""

_CERTIFIED, _ABSTAINED, _CAP = "#0072B2", "#E69F00", "#555555"


def heatmap(plane: ShareGrid, ax: Any = None) -> Figure:
    """Shares over two axes as colours, with contours where they cross 0.3, 0.5, 0.7 and 0.9.

    They are drawn into given axes, in the style of their owner, or into a new figure.
    """
    if len(plane.axes) != 2:
        raise InvalidInputError(f"expected a plane of two axes, got {', '.join(plane.axes)}; choose two with plane")
    if ax is not None:
        (axes,) = given_axes(ax, 1, plane.axes)
        _draw_plane(axes, plane)
        return figure_of(axes)
    with style():
        figure = new_figure(2.6)
        _draw_plane(figure.subplots(), plane)
        fix_layout(figure)
    return figure


def _draw_plane(axes: Axes, plane: ShareGrid) -> None:
    image = axes.imshow(plane.shares, cmap="cividis", vmin=0, vmax=1, origin="lower", aspect="auto")
    _label_counts(axes, plane)
    label = textwrap.fill(_inputs(plane.measure, plane.of), _WIDE)
    colorbar = figure_of(axes).colorbar(image, ax=axes, label=label, ticks=np.linspace(0, 1, 6))
    draw_contours(axes, colorbar, plane.shares)


def lines(lines: Sequence[ShareLine], ax: Any = None) -> Figure:
    """Shares with a panel for each axis; measures differ in colour and dash, and a dotted line marks the cap."""
    if not lines:
        raise InvalidInputError("expected at least one line, got none")
    names = list(dict.fromkeys(line.axis for line in lines))
    measures = list(dict.fromkeys(_inputs(line.measure, line.of) for line in lines))
    if ax is not None:
        return _lines_into(ax, lines, names, measures)
    columns = min(2, len(names))
    rows = -(-len(names) // columns)
    with style():
        figure = new_figure(0.2 * len(measures) + 1.6 * rows + 0.2)
        panels = figure.subplots(rows, columns, sharey=True, squeeze=False).ravel()
        for name, panel in zip(names, panels, strict=False):
            _panel(panel, [line for line in lines if line.axis == name], measures)
        for panel in panels[len(names) :]:
            panel.remove()
        figure.supylabel("share of inputs", fontsize=FONT_SIZE)
        add_legend(figure)
        fix_layout(figure)
    return figure


def _lines_into(ax: Any, lines: Sequence[ShareLine], names: Sequence[str], measures: Sequence[str]) -> Figure:
    """Shares in given axes, in the style of their owner: a panel for each axis, or one panel for all of them."""
    panels = given_axes(ax, len(names), names)
    if len(panels) == len(names):
        for name, panel in zip(names, panels, strict=True):
            _panel(panel, [line for line in lines if line.axis == name], measures)
    else:
        together = [replace(line, measure=f"{line.measure}, {line.axis}") for line in lines]
        _panel(panels[0], together, [_inputs(line.measure, line.of) for line in together])
        panels[0].set_xlabel("radius")
    panels[0].set_ylabel("share of inputs")
    handles, labels = panels[0].get_legend_handles_labels()
    entries = dict(zip(labels, handles, strict=True))
    panels[0].legend(entries.values(), entries.keys())
    return figure_of(panels[0])


def given_axes(given: Any, count: int, names: Sequence[str]) -> list[Axes]:
    """The matplotlib axes that a user gave: one, or a list of them with one for each of these names."""
    kind = require("matplotlib.axes").Axes
    axes = [given] if isinstance(given, kind) else list(np.ravel(np.asarray(given, dtype=object)))
    wrong = [type(each).__name__ for each in axes if not isinstance(each, kind)]
    if wrong or len(axes) not in (1, count):
        several = f", or {count} in a list, for {', '.join(names)}" if count > 1 else ""
        raise InvalidInputError(f"expected ax to be matplotlib axes{several}, got {wrong[0] if wrong else len(axes)}")
    return axes


def figure_of(axes: Axes) -> Figure:
    """The figure that axes are a part of."""
    figure: Any = axes.figure
    whole: Figure = figure if isinstance(figure, require("matplotlib.figure").Figure) else figure.figure  # of a part
    return whole


def bounds(p_lower: ArrayLike, abstained: ArrayLike) -> Figure:
    """A histogram of the lower bounds on the predictions' probabilities, on a logarithmic scale."""
    p, left_out = np.asarray(p_lower, dtype=np.float64), np.asarray(abstained)
    if p.ndim != 1 or not p.size or left_out.shape != p.shape or left_out.dtype != np.bool_:
        raise InvalidInputError(
            f"expected p_lower and a mask of abstained inputs, got shapes {p.shape} and {left_out.shape}"
        )
    if not ((p >= 0.0) & (p <= 1.0)).all():
        raise InvalidInputError(f"expected p_lower in [0, 1], got {p.min()} to {p.max()}")
    with style():
        figure = new_figure(2.0)
        axes = figure.subplots()
        _histogram(axes, p[~left_out], p[left_out])
        axes.set(xlabel="p_lower, bound on the prediction's probability", ylabel="inputs", xlim=(0, 1))
        add_legend(figure)
        fix_layout(figure)
    return figure


def _inputs(measure: str, of: int) -> str:
    return f"{measure} ({of:,} input{'s' if of != 1 else ''})"


def _axis_label(axis: str, width: int) -> str:
    return textwrap.fill(f"{axis} radius", width)


def _label_counts(axes: Axes, plane: ShareGrid) -> None:
    """Names at the axes, counts at the ticks, and the axes held fixed in the title."""
    for side, name, counts in zip((axes.yaxis, axes.xaxis), plane.axes, plane.counts, strict=True):
        side.set_label_text(_axis_label(name, _WIDE))
        step = next((step for step in (1, 2, 5, 10) if len(counts) <= 10 * step), len(counts))
        positions = range(0, len(counts), step)
        side.set_ticks(positions, [str(counts[position]) for position in positions])
    held = [f"{axis} = {count}" for axis, count in plane.held if count]
    if plane.held:
        others = [] if len(held) == len(plane.held) else ["others 0" if held else "other radii 0"]
        axes.set_title(textwrap.fill(", ".join([*held, *others]), _WIDE))


def _panel(panel: Axes, lines: Sequence[ShareLine], measures: Sequence[str]) -> None:
    for line in lines:
        label = _inputs(line.measure, line.of)
        color, dash = LINE_STYLES[measures.index(label) % len(LINE_STYLES)]
        panel.plot(line.counts, line.shares, color=color, linestyle=dash, drawstyle="steps-mid", label=label)
    last = max(line.counts[-1] for line in lines)
    for cap in sorted({line.cap for line in lines if line.cap <= last}):
        panel.axvline(cap, color=_CAP, linestyle=":", linewidth=1, label="most that the samples allow")
    label = _axis_label(lines[0].axis, _NARROW)
    panel.set(xlabel=label, xlim=(0, last), ylim=(0, 1.03), yticks=np.linspace(0, 1, 5))
    panel.locator_params(axis="x", integer=True)


def _histogram(axes: Axes, certified: FloatArray, abstained: FloatArray) -> None:
    """Certified and abstained inputs; the scale is logarithmic because most bounds are close to 1."""
    bins = np.linspace(0, 1, 51).tolist()
    axes.hist(certified, bins=bins, color=_CERTIFIED, label=_inputs("certified", certified.size))
    axes.hist(
        abstained,
        bins=bins,
        histtype="step",
        color=_ABSTAINED,
        hatch="/////",
        label=_inputs("abstained", abstained.size),
    )
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(0.7, max(10.0, axes.get_ylim()[1]))  # on less than a decade, ticks would be labelled with formulas


_MOST_HELD = 28
"""numpy allows 32 dimensions in all of its versions that we support."""


def plot_heatmap(
    certificates: Certificates,
    y: str | None = None,
    x: str | None = None,
    held: Mapping[str, int] | None = None,
    true_labels: ArrayLike | None = None,
    ax: Any = None,
) -> Figure:
    """The certified ratio over two axes, or the certified accuracy if true labels are given."""
    certified = CertifiedInputs(certificates)
    y, x, fixed = _chosen(list(certified.axes), y, x, held or {})
    if len(fixed) > _MOST_HELD:
        raise InvalidInputError(f"expected at most {_MOST_HELD + 2} axes to draw, got {len(fixed) + 2}; see plot_lines")
    return heatmap(certified.grid_of(certified.counts_beside(fixed), true_labels).plane(y, x, fixed), ax)


def _chosen(
    names: Sequence[str], y: str | None, x: str | None, held: Mapping[str, int]
) -> tuple[str, str, dict[str, int]]:
    """The two axes of a heatmap, by default the first two that are free, and the counts of all others."""
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


def plot_lines(certificates: Certificates, true_labels: ArrayLike | None = None, ax: Any = None) -> Figure:
    """The certified ratio along each axis, and the certified accuracy if true labels are given."""
    certified = CertifiedInputs(certificates)
    return lines(certified.lines_of() + (() if true_labels is None else certified.lines_of(true_labels)), ax)
