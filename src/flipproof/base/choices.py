"""Choosing one of a few named things by its name."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import Any, TypeVar

from flipproof.errors import not_among

E = TypeVar("E", bound=StrEnum)


def chosen(kind: type[E], name: str, what: str) -> E:
    """The member of an enumeration with this name, or the refusal that lists them all."""
    return kind(one_of(list(kind), name, what))


def one_of(names: Collection[str], name: Any, what: str) -> str:
    """The name, if it is one of these, or the refusal that lists them all."""
    if not isinstance(name, str) or name not in names:
        raise not_among(what, names, name)
    return name
