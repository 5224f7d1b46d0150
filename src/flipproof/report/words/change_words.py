"""What an attacker does when an entry changes, where "adds" and "deletes" would not say what happens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

EXCHANGE, ANY = "exchange", "any"
"""Names of deeds that are no axes: a deletion and an addition at once, and changes of all kinds together."""


@dataclass(frozen=True, slots=True)
class Deed:
    """A kind of change in words.

    Attributes:
        does: what an attacker does; {} is where "up to 3 words" goes.
        done: what is counted.

    Example:
        >>> Deed("blanks {}", "words blanked").does.format("up to 3 words")
        'blanks up to 3 words'
    """

    does: str
    done: str


Deeds = dict[str, Deed]


def masking_deeds(entries: str) -> Deeds:
    """Entries of a sequence that noise hides; the others stay where they are."""
    return {
        "add": Deed("writes {} into empty places", f"{entries} written into empty places"),
        "delete": Deed("blanks {}", f"{entries} blanked"),
        EXCHANGE: _replacing(entries),
    }


def substitution_deeds(entries: str, zero: str) -> Deeds:
    """Entries of a sequence that noise replaces; the first one that may stand at a place is called `zero`."""
    return {**categories_deeds([(None, entries)], zero), ANY: _replacing(entries)}


def _replacing(entries: str) -> Deed:
    return Deed("replaces {} in place", f"{entries} replaced in place")


def categories_deeds(parts: Iterable[tuple[str | None, str]], zero: str) -> Deeds:
    """Entries with categories of which none means "nothing": they are turned, not added.

    Args:
        parts: the names of parts, and what their entries are.
        zero: what the first category is called.

    Example:
        >>> categories_deeds([("k3", "cells")], "category 0")["k3.add"].done
        'cells turned from category 0'
    """
    found = {}
    for part, entries in parts:
        prefix = f"{part}." if part else ""
        found[f"{prefix}add"] = Deed(f"turns {{}} from {zero} to another", f"{entries} turned from {zero}")
        found[f"{prefix}delete"] = Deed(f"turns {{}} to {zero}", f"{entries} turned to {zero}")
        found[f"{prefix}change"] = Deed(
            f"turns {{}} from one to another that is not {zero}", f"{entries} turned, not from or to {zero}"
        )
    return found
