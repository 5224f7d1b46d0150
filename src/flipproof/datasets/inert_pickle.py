"""Arrays out of the pickles that older datasets were published as, without running anything that they name.

A pickle is a program: it names functions, which a plain reader imports and calls. Here every name stands for an inert
value of this file, and any other name is refused, so the worst that a file can do is to be wrong.
"""

from __future__ import annotations

import io
import math
import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.datasets.sparse_arrays import checked_csr
from flipproof.errors import FileFormatError

_PLAIN_TYPES = ("f4", "f8", "i4", "i8")


class _TypeOfNumbers:
    """Stands for numpy.dtype: the code of a plain type of numbers."""

    def __init__(self, code: Any, *_: Any) -> None:
        if code not in _PLAIN_TYPES:
            raise FileFormatError(f"expected an array of plain numbers, got type {code!r:.40}")
        self.code = "<" + code

    def __setstate__(self, state: Any) -> None:
        if state[1] != "<":
            raise FileFormatError(f"expected numbers in little-endian order, got {state[1]!r:.40}")


class _Array:
    """Stands for numpy.ndarray: its state becomes an array of plain numbers."""

    values: NDArray[Any]

    def __setstate__(self, state: Any) -> None:
        _, shape, numbers, by_columns, content = state
        values = np.frombuffer(content.encode("latin1"), dtype=numbers.code)
        if math.prod(shape) != values.size:
            raise FileFormatError(f"expected {math.prod(shape)} numbers in an array, got {values.size}")
        self.values = values.reshape(shape, order="F" if by_columns else "C")


class _SparseMatrix:
    """Stands for scipy's csr_matrix: its state becomes a checked sparse matrix."""

    values: Any

    def __setstate__(self, state: Any) -> None:
        data, indices, starts = (state[name].values for name in ("data", "indices", "indptr"))
        self.values = checked_csr("the pickled matrix", data, indices, starts, np.array(state["_shape"]))


class _Dictionary(dict[Any, Any]):
    """Stands for collections.defaultdict: a dictionary without its default."""

    def __init__(self, _: Any) -> None:
        super().__init__()

    @property
    def values(self) -> Any:
        """What the file holds, as for the other stand-ins."""
        return dict(self)


_INERT: dict[tuple[str, str], Any] = {
    ("numpy", "dtype"): _TypeOfNumbers,
    ("numpy", "ndarray"): None,
    ("numpy.core.multiarray", "_reconstruct"): lambda *_: _Array(),
    ("scipy.sparse.csr", "csr_matrix"): _SparseMatrix,
    ("collections", "defaultdict"): _Dictionary,
    ("__builtin__", "list"): None,
}


class _InertUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _INERT:
            raise FileFormatError(f"expected a pickle of arrays, got one that names {module}.{name}"[:200])
        return _INERT[module, name]


def read_inert(content: bytes) -> Any:
    r"""The array, sparse matrix or dictionary of lists in a pickle that Python 2 wrote.

    Example:
        >>> read_inert(b"cos\nsystem\n(S'echo hurt'\ntR.")
        Traceback (most recent call last):
        flipproof.errors.FileFormatError: expected a pickle of arrays, got one that names os.system
    """
    try:
        return _InertUnpickler(io.BytesIO(content), encoding="latin1").load().values
    except FileFormatError:
        raise
    except Exception as error:  # whatever a damaged program makes its reader raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise FileFormatError(f"expected a pickle of arrays, got {reason}"[:200]) from error
