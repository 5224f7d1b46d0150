"""Shared code of classifiers made of plain arrays: checks of the arrays, and rows in two dimensions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from flipproof.base.values import IntArray, RowArray, read_only, sorted_rows
from flipproof.errors import InvalidInputError


def rows_of(batch: RowArray, width: int) -> Any:
    """Rows in two dimensions; sparse rows get sorted columns, so that equal rows get equal scores."""
    rows = sorted_rows(batch) if sp.issparse(batch) else batch.reshape(len(batch), math.prod(batch.shape[1:]))
    if rows.shape[1] != width:
        raise InvalidInputError(f"expected rows with {width} columns, got {rows.shape[1]}")
    return rows


def integer_list(given: ArrayLike, name: str) -> IntArray:
    """Returns integers in one dimension, read-only."""
    array = np.asarray(given)
    if array.ndim != 1 or array.dtype.kind not in "iu" or (array.size and int(array.max()) >= 2**62):
        raise InvalidInputError(f"expected {name} to be a list of integers, got {array.dtype} {list(array.shape)}")
    return read_only(array.astype(np.int64))


def finite_numbers(given: ArrayLike, axes: int, name: str) -> NDArray[Any]:
    """Returns float32 numbers unchanged and all other numbers as float64, read-only."""
    array = np.asarray(given)
    if array.ndim != axes or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise InvalidInputError(
            f"expected {name} to be finite numbers of {axes} dimensions, got {array.dtype} {list(array.shape)}"
        )
    return read_only(array if array.dtype == np.float32 else array.astype(np.float64))
