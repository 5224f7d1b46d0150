"""Array types of this package and the one way to make an array read-only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def read_only_csr(matrix: Any) -> Any:
    """A sparse matrix whose arrays cannot be written to: it is handed to models again and again."""
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.setflags(write=False)
    return matrix


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A contiguous copy of the array that cannot be written to."""
    copy = np.array(array, order="C")
    copy.setflags(write=False)
    return copy
