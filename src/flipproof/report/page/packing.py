"""The pieces of a page's JSON: arrays compressed to text, marks for radii without end, texts, tiles."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import IntArray
from flipproof.theory.radii import UNBOUNDED
from flipproof.theory.search import SEARCH_LIMIT

_TYPES = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "i4": np.int32, "f8": np.float64}
_ENDLESS = -1
PICTURE_BYTES = 3_000_000
"""The most bytes of all pictures of a page, before they are written as text, which takes a third more."""
_TEXT_BYTES = 1_500_000


def packed(array: NDArray[Any], kind: str) -> dict[str, Any]:
    """An array as JSON values. Equal arrays give equal text on every machine.

    Example:
        >>> packed(np.array([[1, 2, 3]]), "u1")["shape"]
        [1, 3]
    """
    small = np.ascontiguousarray(array.astype(np.dtype(_TYPES[kind]).newbyteorder("<")))
    if not np.array_equal(small, array):
        raise OverflowError(f"expected numbers that fit {kind}, got {array.min()} to {array.max()}")
    content = gzip.compress(small.tobytes(), compresslevel=6, mtime=0)
    return {"dtype": kind, "shape": list(small.shape), "gz": base64.b64encode(content).decode("ascii")}


def endless(radii: IntArray) -> IntArray:
    """Radii, with the page's mark for unbounded ones."""
    return np.where(radii == UNBOUNDED, _ENDLESS, radii)


def known_cap(cap: int) -> int:
    """A cap, or the page's mark if it lies beyond the search for radii."""
    return _ENDLESS if cap >= SEARCH_LIMIT else cap


def first_texts(texts: tuple[str, ...], most_bytes: int = _TEXT_BYTES) -> list[str]:
    """The first texts that fit in a page as JSON, where a letter outside ASCII takes six bytes.

    Example:
        >>> first_texts(("to", "be", "or"), most_bytes=9)
        ['to', 'be']
    """
    lengths = np.cumsum([len(json.dumps(text)) for text in texts])
    return list(texts[: int(np.searchsorted(lengths, most_bytes, side="right"))])


def tile(name: str, value: str, note: str) -> dict[str, str]:
    """A number at the top of a page, with its name and a note."""
    return {"name": name, "value": value, "note": note}
