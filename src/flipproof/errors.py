"""The errors that users see: one base class and a few children, each raised with one line that says what to change."""


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
