"""What inputs and their entries are called, by the kind of data and by what gets noise: fields of a `Subject`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_UNITS = {"nodes": "node", "graphs": "graph", "images": "image", "text": "message", "tables": "row"}
_GRAPH = {"structure": "edges", "attributes": "attributes"}
_ROWS = {"pixels": "pixels", "levels": "pixels", "words": "words", "substitution": "words", "masking": "words"}
_FIXED = {"structure": "The attributes of the nodes", "attributes": "The edges of the graph", "both": ""}


def unit_of(kind: str) -> str:
    """What one input is.

    Example:
        >>> unit_of("tables")
        'row'
    """
    return _UNITS.get(kind, "input")


def noise_words(noisy: str) -> str:
    """What gets noise, or how.

    Example:
        >>> noise_words("pixels"), noise_words("masking")
        ('on pixels', 'by masking words')
    """
    return {"substitution": "by substitution of words", "masking": "by masking words"}.get(noisy, f"on {noisy}")


def kind_words(kind: str, noisy: str, parts: Iterable[str | None], pixels: bool = False) -> dict[str, Any]:
    """What is changed in inputs of a kind, and what is not.

    Args:
        kind: "nodes", "graphs", "images", "text" or "tables".
        noisy: what gets noise.
        parts: the names of the parts of the noise.
        pixels: whether the attributes of nodes are pixels.

    Example:
        >>> kind_words("text", "words", [None])["entries"]
        {'': 'words'}
    """
    if kind in ("nodes", "graphs"):
        return {"unit": unit_of(kind), **graph_words(noisy, pixels, one_of_many=kind == "graphs")}
    if kind == "tables":
        named = [name for name in parts if name is not None]
        entries = {"": "cells"} | {name: f"cells with {name.removeprefix('k')} values" for name in named}
    else:
        entries = {"": _ROWS.get(noisy, "entries")}
    fixed = "The order and the number of the other words" if noisy in ("substitution", "masking") else ""
    return {
        "unit": unit_of(kind),
        "entries": entries,
        "where": f"the {entries['']} of the observed {unit_of(kind)}",
        "fixed": fixed,
    }


def graph_words(noisy: str, pixels: bool = False, one_of_many: bool = False) -> dict[str, Any]:
    """What is changed in a graph with noise on one part or both, and what is not.

    Example:
        >>> graph_words("structure")["where"]
        'the edges of the observed graph'
    """
    attributes = "pixels" if pixels else "kinds of nodes" if one_of_many else "attributes"
    entries = _GRAPH | {"attributes": attributes}
    return {
        "entries": entries if noisy == "both" else {"": entries.get(noisy, "entries")},
        "where": f"the {entries.get(noisy, f'edges or {attributes}')} of the observed graph",
        "fixed": _FIXED.get(noisy, ""),
    }
