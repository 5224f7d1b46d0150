"""All that a page shows of one run, as JSON values. The browser only draws it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flipproof.report.forecast import at_cap, forecasts
from flipproof.report.packing import endless, endless_count, packed
from flipproof.report.pictures import pictures
from flipproof.report.section import Section
from flipproof.report.shares import (
    GridCounts,
    ShareGrid,
    ShareLine,
    accuracy_grid,
    accuracy_lines,
    grid_counts,
    ratio_grid,
    ratio_lines,
    staircases,
)
from flipproof.report.words import axis_words, not_promised, promise
from flipproof.smoothing.certificates import Abstention, Certificates
from flipproof.smoothing.split import Split
from flipproof.theory.arrays import IntArray
from flipproof.theory.radii import axes_of

_MARGINS = 100_000_000
"""How many margins the staircases of all inputs may take to compute."""
_MOST_CELLS = 20_000
_NOTE = (
    "A forecast: it takes for granted that every label keeps its share of the votes. Make a new run with another seed "
    "and the number of samples that you want: who adds samples to this one until it certifies has no promise at alpha."
)


def content(section: Section) -> dict[str, Any]:
    """One run."""
    certificates, subject = section.certificates, section.subject
    shown = {
        "name": section.name,
        "words": {
            "promise": promise(certificates, subject),
            "not_promised": not_promised(certificates, subject),
        },
        "facts": [{"title": facts.title, "rows": facts.rows} for facts in section.facts],
        "command": section.command,
        "inputs": len(certificates),
        "unit": subject.unit,
        "units": subject.units,
        "classes": [subject.class_name(label) for label in range(certificates.votes.classes)],
        "abstentions": _abstentions(certificates),
        "table": _table(section),
        "pictures": pictures(certificates, subject),
    }
    return shown | (_measured(section) if len(certificates) else _nothing(section))


def _measured(section: Section) -> dict[str, Any]:
    certificates = section.certificates
    counts = grid_counts(certificates, min(_MOST_CELLS, max(4, _MARGINS // len(certificates))))
    grids, lines = _measures(section, counts)
    return {
        "numbers": _numbers(section, grids),
        "axes": _axes(section, counts, lines[0]),
        "measures": [_measure(section, grid, line) for grid, line in zip(grids, lines, strict=True)],
        "stairs": _stairs(certificates, counts),
        "forecast": _forecast(section),
    }


def _nothing(section: Section) -> dict[str, Any]:
    """A run without inputs."""
    return {"numbers": [], "axes": [], "measures": [], "stairs": None, "forecast": None}


def _measures(section: Section, counts: GridCounts) -> tuple[list[ShareGrid], list[tuple[ShareLine, ...]]]:
    certificates, labels = section.certificates, section.subject.labels
    grids, lines = [ratio_grid(certificates, counts)], [ratio_lines(certificates)]
    among = _judged(section)
    if labels is not None and (among is None or among.size):
        grids.append(accuracy_grid(certificates, labels, counts, among))
        lines.append(accuracy_lines(certificates, labels, among))
    return grids, lines


def _judged(section: Section) -> IntArray | None:
    """The inputs that accuracies are about: those left for testing, or all."""
    split = section.subject.split
    return None if split is None else split.test


def _measure(section: Section, grid: ShareGrid, lines: Sequence[ShareLine]) -> dict[str, Any]:
    kind = "all" if grid.of == len(section.certificates) else "test"
    return {
        "name": grid.measure,
        "of": f"{kind} {section.subject.units}: {grid.of:,}",
        "count": grid.of,
        "grid": packed(grid.shares, "f8"),
        "lines": [line.shares.tolist() for line in lines],
    }


def _axes(section: Section, counts: GridCounts, lines: Sequence[ShareLine]) -> list[dict[str, Any]]:
    certificates = section.certificates
    axes = []
    for axis, along, line in zip(axes_of(certificates.noise), counts, lines, strict=True):
        radii = certificates.max_radius(str(axis))
        ends = endless(radii)
        axes.append(
            {
                "name": str(axis),
                "words": axis_words(axis, section.subject),
                "counts": along,
                "line_counts": line.counts,
                "cap": endless_count(line.cap),
                "mean": None if (ends < 0).any() else float(radii.mean()),
                "largest": endless_count(int(radii.max())),
            }
        )
    return axes


def _numbers(section: Section, grids: Sequence[ShareGrid]) -> list[dict[str, str]]:
    """The few that sum it up."""
    certificates, subject = section.certificates, section.subject
    numbers = []
    if section.base_accuracy is not None:
        numbers.append(("clean accuracy", f"{section.base_accuracy:.3f}", "of the base classifier"))
    for grid in reversed(grids):
        at_zero = float(grid.shares[(0,) * grid.shares.ndim])
        accuracy = grid is not grids[0]
        name, note = ("smoothed accuracy", "abstentions count as wrong") if accuracy else (
            "not abstained", "of all predictions"
        )  # fmt: skip
        numbers.append((name, f"{at_zero:.3f}", f"{note}; {grid.of:,} {subject.units}"))
    for axis in axes_of(certificates.noise):
        radii, counted = certificates.max_radius(str(axis)), axis_words(axis, subject)
        if (endless(radii) >= 0).all():
            numbers.append((f"mean radius, {axis}", f"{radii.mean():.2f}", counted))
        else:
            numbers.append((f"median radius, {axis}", _radius(np.sort(radii)[len(radii) // 2]), counted))
    return [dict(zip(("name", "value", "note"), each, strict=True)) for each in numbers]


def _radius(radius: Any) -> str:
    return "unbounded" if endless_count(int(radius)) < 0 else str(int(radius))


def _abstentions(certificates: Certificates) -> list[dict[str, Any]]:
    counts = np.bincount(certificates.abstention, minlength=len(Abstention))
    return [
        {"reason": why.words, "count": int(counts[why])} for why in Abstention if why != Abstention.NONE and counts[why]
    ]


def _table(section: Section) -> dict[str, Any]:
    certificates, subject = section.certificates, section.subject
    bounds, votes = certificates.bounds, certificates.votes
    return {
        "name": subject.names,
        "label": packed(bounds.label, "u2"),
        "truth": None if subject.labels is None else packed(np.asarray(subject.labels), "i4"),
        "part": None if subject.split is None else packed(_parts(subject.split, len(certificates)), "u1"),
        "parts": ["other", "training", "validation", "test"],
        "abstention": packed(certificates.abstention, "u1"),
        "reasons": [why.words for why in Abstention],
        "p_lower": packed(bounds.p_lower, "f8"),
        "p_upper": packed(bounds.p_upper, "f8"),
        "runner_up": packed(bounds.runner_up, "u2"),
        "radius": [packed(endless(certificates.max_radius(str(axis))), "i4") for axis in axes_of(certificates.noise)],
        "votes": packed(votes.estimation, "u4"),
        "samples": votes.n_estimate,
    }


def _parts(split: Split, inputs: int) -> IntArray:
    parts = np.zeros(inputs, dtype=np.int64)
    for number, rows in enumerate((split.train, split.validation, split.test), start=1):
        parts[rows] = number
    return parts


def _stairs(certificates: Certificates, counts: GridCounts) -> dict[str, Any]:
    height, index = staircases(certificates, counts)
    return {"index": packed(index, "u4"), "height": packed(height, "u2")}


def _forecast(section: Section) -> dict[str, Any]:
    certificates, speed = section.certificates, section.samples_per_second
    present = certificates.votes.n_estimate
    return {
        "samples": present,
        "rows": [
            {
                "samples": row.samples,
                "seconds": (row.samples - present) / speed if speed else None,
                "abstained": row.abstained,
                "axes": [
                    {"name": each.name, "more": each.more, "mean": each.mean, "cap": endless_count(each.cap)}
                    for each in row.axes
                ],
            }
            for row in forecasts(certificates)
        ],
        "at_cap": [{"name": name, "count": count} for name, count in at_cap(certificates).items()],
        "note": _NOTE,
    }
