"""A user's own split: a text file that says of every input, in the order of the data, what it is for."""

from __future__ import annotations

import numpy as np

from flipproof.errors import FileFormatError
from flipproof.files.whole import read_whole
from flipproof.run_folder.split import SPLIT_PARTS, Split

_NEITHER = "-"
_LONGEST = 16
"""Bytes of a line."""


def read_split(path: str, inputs: int) -> Split:
    """The split in a file with one line per input: train, validation, test, or - for an input that is left out.

    Args:
        path: of the file.
        inputs: how many inputs the data have.
    """
    noun = f"expected a split of {inputs:,} inputs, a line with {', '.join(SPLIT_PARTS)} or {_NEITHER} for each"
    try:
        content = read_whole(path, most=_LONGEST * (inputs + 1))
    except OSError as error:
        raise FileFormatError(f"{noun}, got {path}: {error.strerror or error}") from error
    words = np.array(content.split())
    known = np.array([name.encode() for name in (*SPLIT_PARTS, _NEITHER)])
    wrong = np.flatnonzero(~np.isin(words, known))
    if wrong.size:
        shown = words[wrong[0]].decode("utf-8", "replace")
        raise FileFormatError(f"{noun}, got {path} with {shown!r} for input {wrong[0]}")
    if words.size != inputs:
        raise FileFormatError(f"{noun}, got {path} with {words.size:,} words")
    return Split(*(np.flatnonzero(words == name) for name in known[:-1]))
