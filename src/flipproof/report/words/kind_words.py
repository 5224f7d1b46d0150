"""What inputs and their entries are called, by the kind of data and by what gets noise: fields of a `Subject`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flipproof.noise.spaces.table import part_words
from flipproof.report.words.change_words import ANY, Deed, Deeds, categories_deeds, masking_deeds, substitution_deeds
from flipproof.theory.law import FlipNoise

_UNITS = {"nodes": "node", "graphs": "graph", "images": "image", "text": "message", "tables": "row"}
_PLACES = "Inserting {}, or closing a gap, moves the others and is not covered."


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


def bag_words() -> dict[str, Any]:
    """What is changed in bags of words."""
    return _words("words", "message")


def sequence_words(masking: bool, entries: str = "words", zero: str = "(other)") -> dict[str, Any]:
    """What is changed in sequences of words, by masking or by substitution.

    Example:
        >>> sequence_words(masking=True)["deeds"]["delete"].done
        'words blanked'
    """
    deeds = masking_deeds(entries) if masking else substitution_deeds(entries, zero)
    return _words(entries, "message", deeds, _PLACES.format(entries))


def image_words(colours: bool) -> dict[str, Any]:
    """What is changed in images: a colour value is one of the three numbers of a pixel.

    Example:
        >>> image_words(colours=True)["entries"]
        {'': 'colour values'}
    """
    return _words("colour values" if colours else "pixels", "image")


def table_words(parts: Iterable[tuple[str | None, FlipNoise]], entries: str = "cells") -> dict[str, Any]:
    """What is changed in a table: any cells, whatever column they are in; by part only where that is asked for."""
    named = {name: part_words(name, part.categories, entries) for name, part in parts if name is not None}
    deeds = categories_deeds([*named.items()] or [(None, entries)], "category 0")
    words = _words(entries, "row", deeds | {ANY: Deed("changes {} in any way", f"{entries} changed in any way")})
    return words | {"entries": words["entries"] | named}


def graph_words(noisy: str, attributes: str = "attributes", categories: bool = False) -> dict[str, Any]:
    """What is changed in a graph with noise on one part or both, and what is not.

    Args:
        noisy: "structure", "attributes" or "both".
        attributes: what one attribute is, in the plural.
        categories: whether attributes are categories of which none means "nothing".

    Example:
        >>> graph_words("structure")["where"]
        'the edges of the observed graph'
    """
    entries = {"structure": "edges", "attributes": attributes}
    part = "attributes" if noisy == "both" else None
    return {
        "entries": entries if noisy == "both" else {"": entries.get(noisy, "entries")},
        "where": f"the {entries.get(noisy, f'edges or {attributes}')} of the observed graph",
        "deeds": categories_deeds([(part, "nodes")], "kind 0") if categories and noisy != "structure" else {},
    }


def small_graph_words(noisy: str, one_hot: bool) -> dict[str, Any]:
    """Words for a graph whose nodes are of a few kinds, read as categories or as one-hot bits."""
    return graph_words(noisy, "bits of the kinds of nodes" if one_hot else "kinds of nodes", categories=not one_hot)


def _words(entries: str, unit: str, deeds: Deeds | None = None, caution: str = "") -> dict[str, Any]:
    return {
        "entries": {"": entries},
        "where": f"the {entries} of the observed {unit}",
        "caution": caution,
        "deeds": deeds or {},
    }
