"""Images and rows of tables as arrays for a page, each with the first noisy copies that were voted on."""

from __future__ import annotations

import math
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.graph import ATTRIBUTES, Graph, plain_attributes
from flipproof.noise.spaces.rows import DenseRows, SparseRows
from flipproof.noise.spaces.space import Space
from flipproof.noise.spaces.table import Table
from flipproof.report.page.packing import PICTURE_BYTES, first_texts, packed
from flipproof.report.pictures.copies import COPIES, dense, drawn, drawn_rows, voted_samples
from flipproof.smoothing.certificates import Certificates

_NAME_BYTES = 250_000
"""Those of columns, and as many again for their categories."""


def images(certificates: Certificates, space: Space, shape: tuple[int, ...]) -> dict[str, Any]:
    """The first images, as many as a page can hold, each with the first noisy copies that were voted on."""
    clean = _pixels(space, math.prod(shape))
    count = min(len(clean), PICTURE_BYTES // (clean.shape[1] * (1 + COPIES)))
    touched = not (isinstance(space, Graph) and space.noisy == "structure")
    numbers, noisy = _noisy_pixels(certificates, space, count, clean.shape[1]) if touched else ([], clean[:0])
    height, width, channels = (*shape, 1)[:3]
    return {
        "height": height,
        "width": width,
        "channels": channels,
        "levels": _levels(certificates, space),
        "count": count,
        "clean": packed(clean[:count].reshape(count, height, width, channels), "u1"),
        "touched": touched,
        "copies": numbers,
        "noisy": packed(noisy.reshape(len(numbers), count, height, width, channels), "u1"),
    }


def table_rows(
    certificates: Certificates,
    table: Table,
    column_names: tuple[str, ...] | None = None,
    value_names: tuple[tuple[str, ...], ...] | None = None,
) -> dict[str, Any]:
    """The first rows of a table and the first names of columns and categories, as many as a page can hold."""
    rows, width = table.values.shape
    count = min(rows, PICTURE_BYTES // (4 * max(1, width) * (1 + COPIES)))
    numbers, noisy = drawn_rows(certificates, table, count, width)
    return {
        "columns": first_texts(column_names or (), _NAME_BYTES),
        "values": _first_value_names(value_names or ()),
        "count": count,
        "copies": numbers,
        "clean": packed(table.values[:count], "u4"),
        "noisy": packed(noisy, "u4"),
    }


def _first_value_names(value_names: tuple[tuple[str, ...], ...]) -> list[list[str]]:
    """The names of the categories of each column; fewer, or none, where the page is full."""
    held = iter(first_texts(tuple(chain.from_iterable(value_names)), _NAME_BYTES))
    return [list(islice(held, len(names))) for names in value_names]


def _pixels(space: Space, size: int) -> NDArray[Any]:
    """The entries of every input as one row of bytes."""
    if not isinstance(space, DenseRows | SparseRows | Graph):
        raise InvalidInputError(f"expected rows of pixels for image_shape, got {type(space).__name__}")
    rows = dense(plain_attributes(space.attributes if isinstance(space, Graph) else space))
    flat = rows.reshape(len(rows), -1) if rows.ndim > 1 else np.zeros((0, 0))
    if flat.shape[1] != size or not np.array_equal(flat, flat.astype(np.uint8)):
        raise InvalidInputError(
            f"expected images of {size} pixels with levels 0 to 255, as image_shape says, got {flat.shape[1]} entries "
            "per input, or others"
        )
    return flat.astype(np.uint8)


def _levels(certificates: Certificates, space: Space) -> int:
    flips = dict(certificates.noise.flips)
    if not flips:  # another law, of which only the clean values are known
        return max(2, 1 + int(dense(space).max(initial=0)))
    part = flips.get(ATTRIBUTES, flips.get(None))
    return 2 if part is None or (isinstance(space, Graph) and space.noisy == "structure") else int(part.categories)


def _noisy_pixels(certificates: Certificates, space: Space, count: int, width: int) -> tuple[list[int], NDArray[Any]]:
    """The pixels of nodes are drawn with their graph; other images are rows."""
    if not isinstance(space, Graph):
        return drawn_rows(certificates, space, count, width)
    samples = voted_samples(certificates)
    copies = drawn(certificates, space, samples, np.zeros(1, dtype=np.int64)) if samples else []
    noisy = [dense(copy.attributes)[:count] for copy in copies]
    return list(samples), np.array(noisy) if noisy else np.zeros((0, count, width), dtype=np.uint8)
