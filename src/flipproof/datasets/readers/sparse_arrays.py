"""Sparse matrices from the arrays of npz files, checked before scipy relies on them."""

from __future__ import annotations

import zipfile
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flipproof.errors import FileFormatError
from flipproof.files.archive import read_array


def read_csr(archive: zipfile.ZipFile, prefix: str) -> Any:
    """A sparse matrix from the arrays `{prefix}data`, `indices`, `indptr` and `shape`, checked."""
    data, indices, starts, shape = (
        read_array(archive, prefix + part) for part in ("data", "indices", "indptr", "shape")
    )
    return checked_csr(prefix.rstrip("._"), data, indices, starts, shape)


def checked_csr(name: str, data: NDArray[Any], indices: NDArray[Any], starts: NDArray[Any], shape: NDArray[Any]) -> Any:
    """A sparse matrix from its arrays; if they do not fit together, an error names the matrix `name`."""
    problem = _problem(data, indices, starts, shape)
    if problem:
        raise FileFormatError(f"{name} is no sparse matrix: {problem}")
    return sp.csr_array((data.copy(), indices.astype(np.int64), starts.astype(np.int64)), shape=tuple(map(int, shape)))


def _problem(data: NDArray[Any], indices: NDArray[Any], starts: NDArray[Any], shape: NDArray[Any]) -> str | None:
    """The problem with the arrays of a CSR matrix, or None. Given inconsistent arrays, scipy reads past their ends."""
    integers = all(array.dtype.kind in "iu" and array.ndim == 1 for array in (indices, starts, shape))
    if not integers or shape.size != 2 or data.ndim != 1 or data.dtype.kind not in "biuf":
        return "its arrays have the wrong types"
    rows, columns = map(int, shape)
    if not 0 <= rows < 2**31 or not 0 <= columns < 2**31 or starts.size != rows + 1:
        return f"{starts.size} row starts for shape {rows} x {columns}"
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any() or starts[-1] != indices.size or indices.size != data.size:
        return "its row starts do not fit its entries"
    if indices.size and (indices.min() < 0 or indices.max() >= columns):
        return f"column {indices.max()} of {columns}"
    return None
