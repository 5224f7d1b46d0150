"""Figures of several systems side by side, drawn from rows alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flipproof.files.csv_file import csv_text
from flipproof.files.strict_json import FileKind, write_json
from flipproof.files.whole import replacing
from flipproof.report.figures import figures
from flipproof.report.report_files import save_figure
from flipproof.report.shares import ShareLine
from flipproof.theory.radii import UNBOUNDED

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_COMPARISON = FileKind("comparison", "flipproof-comparison", 1)


def plot_rows(rows: Iterable[Mapping[str, Any]]) -> Figure:
    """The certified ratio over the radius: a panel for each attacker, a line for each system.

    Args:
        rows: with the keys attacker, system, model, noise, spared, inputs, radius and certified_ratio.
    """
    lines: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        lines.setdefault((row["attacker"], _name(row)), []).append(row)
    return figures.lines([_line(attacker, name, of_line) for (attacker, name), of_line in lines.items()])


def write_comparison(folder: Path, rows: Sequence[Mapping[str, Any]], record: Mapping[str, Any]) -> list[Path]:
    """Writes a comparison: rows as CSV, everything as JSON, and the figure.

    Args:
        folder: where to write.
        rows: as in `plot_rows`.
        record: all that is known, as JSON values.
    """
    table, file = folder / "comparison.csv", folder / "comparison.json"
    with replacing(table) as stream:
        stream.write(csv_text(rows).encode())
    write_json(file, _COMPARISON, record)
    return [table, file, *save_figure(plot_rows(rows), folder / "comparison")]


def _name(row: Mapping[str, Any]) -> str:
    noise = "without noise" if row["noise"] == "none" else row["noise"]
    spared = f", sparing {row['spared']}" if row["spared"] else ""
    return f"{row['system']}: {row['model']} {noise}{spared}"


def _line(attacker: str, name: str, rows: list[Mapping[str, Any]]) -> ShareLine:
    ordered = sorted(rows, key=lambda row: int(row["radius"]))
    return ShareLine(
        axis=attacker,
        counts=tuple(int(row["radius"]) for row in ordered),
        shares=np.array([row["certified_ratio"] for row in ordered]),
        measure=name,
        of=int(rows[0]["inputs"]),
        cap=UNBOUNDED,
    )
