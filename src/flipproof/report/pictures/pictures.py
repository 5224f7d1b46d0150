"""What inputs look like, as arrays for a page. A page with all of them and 100,000 inputs stays below 20 MB.

Images and rows of tables are drawn here, each with the first noisy copies that were voted on. Words and graphs are
drawn by the other files of this folder, which register themselves with `pictures_of` and `pixels_of`.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.graph import plain_attributes
from flipproof.noise.spaces.rows import DenseRows, SparseRows
from flipproof.noise.spaces.space import Space
from flipproof.noise.spaces.table import Table
from flipproof.report.certified_inputs import CertifiedInputs

Pictures = dict[str, Any]
"""What a page draws, by form: "images", "sequences", "bags", "rows", "graphs" or "graph"; a value may be None."""

_TYPES = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "i4": np.int32, "f8": np.float64}
PICTURE_BYTES = 3_000_000
"""The most bytes of all pictures of a page, before they are written as text, which takes a third more."""
_TEXT_BYTES = 1_500_000
COPIES = 3
"""A page shows at most this many noisy copies of an input."""
_NAME_BYTES = 250_000
"""The most bytes for the names of columns, and again for those of categories."""


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


def first_texts(texts: tuple[str, ...], most_bytes: int = _TEXT_BYTES) -> list[str]:
    """The first texts that fit in a page as JSON, where a letter outside ASCII takes six bytes.

    Example:
        >>> first_texts(("to", "be", "or"), most_bytes=9)
        ['to', 'be']
    """
    lengths = np.cumsum([len(json.dumps(text)) for text in texts])
    return list(texts[: int(np.searchsorted(lengths, most_bytes, side="right"))])


def pictures(certified: CertifiedInputs) -> Pictures | None:
    """All pictures that there are data for; None if there are none, or if the votes are on some targets only."""
    described, space = certified.described, certified.described.space
    texts, shape = described.texts, described.image_shape
    drawn: Pictures = {"texts": None if texts is None else first_texts(texts)}
    if space is not None and not certified.on_some:
        drawn["images"] = None if shape is None else images(certified, space, shape)
        drawn |= pictures_of(space, certified)
    available = {name: picture for name, picture in drawn.items() if picture is not None}
    return available or None


@singledispatch
def pictures_of(space: Space, certified: CertifiedInputs) -> Pictures:
    """The pictures of one kind of data beside images: none, unless its class is registered (`pictures_of.register`).

    A kind of data that can be shown as images registers with `pixels_of`.
    """
    return {}


@pictures_of.register
def _(space: Table, certified: CertifiedInputs) -> Pictures:
    described = certified.described
    return {"rows": table_rows(certified, space, described.column_names, described.value_names)}


@dataclass(frozen=True, slots=True)
class Pixels:
    """Data that can be shown as images.

    Attributes:
        rows: the entries of every input.
        levels: the number of values that an entry may have.
        copies: draws noisy copies of the first `count` images and returns the numbers of these samples and entries
            [copies, images, entries]; None if noise leaves the images alone.
    """

    rows: NDArray[Any]
    levels: int
    copies: Callable[[int], tuple[list[int], NDArray[Any]]] | None


@singledispatch
def pixels_of(space: Space, certified: CertifiedInputs) -> Pixels | None:
    """The data as pixels; None if they are not in the order of the certificates."""
    raise InvalidInputError(f"expected rows of pixels for image_shape, got {type(space).__name__}")


@pixels_of.register
def _(space: DenseRows | SparseRows, certified: CertifiedInputs) -> Pixels:
    rows = dense(plain_attributes(space))
    width = math.prod(rows.shape[1:])
    return Pixels(rows, levels(certified, rows), lambda count: drawn_rows(certified, space, count, width))


def levels(certified: CertifiedInputs, rows: NDArray[Any], part: str | None = None) -> int:
    """The number of values that an entry of a part may have, by default of the only part."""
    flips = certified.flips
    if not flips:  # another law, of which only the clean values are known
        return max(2, 1 + int(rows.max(initial=0)))
    noise = flips.get(part, flips.get(None))
    return 2 if noise is None else int(noise.categories)


def images(certified: CertifiedInputs, space: Space, shape: tuple[int, ...]) -> dict[str, Any] | None:
    """The first images, as many as a page can hold, each with the first noisy copies that were voted on."""
    pixels = pixels_of(space, certified)
    if pixels is None:
        return None
    clean = _as_bytes(pixels.rows, math.prod(shape))
    count = min(len(clean), PICTURE_BYTES // (clean.shape[1] * (1 + COPIES)))
    numbers, noisy = ([], clean[:0]) if pixels.copies is None else pixels.copies(count)
    height, width, channels = (*shape, 1)[:3]
    return {
        "height": height,
        "width": width,
        "channels": channels,
        "levels": pixels.levels,
        "count": count,
        "clean": packed(clean[:count].reshape(count, height, width, channels), "u1"),
        "touched": pixels.copies is not None,
        "copies": numbers,
        "noisy": packed(noisy.reshape(len(numbers), count, height, width, channels), "u1"),
    }


def table_rows(
    certified: CertifiedInputs,
    table: Table,
    column_names: tuple[str, ...] | None = None,
    value_names: tuple[tuple[str, ...], ...] | None = None,
) -> dict[str, Any]:
    """The first rows of a table and the first names of columns and categories, as many as a page can hold."""
    rows, width = table.values.shape
    count = min(rows, PICTURE_BYTES // (4 * max(1, width) * (1 + COPIES)))
    numbers, noisy = drawn_rows(certified, table, count, width)
    return {
        "columns": first_texts(column_names or (), _NAME_BYTES),
        "values": _first_value_names(value_names or ()),
        "count": count,
        "copies": numbers,
        "clean": packed(table.values[:count], "u4"),
        "noisy": packed(noisy, "u4"),
    }


def _first_value_names(value_names: tuple[tuple[str, ...], ...]) -> list[list[str]]:
    """The names of the categories of each column, as many as fit in the page."""
    held = iter(first_texts(tuple(chain.from_iterable(value_names)), _NAME_BYTES))
    return [list(islice(held, len(names))) for names in value_names]


def _as_bytes(rows: NDArray[Any], size: int) -> NDArray[Any]:
    """The entries of each input as one row of bytes."""
    flat = rows.reshape(len(rows), -1) if rows.ndim > 1 else np.zeros((0, 0))
    if flat.shape[1] != size or not np.array_equal(flat, flat.astype(np.uint8)):
        raise InvalidInputError(
            f"expected images of {size} pixels with levels 0 to 255, as image_shape says, got {flat.shape[1]} entries "
            "per input, or others"
        )
    return flat.astype(np.uint8)


def drawn_rows(certified: CertifiedInputs, space: Space, count: int, width: int) -> tuple[list[int], NDArray[Any]]:
    """The first copies of the first rows, as an array [copies, rows, width], and the numbers of these copies."""
    samples = certified.voted_samples[:COPIES]
    if not samples:
        return [], np.zeros((0, count, width), dtype=np.int64)
    rows = dense(certified.drawn(space, samples, np.arange(count)))
    return list(samples), rows.reshape(len(samples), count, width)


def dense(rows: Any) -> NDArray[Any]:
    """Rows as an array; sparse rows are filled in."""
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
