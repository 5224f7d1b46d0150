"""Votes and certificates as small HTML tables, as notebooks show the value that a cell ends with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from flipproof.smoothing.columns import LABEL_NAME, NAME
from flipproof.theory.certificate import shown_radius

if TYPE_CHECKING:
    from flipproof.smoothing.certificates import Certificates
    from flipproof.smoothing.votes import Votes

_ROWS, _CLASSES = 10, 8
"""A table has at most this many rows, and a column for each of at most this many classes."""


def html_table(caption: str, columns: Mapping[str, Sequence[Any]], total: int) -> str:
    """A table below a sentence; `total` is the number of rows, of which the columns have the first ones.

    Example:
        >>> html_table("2 <b>", {"a": [1]}, 2)
        '<p>2 &lt;b&gt;</p><table><tr><th>a</th></tr><tr><td>1</td></tr></table><p>1 more</p>'
    """
    rows = list(zip(*columns.values(), strict=True))
    body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
    more = f"<p>{total - len(rows):,} more</p>" if total > len(rows) else ""
    return f"<p>{escape(caption)}</p><table><tr>{_cells('th', columns)}</tr>{body}</table>{more}"


def _cells(tag: str, values: Iterable[Any]) -> str:
    return "".join(f"<{tag}>{escape(str(value))}</{tag}>" for value in values)


def votes_html(votes: Votes) -> str:
    """The first votes of a set: how often each class was given to an input in the estimation samples."""
    rows = range(min(_ROWS, len(votes)))
    classes = range(min(_CLASSES, votes.classes))
    columns: dict[str, Sequence[Any]] = {"input": [votes.ids[row] for row in rows]}
    if votes.input_names is not None:
        columns["name"] = [votes.input_names[row] for row in rows]
    for number in classes:
        name = "" if votes.class_names is None else f": {votes.class_names[number]}"
        columns[f"class {number}{name}"] = [f"{votes.estimation[row, number]:,}" for row in rows]
    if votes.classes > len(classes):
        columns["other classes"] = [f"{votes.estimation[row, len(classes) :].sum():,}" for row in rows]
    return html_table(repr(votes), columns, len(votes))


def certificates_html(certificates: Certificates) -> str:
    """The first certificates of a set: predictions and radii."""
    first = certificates.selected(np.arange(min(_ROWS, len(certificates))))
    found = first.to_columns()
    shown = ("input", NAME, "label", LABEL_NAME, "abstained", *(name for name in found if name.startswith("max_")))
    columns = {name: [shown_radius(value) for value in found[name].tolist()] for name in shown if name in found}
    return html_table(repr(certificates), columns, len(certificates))
