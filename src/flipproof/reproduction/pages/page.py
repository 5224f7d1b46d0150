"""The page of all experiments: the paper's numbers, the numbers measured here, and why they differ."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from flipproof.errors import InvalidInputError
from flipproof.files.whole import replacing
from flipproof.reproduction.pages.claims import CLAIMS
from flipproof.reproduction.pages.rows import Rows, read_rows, table
from flipproof.reproduction.pages.sections import SECTIONS

_HEAD = (
    "# The paper, measured again\n\n"
    "The experiments of Bojchevski, Gasteiger and Günnemann (ICML 2020), from the rows in [{folder}]({folder}) that "
    "`flipproof reproduce ... --scale {scale}` wrote. This page is made from these rows alone: there is no "
    "measured number "
    "on it without its row. Radii are means over inputs of the largest certified radius along an axis, the other "
    "one 0; ± "
    "is the standard deviation over seeds (splits, weights and noise). alpha = 0.01 for each input; abstentions "
    "count as "
    "radius 0 and as wrong."
)


def all_rows(folder: Path) -> dict[str, dict[str, Any]]:
    """The results of all experiments whose rows are in a folder, by name, in the order of the page."""
    found = {name: read_rows(path) for name in SECTIONS if (path := folder / f"{name}.json").exists()}
    if not found:
        raise InvalidInputError(f"expected rows of experiments in {folder}, got none; name experiments to run, or all")
    return found


def write_page(folder: Path, page: Path) -> Path:
    """Writes the page of all rows in a folder."""
    link = Path(os.path.relpath(folder, page.parent)).as_posix()
    with replacing(page) as stream:
        stream.write(reproduction_page(all_rows(folder), link).encode())
    return page


def reproduction_page(found: Mapping[str, Mapping[str, Any]], link: str) -> str:
    """The page as Markdown.

    Args:
        found: the results of `read_rows`, by experiment.
        link: the path from the page to rows and figures.
    """
    scale = ", ".join(sorted({each["scale"] for each in found.values()}))
    blocks = [_HEAD.format(folder=link, scale=scale), *_circumstances(found), *_claims(found)]
    for name, each in found.items():
        blocks.append(f"## {name}: {each['title']}")
        blocks += SECTIONS[name](each["rows"])
        if name not in _TABLES:
            blocks.append(f"![{each['title']}]({link}/{name}.png)")
    return "\n\n".join(blocks) + "\n"


_TABLES = ("table-1", "table-2")
"""Experiments without a figure."""


def _circumstances(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    made = {(each["made"]["date"], each["made"]["commit"], each["made"]["machine"]) for each in found.values()}
    words = "; ".join(f"{date}, commit {commit}, {machine}" for date, commit, machine in sorted(made, key=str))
    yield f"Rows made on {words}. Models and votes are kept between runs and may be older."


def _claims(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The claims, and whether each one holds."""
    rows: dict[str, Rows] = {name: each["rows"] for name, each in found.items()}
    lines = []
    for claim in CLAIMS:
        measured = claim.measured(rows)
        if measured is not None:
            verdict = "yes" if claim.holds(measured) else "**no**"
            where = f"[{claim.study}](#{_anchor(claim.study, found)})"
            lines.append((where, claim.words, claim.source, f"{measured:.3g}", f"{claim.more_than:g}", verdict))
    if lines:
        yield "## What should hold"
        yield (
            "What the text of the paper says, what its figures show, its numbers, and bars that this project "
            "sets itself. A "
            "lead must be above its bar, a number at least at it."
        )
        yield table(("where", "what", "who says so", "measured", "bar", "holds"), lines)


def _anchor(study: str, found: Mapping[str, Mapping[str, Any]]) -> str:
    """The anchor that GitHub makes from the heading."""
    heading = f"{study}: {found[study]['title']}".lower()
    return "".join(letter for letter in heading if letter.isalnum() or letter in "- ").replace(" ", "-")
