"""The errors that users see: one base class and a few children, each raised with one line that says what to change."""

from __future__ import annotations

from collections.abc import Iterable

_HEAD, _TAIL = 700, 300
"""Numbers of characters: a longer message is cut in the middle, between its beginning and the advice at its end."""
_REASON = 300


class FlipproofError(Exception):
    """Base of every error that flipproof raises on purpose.

    What it says is one line without control characters, whatever a file or a user has put into it.
    """

    def __str__(self) -> str:
        return one_line(super().__str__())


class InvalidInputError(FlipproofError, ValueError):
    """A value is outside what a function accepts: "expected ..., got ..."."""


class TooLargeError(InvalidInputError):
    """A question is well posed, but its answer would take too much time or memory."""


class OutputError(FlipproofError):
    """A file cannot be written where it was asked for."""


class FileFormatError(FlipproofError):
    """A file is unreadable, truncated, or was made by something else."""


class FlipproofWarning(UserWarning):
    """Something that is allowed and noted, and that people should know: one line, as an error's."""

    def __str__(self) -> str:
        return one_line(super().__str__())


def one_line(text: str) -> str:
    r"""The text as one line that is not long, and that a terminal takes for nothing but text.

    Example:
        >>> one_line("a name\n\x1b[2J" + "x" * 5000 + "; delete it").replace("x", "")
        'a name  [2J ... ; delete it'
    """
    short = text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]} ... {text[-_TAIL:]}"
    return "".join(letter if letter.isprintable() else " " for letter in short)


def reason_of(error: BaseException) -> str:
    """An error in a few words, to be part of a message; one of somebody else with its name.

    Example:
        >>> reason_of(KeyError("noise"))
        "KeyError: 'noise'"
    """
    if isinstance(error, FlipproofError):
        return str(error)
    return " ".join(one_line(f"{type(error).__name__}: {error}"[:_REASON]).split())


def not_among(what: str, names: Iterable[str], given: object) -> InvalidInputError:
    """The refusal of an unknown name, with the nearest one that is known.

    Example:
        >>> not_among("rule", ["multi-class", "two-class"], "two-clas")
        InvalidInputError("expected rule to be one of multi-class, two-class, got 'two-clas'; did you mean two-class?")
    """
    import difflib  # only this error needs it, and importing the package should be quick

    known = list(names)
    alike = {name.lower().replace("-", "_"): name for name in known}
    near = difflib.get_close_matches(str(given).lower().replace("-", "_"), alike, n=1, cutoff=0.5)
    hint = f"; did you mean {alike[near[0]]}?" if near else ""
    subject = f"{what} to be one of" if what else "one of"
    return InvalidInputError(f"expected {subject} {', '.join(known)}, got {given!r}{hint}")
