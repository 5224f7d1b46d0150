"""The page: one HTML text that holds all it needs, loads nothing from a network and runs only its own scripts."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from flipproof.errors import InvalidInputError
from flipproof.report.figures.drawing import plotly_script
from flipproof.report.page.content import content
from flipproof.report.section import Section

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


def page(sections: Sequence[Section]) -> str:
    """The HTML of a page on one run, or on several side by side."""
    if not sections:
        raise InvalidInputError("expected at least one run to report on, got none")
    runs = [content(section, inputs=len(sections) == 1) for section in sections]
    scripts = {"plotly": plotly_script(), "script": _joined(".js")}
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
