"""Reports as files: pages and figures, each written whole or not at all.

A page is one HTML text that holds all it needs, loads nothing from a network and runs only its own scripts.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipproof.errors import InvalidInputError, OutputError
from flipproof.files.whole import cannot_write, checked_path, replacing
from flipproof.report.certified_inputs import MOST_GRID_AXES
from flipproof.report.figures import figures
from flipproof.report.page.content import content
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
    files = {base.with_name(f"{base.name}.{kind}"): figures.rendered(figure, kind) for kind in ("png", "svg")}
    for file, drawn in files.items():
        with replacing(file) as stream:
            stream.write(drawn)
    return list(files)


_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


def page(sections: Sequence[Section]) -> str:
    """The HTML of a page on one run, or on several side by side."""
    if not sections:
        raise InvalidInputError("expected at least one run to report on, got none")
    runs = [content(section, inputs=len(sections) == 1) for section in sections]
    scripts = {"plotly": figures.plotly_script(), "script": _joined(".js")}
    parts = {
        "title": html.escape(" and ".join(section.name for section in sections)),
        "csp": _policy(scripts.values()),
        "style": _joined(".css"),
        "data": _json({"version": version("flipproof"), "runs": runs}),
        **scripts,
    }
    return _PLACEHOLDER.sub(lambda match: parts[match.group(1)], _resource("page.html"))


def _policy(scripts: Iterable[str]) -> str:
    """The content security policy: scripts run only if their hash is listed, and nothing may be fetched."""
    sums = (base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii") for script in scripts)
    allowed = " ".join(f"'sha256-{each}'" for each in sums)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _json(values: Any) -> str:
    """JSON that cannot close the HTML element around it."""
    text = json.dumps(values, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _joined(suffix: str) -> str:
    """The resources of the page with a suffix, joined in the order of their names."""
    folder = files("flipproof.report.page")
    names = sorted(each.name for each in folder.iterdir() if each.name.endswith(suffix))
    return "\n".join(_resource(name) for name in names)


def _resource(name: str) -> str:
    return (files("flipproof.report.page") / name).read_text(encoding="utf-8")
