"""The words for entries and their changes: they say what an attacker does where "adds" and "deletes" would not fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from flipproof.theory.law import FlipNoise

EXCHANGE, ANY = "exchange", "any"
"""Names of changes that are not axes: a deletion together with an addition, and changes of all kinds together."""

_PLACES = "Inserting {}, or closing a gap, moves the others and is not covered."


@dataclass(frozen=True, slots=True)
class ChangeWords:
    """A kind of change in words.

    Attributes:
        does: what an attacker does; {} stands for an amount such as "up to 3 words".
        done: what is counted, as "words blanked".

    Example:
        >>> ChangeWords("blanks {}", "words blanked").does.format("up to 3 words")
        'blanks up to 3 words'
    """

    does: str
    done: str


WordsByKind = dict[str, ChangeWords]


def masking_words(entries: str) -> WordsByKind:
    """Words for entries of a sequence that noise hides, while all other entries keep their places."""
    return {
        "add": ChangeWords("writes {} into empty places", f"{entries} written into empty places"),
        "delete": ChangeWords("blanks {}", f"{entries} blanked"),
        EXCHANGE: _replacing(entries),
    }


def substitution_words(entries: str, zero: str) -> WordsByKind:
    """Words for entries of a sequence that noise replaces; `zero` names the first possible entry."""
    return {**category_words([(None, entries)], zero), ANY: _replacing(entries)}


def _replacing(entries: str) -> ChangeWords:
    return ChangeWords("replaces {} in place", f"{entries} replaced in place")


def category_words(parts: Iterable[tuple[str | None, str]], zero: str) -> WordsByKind:
    """Words for entries with categories, none of which means "nothing": changes turn them and add nothing.

    Args:
        parts: the names of the parts, and the words for their entries.
        zero: the name of the first category.

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
    """The words for changes in bags of words."""
    return _words("words", "message")


def sequence_words(masking: bool, entries: str = "words", zero: str = "(other)") -> dict[str, Any]:
    """The words for changes in sequences of words, by masking or by substitution.

    Example:
        >>> sequence_words(masking=True)["changes"]["delete"].done
        'words blanked'
    """
    changes = masking_words(entries) if masking else substitution_words(entries, zero)
    return _words(entries, "message", changes, _PLACES.format(entries))


class Change(Enum):
    """What noise does to a token: it is deleted and the gap closes, hidden in its place, or replaced in its place."""

    DELETED = "deleted"
    HIDDEN = "hidden"
    REPLACED = "replaced"


_TOKENIZED = "as the tokenizer splits them"
_CAUTIONS = {
    Change.DELETED: "",
    Change.HIDDEN: " " + _PLACES,
    Change.REPLACED: " " + _PLACES + " Words that the vocabulary lacks are not covered.",
}


def edit_words(entries: str, unit: str = "sequence", split: str = "") -> dict[str, Any]:
    """The words for changes in sequences whose gaps close; `split` is a proviso of every sentence.

    Example:
        >>> edit_words("tokens")["changes"]["exchange"].does.format("up to 3 tokens")
        'inserts, deletes or replaces up to 3 tokens'
    """
    proviso = f", {split}," if split else ""
    changes = {
        "add": ChangeWords("inserts {}", f"{entries} inserted"),
        "delete": ChangeWords(f"deletes {{}}{proviso}", f"{entries} deleted"),
        EXCHANGE: ChangeWords(
            f"inserts, deletes or replaces {{}}{proviso}", f"{entries} inserted, deleted or replaced"
        ),
        ANY: ChangeWords(f"inserts or deletes {{}} in all{proviso}", f"{entries} inserted or deleted in all"),
    }
    return _words(entries, unit, changes)


def text_words(change: Change, entries: str, zero: str) -> dict[str, Any]:
    """The words for changes in texts; `zero` names the first word of the vocabulary.

    Example:
        >>> text_words(Change.REPLACED, "words", "'a'")["changes"]["any"].does.format("up to 2 words")
        'replaces up to 2 words by others of the vocabulary, as the tokenizer splits them,'
    """
    if change is Change.DELETED:
        words = edit_words(entries, "text", _TOKENIZED)
    else:
        words = _words(entries, "text", _changes_in_place(change, entries, zero))
    splits = (
        f"Which {entries} a text has is for the tokenizer to say: by default, punctuation marks and emojis count too."
    )
    return words | {"caution": splits + _CAUTIONS[change].format(entries)}


