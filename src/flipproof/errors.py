"""The errors that users see: one base class and a few children, each raised with one line that says what to change."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FlipproofError(Exception):
    """Base of every error that flipproof raises on purpose."""


class InvalidInputError(FlipproofError, ValueError):
    """A value is outside what a function accepts: "expected ..., got ..."."""


class TooLargeError(InvalidInputError):
    """A question is well posed, but its answer would take too much time or memory."""


class OutputError(FlipproofError):
    """A file cannot be written where it was asked for."""


class FileFormatError(FlipproofError):
    """A file is unreadable, truncated, or was made by something else."""


def not_among(what: str, names: Iterable[str], given: object) -> InvalidInputError:
    """The refusal of an unknown name, with the nearest one that is known.

    Example:
        >>> not_among("rule", ["multi-class", "two-class"], "two-clas")
        InvalidInputError("expected rule to be one of multi-class, two-class, got 'two-clas'; did you mean two-class?")
    """
    known = list(names)
    alike = {name.lower().replace("-", "_"): name for name in known}
    near = difflib.get_close_matches(str(given).lower().replace("-", "_"), alike, n=1, cutoff=0.5)
    hint = f"; did you mean {alike[near[0]]}?" if near else ""
    subject = f"{what} to be one of" if what else "one of"
    return InvalidInputError(f"expected {subject} {', '.join(known)}, got {given!r}{hint}")
