"""Arrays out of the pickles that older datasets were published as, without running anything that they name.

A pickle is a program: it names functions, which a plain reader imports and calls. Here every name stands for an inert
value of this file, and any other name is refused, so the worst that a file can do is to be wrong.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.datasets.sparse_arrays import checked_csr
from flipproof.errors import FileFormatError

_PLAIN_TYPES = ("f4", "f8", "i4", "i8")


_OPERATIONS = frozenset((
    "PROTO", "STOP", "MARK", "NONE", "NEWTRUE", "NEWFALSE", "INT", "BININT", "BININT1", "BININT2", "STRING",
    "BINSTRING", "SHORT_BINSTRING", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "EMPTY_TUPLE", "EMPTY_LIST", "APPEND",
    "APPENDS", "EMPTY_DICT", "SETITEM", "SETITEMS", "GLOBAL", "REDUCE", "NEWOBJ", "BUILD", "BINPUT",
    "LONG_BINPUT", "BINGET", "LONG_BINGET",
))  # fmt: skip
"""What such a program consists of. There are others, which could reach further; they are refused."""


class _TypeOfNumbers:
    """Stands for numpy.dtype: the code of a plain type of numbers."""

    def __init__(self, code: Any, *_: Any) -> None:
        if not isinstance(code, str) or code not in _PLAIN_TYPES:
            raise FileFormatError(f"expected an array of plain numbers, got type {str(code)[:40]!r}")
        self.code = "<" + code

    def __setstate__(self, state: Any) -> None:
        if state[1] != "<":
            raise FileFormatError(f"expected numbers in little-endian order, got {str(state[1])[:40]!r}")


class _Array:
    """Stands for numpy.ndarray: its state becomes an array of plain numbers."""

    result: NDArray[Any]

    def __init__(self, *_: Any) -> None: ...

    def __setstate__(self, state: Any) -> None:
        _, shape, numbers, by_columns, content = state
        values = np.frombuffer(content.encode("latin1"), dtype=numbers.code)
        if math.prod(shape) != values.size:
            raise FileFormatError(f"expected {math.prod(shape)} numbers in an array, got {values.size}")
        self.result = values.reshape(shape, order="F" if by_columns else "C")


class _SparseMatrix:
    """Stands for scipy's csr_matrix: its state becomes a checked sparse matrix."""

    result: Any

    def __setstate__(self, state: Any) -> None:
        data, indices, starts = (state[name].result for name in ("data", "indices", "indptr"))
        self.result = checked_csr("the pickled matrix", data, indices, starts, np.array(state["_shape"]))


class _Dictionary(dict[Any, Any]):
    """Stands for collections.defaultdict: a dictionary without its default."""

    def __init__(self, _: Any) -> None:
        super().__init__()

    def __setstate__(self, state: Any) -> None:
        raise FileFormatError("expected a dictionary of lists, got one with a state")

    @property
    def result(self) -> dict[int, list[int]]:
        """What the file holds, as for the other stand-ins."""
        lists = dict(self)
        whole = all(type(key) is int and type(each) is list for key, each in lists.items())
        if not whole or not all(type(number) is int for each in lists.values() for number in each):
            raise FileFormatError("expected a dictionary of lists of whole numbers, got something else in it")
        return lists


_INERT: dict[tuple[str, str], Any] = {
    ("numpy", "dtype"): _TypeOfNumbers,
    ("numpy", "ndarray"): None,
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("scipy.sparse.csr", "csr_matrix"): _SparseMatrix,
    ("collections", "defaultdict"): _Dictionary,
    ("__builtin__", "list"): None,
}


class _InertUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _INERT:
            raise FileFormatError(f"expected a pickle of arrays, got one that names {_line(f'{module}.{name}')}")
        return _INERT[module, name]


def read_inert(content: bytes) -> Any:
    r"""The array, sparse matrix or dictionary of lists in a pickle that Python 2 wrote.

    Example:
        >>> read_inert(b"cos\nsystem\n(S'echo hurt'\ntR.")
        Traceback (most recent call last):
        flipproof.errors.FileFormatError: expected a pickle of arrays, got one that names os.system
    """
    try:
        unknown = next((op.name for op, _, _ in pickletools.genops(content) if op.name not in _OPERATIONS), None)
        if unknown is not None:
            raise FileFormatError(f"expected a pickle of arrays, got one with the operation {unknown}")
        root = _InertUnpickler(io.BytesIO(content), encoding="latin1").load()
        if not isinstance(root, _Array | _SparseMatrix | _Dictionary):
            raise FileFormatError(
                "expected a pickle of an array, a matrix or a dictionary of lists, got something else"
            )
        return root.result
    except FileFormatError:
        raise
    except Exception as error:  # whatever a damaged program makes its reader raise
        raise FileFormatError(
            f"expected a pickle of arrays, got {_line(f'{type(error).__name__}: {error}')}"
        ) from error


def _line(text: str) -> str:
    """A short text that cannot leave its line, whatever is in it."""
    return "".join(letter if letter.isprintable() else " " for letter in text[:150])