def _changes_in_place(change: Change, entries: str, zero: str) -> WordsByKind:
    """The words for changes in texts whose tokens keep their places."""
    if change is Change.REPLACED:
        by = "by others of the vocabulary"
        plain = category_words([(None, entries)], zero)
        tokenized = {
            kind: ChangeWords(words.does.replace("{}", f"{{}} ({_TOKENIZED})"), words.done)
            for kind, words in plain.items()
        }
        return {**tokenized, ANY: ChangeWords(f"replaces {{}} {by}, {_TOKENIZED},", f"{entries} replaced {by}")}
    return {
        **masking_words(entries),
        "delete": ChangeWords(f"blanks {{}}, {_TOKENIZED},", f"{entries} blanked"),
        EXCHANGE: ChangeWords(f"replaces {{}} in place, {_TOKENIZED},", f"{entries} replaced in place"),
    }


def image_words(colours: bool) -> dict[str, Any]:
    """The words for changes in images; a colour value is one of the three numbers of a pixel.

    Example:
        >>> image_words(colours=True)["entries"]
        {'': 'colour values'}
    """
    return _words("colour values" if colours else "pixels", "image")


def table_words(parts: Iterable[tuple[str | None, FlipNoise]], entries: str = "cells") -> dict[str, Any]:
    """The words for changes in a table: cells of any column, or cells of one part where a change names the part."""
    named = {name: part_words(name, part.categories, entries) for name, part in parts if name is not None}
    changes = category_words([*named.items()] or [(None, entries)], "category 0")
    words = _words(
        entries, "row", changes | {ANY: ChangeWords("changes {} in any way", f"{entries} changed in any way")}
    )
    return words | {"entries": words["entries"] | named}


OCCURRING_VALUES = "the set of values that occur in each column"
KNOWN_VALUES = "the set of known values of each column"
"""What attackers of data frames must leave alone: no other value is covered."""


def known_cell_words(parts: Iterable[str | None]) -> dict[str, Any]:
    """The words for changes in a table that was a data frame, where the frame and so its names are not at hand.

    Example:
        >>> known_cell_words([None])["changes"]["any"].does.format("up to 2 cells")
        'changes up to 2 cells to another known value of the column'
    """
    another, zero = "another known value of the column", "the base value"
    entries = {part or "": f"cells of part {part}" if part else "cells" for part in parts}
    changes = {ANY: ChangeWords(f"changes {{}} to {another}", f"cells changed to {another}")}
    for part, cells in entries.items():
        prefix, other = f"{part}." if part else "", "another such known value of the column"
        changes[f"{prefix}add"] = ChangeWords(f"turns {{}} from {zero} to {another}", f"{cells} turned from {zero}")
        changes[f"{prefix}delete"] = ChangeWords(f"turns {{}} to {zero}", f"{cells} turned to {zero}")
        away = f"from a value that is not {zero} to {other}"
        changes[f"{prefix}change"] = ChangeWords(f"turns {{}} {away}", f"{cells} turned {away}")
    return _words("cells", "row", changes) | {"entries": {"": "cells"} | entries}


def graph_words(noisy: str, attributes: str = "attributes", categories: bool = False) -> dict[str, Any]:
    """The words for what changes in a graph with noise on one or both parts, and for what stays unchanged.

    Args:
        noisy: "structure", "attributes" or "both".
        attributes: the word for attributes, in the plural.
        categories: whether attributes are categories, none of which means "nothing".

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


def noisy_graph_words(noisy: str, parts: Sequence[tuple[str | None, FlipNoise]]) -> dict[str, Any]:
    """The words for what changes in a graph under a noise with these parts, which may leave one of two parts alone."""
    attacked = str(parts[0][0]) if noisy == "both" and len(parts) == 1 else noisy
    return graph_words(noisy) | {"where": graph_words(attacked)["where"]}


def small_graph_words(noisy: str, one_hot: bool) -> dict[str, Any]:
    """The words for changes in a graph with a few kinds of nodes, read as categories or as one-hot bits."""
    return graph_words(noisy, "bits of the kinds of nodes" if one_hot else "kinds of nodes", categories=not one_hot)


def _words(entries: str, unit: str, changes: WordsByKind | None = None, caution: str = "") -> dict[str, Any]:
    return {
        "entries": {"": entries},
        "where": f"the {entries} of the observed {unit}",
        "caution": caution,
        "changes": changes or {},
    }


def part_words(part: str, categories: int, entries: str) -> str:
    """The words for the entries of a part of a table: their number of categories if the part is named after it.

    Example:
        >>> part_words("k3", 3, "cells"), part_words("region", 3, "columns"), part_words("k3", 5, "cells")
        ('cells with 3 values', 'columns of part region', 'cells of part k3')
    """
    return f"{entries} with {categories} values" if part == f"k{categories}" else f"{entries} of part {part}"
