"""Choosing one of a few named things by its name."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from flipproof.errors import not_among

E = TypeVar("E", bound=StrEnum)


def chosen(kind: type[E], name: str, what: str) -> E:
    """The member of an enumeration with this name, or the refusal that lists them all."""
    try:
        return kind(name)
    except ValueError:
        raise not_among(what, kind, name) from None
