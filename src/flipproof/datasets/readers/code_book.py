"""Words to numbers: the distinct texts of a column, in order, become 0, 1, 2, ..."""

from __future__ import annotations

import math
from array import array

import numpy as np

from flipproof.base.values import IntArray
from flipproof.errors import FileFormatError


class CodeBook:
    """A sequence of texts, each stored as the number of its distinct text.

    Example:
        >>> book = CodeBook()
        >>> for text in ("10", "9", "", "10"):
        ...     book.add(text)
        >>> book.numbers().tolist(), book.words()
        ([2, 1, 0, 2], ('', '9', '10'))
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._texts = array("i")

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, text: str) -> None:
        """Adds one text."""
        self._texts.append(self._numbers.setdefault(text, len(self._numbers)))

    def words(self) -> tuple[str, ...]:
        """The distinct texts: an empty one first, then numbers by size if all are numbers, else in sorted order."""
        sizes = {text: _size(text) for text in self._numbers if text}
        numeric = all(map(math.isfinite, sizes.values()))
        return tuple(sorted(self._numbers, key=lambda text: (text != "", sizes.get(text, 0.0) if numeric else 0, text)))

    def numbers(self) -> IntArray:
        """For every text, its index in `words`."""
        places = np.zeros(len(self._numbers), dtype=np.int64)
        for place, word in enumerate(self.words()):
            places[self._numbers[word]] = place
        found: IntArray = places[np.array(self._texts, dtype=np.int64)]
        return found


def check_classes(labels: CodeBook) -> None:
    """Refuses the labels of a file if there is nothing to distinguish."""
    if len(labels) < 2:
        raise FileFormatError(f"its labels are of {len(labels)} class; it takes at least two")


def _size(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
