"""The page: one HTML file with everything in it, that asks no host for anything and runs no script but its own."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from flipproof.errors import InvalidInputError, OutputError
from flipproof.extras import require
from flipproof.files.whole import checked_path, replacing
from flipproof.report.page.content import content
from flipproof.report.section import Section
from flipproof.run_folder.folder import is_report

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


def write_page(path: str | os.PathLike[str], sections: Sequence[Section], force: bool = False) -> None:
    """Writes the report of one run, or the comparison of several, whole or not at all.

    A report that is there is replaced; anything else only with force.
    """
    check_replaceable(path, force)
    text = page(sections)
    with replacing(path) as stream:
        stream.write(text.encode("utf-8", "replace"))  # half a surrogate pair in a name is no text


def check_replaceable(path: str | os.PathLike[str], force: bool = False) -> None:
    """Refuses to replace what is no report, or to write where a link leads."""
    target = checked_path(path)
    if not target.absolute().parent.is_dir():
        raise OutputError(f"expected to be able to write {target}, got: its folder is not there")
    if force or not os.path.lexists(target):
        return
    if target.is_symlink():
        raise OutputError(f"expected a new file or a report, got {target}, which is a link to something else")
    if not is_report(target):
        raise OutputError(f"expected a new file or a report, got {target}; --force (force=True) replaces it")


def page(sections: Sequence[Section]) -> str:
    """The HTML of the report of one run, or of the comparison of several."""
    if not sections:
        raise InvalidInputError("expected at least one run to report on, got none")
    runs = [content(section, inputs=len(sections) == 1) for section in sections]
    scripts = {"plotly": _plotly(), "script": _joined(".js")}
    parts = {
        "title": html.escape(" and ".join(section.name for section in sections)),
        "csp": _policy(scripts.values()),
        "style": _joined(".css"),
        "data": _json({"version": version("flipproof"), "runs": runs}),
        **scripts,
    }
    return _PLACEHOLDER.sub(lambda match: parts[match.group(1)], _resource("page.html"))


def _policy(scripts: Any) -> str:
    """Scripts are known by their sums: one that came with the data is not run. Nothing may be fetched."""
    sums = (base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii") for script in scripts)
    allowed = " ".join(f"'sha256-{each}'" for each in sums)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _json(values: Any) -> str:
    """JSON that cannot end the element it is in."""
    text = json.dumps(values, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plotly() -> str:
    script: str = require("plotly.offline").get_plotlyjs()
    return script.replace("</script", "<\\/script")


def _joined(suffix: str) -> str:
    """The files of the page with this ending, in the order of their names."""
    folder = files("flipproof.report.page")
    names = sorted(each.name for each in folder.iterdir() if each.name.endswith(suffix))
    return "\n".join(_resource(name) for name in names)


def _resource(name: str) -> str:
    return (files("flipproof.report.page") / name).read_text(encoding="utf-8")
