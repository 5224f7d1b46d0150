"""Reports as files: pages and figures, each written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flipproof.errors import OutputError
from flipproof.files.whole import cannot_write, checked_path, replacing
from flipproof.report.certified_inputs import MOST_GRID_AXES
from flipproof.report.figures import figures
from flipproof.report.figures.drawing import rendered
from flipproof.report.page.page import page
from flipproof.report.section import Section, run_section
from flipproof.run_folder.finished_run import FinishedRun
from flipproof.run_folder.folder import is_report

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_run_report(run: FinishedRun, command: str | None = None) -> Path:
    """Writes `report.html` and the figures of a run into its folder; returns where the page is."""
    folder, section = run.folder, run_section(run, command)
    check_replaceable(folder.report_file)
    with folder.locked():
        write_figures(folder.figures_folder, section)
        write_page(folder.report_file, [section])
    return folder.report_file


def write_figures(folder: Path, section: Section) -> None:
    """Writes the figures as PNG and SVG. The heatmap has the first two axes; with very many axes there is none."""
    certified = section.certified
    if not certified.inputs:
        return
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    if folder.is_symlink():
        raise OutputError(f"expected a folder for figures, got {folder}, which is a link to something else")
    if len(certified.axes) <= MOST_GRID_AXES:
        save_figure(figures.plot_heatmap(section.certificates), folder / "heatmap")
    save_figure(figures.lines([line for lines in certified.lines for line in lines]), folder / "lines")
    save_figure(figures.bounds(section.certificates.bounds.p_lower, certified.abstained), folder / "bounds")


def write_page(path: str | os.PathLike[str], sections: Sequence[Section], force: bool = False) -> None:
    """Writes the page of one run, or of several side by side.

    An existing report is replaced; any other file only with force.
    """
    check_replaceable(path, force)
    text = page(sections)
    with replacing(path) as stream:
        stream.write(text.encode("utf-8", "replace"))  # half a surrogate pair in a name is no text


def check_replaceable(path: str | os.PathLike[str], force: bool = False) -> None:
    """Raises if the page would replace a file that is no report, or go where a link leads."""
    target = checked_path(path)
    if not target.absolute().parent.is_dir():
        raise OutputError(f"cannot write {target}: its folder does not exist")
    if force or not os.path.lexists(target):
        return
    if target.is_symlink():
        raise OutputError(f"expected a new file or a report, got {target}, which is a link to something else")
    if not is_report(target):
        raise OutputError(f"expected a new file or a report, got {target}; --force (force=True) replaces it")


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> list[Path]:
    """Writes a figure as PNG and as SVG and returns both paths; `path` has no suffix."""
    base = checked_path(path)
    files = {base.with_name(f"{base.name}.{kind}"): rendered(figure, kind) for kind in ("png", "svg")}
    for file, content in files.items():
        with replacing(file) as stream:
            stream.write(content)
    return list(files)
