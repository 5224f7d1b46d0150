"""What entries and their changes are called: what an attacker does where "adds" and "deletes" would not say it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flipproof.theory.law import FlipNoise

EXCHANGE, ANY = "exchange", "any"
"""Names of changes that are no axes: a deletion and an addition at once, and changes of all kinds together."""

_PLACES = "Inserting {}, or closing a gap, moves the others and is not covered."


@dataclass(frozen=True, slots=True)
class ChangeWords:
    """A kind of change in words.

    Attributes:
        does: what an attacker does; {} is where "up to 3 words" goes.
        done: what is counted.

    Example:
        >>> ChangeWords("blanks {}", "words blanked").does.format("up to 3 words")
        'blanks up to 3 words'
    """

    does: str
    done: str


WordsByKind = dict[str, ChangeWords]


def masking_words(entries: str) -> WordsByKind:
    """Entries of a sequence that noise hides; the others stay where they are."""
    return {
        "add": ChangeWords("writes {} into empty places", f"{entries} written into empty places"),
        "delete": ChangeWords("blanks {}", f"{entries} blanked"),
        EXCHANGE: _replacing(entries),
    }


def substitution_words(entries: str, zero: str) -> WordsByKind:
    """Entries of a sequence that noise replaces; the first one that may stand at a place is called `zero`."""
    return {**category_words([(None, entries)], zero), ANY: _replacing(entries)}


def _replacing(entries: str) -> ChangeWords:
    return ChangeWords("replaces {} in place", f"{entries} replaced in place")


def category_words(parts: Iterable[tuple[str | None, str]], zero: str) -> WordsByKind:
    """Entries with categories of which none means "nothing": they are turned, not added.

    Args:
        parts: the names of parts, and what their entries are.
        zero: what the first category is called.

    Example:
        >>> category_words([("k3", "cells")], "category 0")["k3.add"].done
        'cells turned from category 0'
    """
    found = {}
    for part, entries in parts:
        prefix = f"{part}." if part else ""
        found[f"{prefix}add"] = ChangeWords(f"turns {{}} from {zero} to another", f"{entries} turned from {zero}")
        found[f"{prefix}delete"] = ChangeWords(f"turns {{}} to {zero}", f"{entries} turned to {zero}")
        found[f"{prefix}change"] = ChangeWords(
            f"turns {{}} from one to another that is not {zero}", f"{entries} turned, not from or to {zero}"
        )
    return found


def bag_words() -> dict[str, Any]:
    """What is changed in bags of words."""
    return _words("words", "message")


def sequence_words(masking: bool, entries: str = "words", zero: str = "(other)") -> dict[str, Any]:
    """What is changed in sequences of words, by masking or by substitution.

    Example:
        >>> sequence_words(masking=True)["changes"]["delete"].done
        'words blanked'
    """
    changes = masking_words(entries) if masking else substitution_words(entries, zero)
    return _words(entries, "message", changes, _PLACES.format(entries))


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
    changes = category_words([*named.items()] or [(None, entries)], "category 0")
    words = _words(
        entries, "row", changes | {ANY: ChangeWords("changes {} in any way", f"{entries} changed in any way")}
    )
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
        "changes": category_words([(part, "nodes")], "kind 0") if categories and noisy != "structure" else {},
    }


def small_graph_words(noisy: str, one_hot: bool) -> dict[str, Any]:
    """What is changed in a graph whose nodes are of a few kinds, read as categories or as one-hot bits."""
    return graph_words(noisy, "bits of the kinds of nodes" if one_hot else "kinds of nodes", categories=not one_hot)


def _words(entries: str, unit: str, changes: WordsByKind | None = None, caution: str = "") -> dict[str, Any]:
    return {
        "entries": {"": entries},
        "where": f"the {entries} of the observed {unit}",
        "caution": caution,
        "changes": changes or {},
    }


def part_words(part: str, categories: int, entries: str) -> str:
    """What the entries of a part of a table are called: by their number of categories if that is its name.

    Example:
        >>> part_words("k3", 3, "cells"), part_words("region", 3, "columns"), part_words("k3", 5, "cells")
        ('cells with 3 values', 'columns of part region', 'cells of part k3')
    """
    return f"{entries} with {categories} values" if part == f"k{categories}" else f"{entries} of part {part}"
